// What is on the screen as a picture: texts with their fonts, boxes and lines, as the browser has laid them out.

const SCALE = 3; // pixels of a PNG for each of the page
const MARGIN = 8;
const HIDDEN = ".katex-mathml, .hidden, [hidden], input[type=range]";

const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

/** A color as programs other than browsers read it; null where nothing is seen of it. */
function plainColor(color) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  const [red, green, blue, opacity] = canvas.getImageData(0, 0, 1, 1).data;
  return opacity === 0 ? null : { fill: `#${[red, green, blue].map((each) => each.toString(16).padStart(2, "0")).join("")}`, "fill-opacity": opacity === 255 ? null : (opacity / 255).toFixed(3) };
}

const escaped = (text) => String(text).replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
const rounded = (x) => Math.round(x * 100) / 100;
const element = (name, attributes, inside = "") => `<${name}${Object.entries(attributes).map(([key, value]) => (value === null ? "" : ` ${key}="${escaped(typeof value === "number" ? rounded(value) : value)}"`)).join("")}>${inside}</${name}>`;

/** The faces of the page's own fonts that some texts use. */
function facesOf(used) {
  const found = [];
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof CSSFontFaceRule)) continue;
      const family = rule.style.getPropertyValue("font-family").replace(/["']/g, "");
      const bold = /bold|[6-9]00/.test(rule.style.getPropertyValue("font-weight"));
      const italic = rule.style.getPropertyValue("font-style") === "italic";
      if (used.has([family, bold, italic].join())) found.push(rule.cssText);
    }
  }
  return found.join("\n");
}

/** What is seen behind an element. */
function backOf(node) {
  for (let each = node; each; each = each.parentElement) {
    const color = plainColor(getComputedStyle(each).backgroundColor);
    if (color) return color;
  }
  return { fill: "white" };
}

class Picture {
  constructor(root) {
    this.root = root;
    const inside = document.createRange(); // a formula is as wide as the page, what is in it is not
    inside.selectNodeContents(root);
    this.frame = inside.getBoundingClientRect();
    this.parts = [];
    this.used = new Set();
    this.walk(root);
  }

  at = ({ left, top }) => ({ x: left - this.frame.left + MARGIN, y: top - this.frame.top + MARGIN });

  walk(node) {
    if (node.nodeType === Node.TEXT_NODE) return this.text(node);
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(HIDDEN)) return;
    const style = getComputedStyle(node);
    if (style.display === "none" || style.visibility === "hidden") return;
    if (node.localName === "svg") return this.drawing(node, style);
    this.box(node, style);
    if (node.localName === "input") return this.letters(node.value, node.getBoundingClientRect(), style, true);
    for (const child of node.childNodes) this.walk(child);
  }

  text(node) {
    if (!node.data.replace(/[\s\u200b]/g, "")) return;
    const range = document.createRange();
    range.selectNodeContents(node);
    const [place] = range.getClientRects();
    if (place) this.letters(node.data, place, getComputedStyle(node.parentElement));
  }

  letters(text, place, style, centered = false) {
    const color = plainColor(style.color);
    if (!color) return;
    canvas.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = canvas.measureText(text);
    const { x, y } = this.at(place);
    const height = (centered ? (place.height - above - below) / 2 + above : (place.height * above) / (above + below));
    const families = style.fontFamily.split(",").map((each) => each.trim().replace(/["']/g, ""));
    this.used.add([families[0], Number(style.fontWeight) >= 600, style.fontStyle === "italic"].join());
    this.parts.push(element("text", {
      x: centered ? x + place.width / 2 : x, y: y + height, "text-anchor": centered ? "middle" : null, "font-family": style.fontFamily.replace(/"/g, "'"), "font-size": parseFloat(style.fontSize),
      "font-style": style.fontStyle === "normal" ? null : style.fontStyle, "font-weight": style.fontWeight === "400" ? null : style.fontWeight, ...color,
    }, escaped(text.replace(/\u200b/g, ""))));
  }

  box(node, style) {
    const place = node.getBoundingClientRect();
    const { x, y } = this.at(place);
    const { width, height } = place;
    const rectangle = (color, left, top, wide, high) => color && wide > 0 && high > 0 && this.parts.push(element("rect", { x: left, y: top, width: wide, height: high, ...color }));
    rectangle(plainColor(style.backgroundColor), x, y, width, height);
    for (const side of ["Top", "Right", "Bottom", "Left"]) {
      const line = parseFloat(style[`border${side}Width`]);
      if (!line || style[`border${side}Style`] === "none") continue;
      const color = plainColor(style[`border${side}Color`]);
      if (side === "Top" || side === "Bottom") rectangle(color, x, side === "Top" ? y : y + height - line, width, line);
      else rectangle(color, side === "Left" ? x : x + width - line, y, line, height);
    }
  }

  /** A root or a tall bracket, which KaTeX draws wider than it is seen. */
  drawing(node, style) {
    const own = node.getBoundingClientRect();
    const width = Math.min(own.width, node.parentElement.getBoundingClientRect().width || own.width);
    this.parts.push(element("svg", {
      ...this.at(own), width, height: own.height, viewBox: node.getAttribute("viewBox"), preserveAspectRatio: node.getAttribute("preserveAspectRatio"), overflow: "hidden", ...plainColor(style.color),
    }, node.innerHTML));
  }

  toString() {
    const [width, height] = [this.frame.width + 2 * MARGIN, this.frame.height + 2 * MARGIN];
    const back = element("rect", { width: "100%", height: "100%", ...backOf(this.root) });
    const faces = `<style>${facesOf(this.used)}</style>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${rounded(width)}" height="${rounded(height)}" viewBox="0 0 ${rounded(width)} ${rounded(height)}">${faces}${back}${this.parts.join("")}</svg>`;
  }
}

/** An element of the page as SVG, with its fonts inside. */
export const svgOf = (root) => String(new Picture(root));

/** The same as a PNG. */
export async function pngOf(root) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgOf(root))}`;
  await image.decode();
  await new Promise((resolve) => setTimeout(resolve, 50)); // fonts within a picture are read after it
  const page = Object.assign(document.createElement("canvas"), { width: image.width * SCALE, height: image.height * SCALE });
  page.getContext("2d").drawImage(image, 0, 0, page.width, page.height);
  return new Promise((resolve, reject) => page.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("this picture is too large"))), "image/png"));
}
