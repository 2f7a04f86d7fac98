// A formula in Typst's mathematics, from what KaTeX reads in its LaTeX: the macros that the printer of formulas writes.

import katex from "katex";

const SYMBOLS = {
  "\\odot": "dot.o", "\\cdot": "dot.op", "\\times": "times", "\\in": "in", "\\to": "->", "\\rightarrow": "->", "\\le": "<=", "\\leq": "<=", "\\ge": ">=", "\\geq": ">=",
  "\\ne": "!=", "\\neq": "!=", "\\partial": "partial", "\\infty": "infinity", "\\sum": "sum", "\\prod": "product", "\\int": "integral", "\\ldots": "dots.h", "\\dots": "dots.h",
  "\\cdots": "dots.h.c", "\\sim": "tilde.op", "\\approx": "approx", "\\circ": "compose", "\\ast": "ast.op", "*": "ast.op", "\\dagger": "dagger", "\\prime": "prime", "\\mid": "divides",
  "\\wedge": "and", "\\vee": "or", "\\neg": "not", "\\lnot": "not", "\\oplus": "plus.o", "\\otimes": "times.o", "\\boxtimes": "times.square", "\\star": "star", "\\top": "top", "\\nabla": "nabla",
  "\\mapsto": "|->", "\\forall": "forall", "\\exists": "exists", "\\emptyset": "emptyset", "\\colon": ":", "\\ell": "ell", "\\triangleq": "eq.delta", "\\coloneqq": ":=", "\\equiv": "equiv",
  "\\lfloor": "floor.l", "\\rfloor": "floor.r", "\\lceil": "ceil.l", "\\rceil": "ceil.r", "\\|": "parallel", "\\lVert": "parallel", "\\rVert": "parallel", "\\Vert": "parallel", "\\vert": "|", "|": "|", "\\{": "{", "\\}": "}", "\\lbrace": "{", "\\rbrace": "}",
  "\\langle": "angle.l", "\\rangle": "angle.r", "\\leftarrow": "<-", "\\lt": "<", "\\gt": ">", "\\pm": "plus.minus", "\\setminus": "without", "\\cup": "union", "\\cap": "inter", "\\subset": "subset", "-": "-", "\\pi": "pi",
};
const CLOSED = { "(": "\\(", ")": "\\)", "[": "\\[", "]": "\\]", "{": "\\{", "}": "\\}", "/": "\\/", "#": "\\#", "$": "\\$", '"': '\\"', "_": "\\_", "^": "\\^", "&": "\\&", ",": "\\,", ";": "\\;" };
const FONTS = { "\\mathsf": "sans", "\\mathrm": "upright", "\\mathbf": "bold", "\\mathbb": "bb", "\\mathcal": "cal", "\\mathfrak": "frak", "\\mathtt": "mono", "\\boldsymbol": "bold" };
const ACCENTS = { "\\hat": "hat", "\\widehat": "hat", "\\tilde": "tilde", "\\widetilde": "tilde", "\\bar": "macron", "\\overline": "overline", "\\dot": "dot", "\\ddot": "dot.double", "\\vec": "arrow", "\\check": "caron", "\\breve": "breve" };
const GREEK = /^\\(?:var)?(alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon|phi|chi|psi|omega)$/i;

function symbol(text) {
  if (text in SYMBOLS) return SYMBOLS[text] in CLOSED ? CLOSED[SYMBOLS[text]] : SYMBOLS[text];
  if (GREEK.test(text)) return text.startsWith("\\var") ? `${text.slice(4)}.alt` : text.slice(1);
  return CLOSED[text] ?? (text.startsWith("\\") ? `"${text.slice(1)}"` : text);
}

const quoted = (text) => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** The letters of a word in one font; null where something else is in it. */
function word(nodes) {
  const letters = nodes.map((each) => (["mathord", "textord"].includes(each.type) && each.text.length === 1 && /[\p{L}\p{N}]/u.test(each.text) ? each.text : each.type === "ordgroup" ? word(each.body) : null));
  return letters.length && !letters.includes(null) ? letters.join("") : null;
}

const script = (mark, node) => (node ? `${mark}(${listed([node])})` : "");

const WRITERS = {
  mathord: ({ text }) => symbol(text),
  textord: ({ text }) => symbol(text),
  atom: ({ text }) => symbol(text),
  spacing: () => "",
  kern: () => "",
  "op-token": ({ text }) => symbol(text),
  ordgroup: ({ body }) => listed(body),
  styling: ({ body }) => listed(body),
  color: ({ body }) => listed(body),
  html: ({ body }) => listed(body),
  mclass: ({ body }) => listed(body),
  htmlmathml: ({ html }) => listed(html),
  text: ({ body }) => quoted(body.map((each) => each.text ?? " ").join("")),
  op: ({ name, body, symbol: sign, limits }) => (body ? `op(${operator(body)}${limits ? ", limits: #true" : ""})` : sign ? symbol(name) : name ? name.slice(1) : ""),
  operatorname: ({ body }) => `op(${quoted(word(body) ?? listed(body))})`,
  font: ({ font, body }) => fonted(FONTS[`\\${font}`] ?? "upright", body),
  genfrac: ({ numer, denom, hasBarLine }) => (hasBarLine ? `frac(${listed([numer])}, ${listed([denom])})` : `binom(${listed([numer])}, ${listed([denom])})`),
  sqrt: ({ body, index }) => (index ? `root(${listed([index])}, ${listed([body])})` : `sqrt(${listed([body])})`),
  leftright: ({ left, right, body }) => `lr(${left === "." ? "" : symbol(left)} ${listed(body)} ${right === "." ? "" : symbol(right)})`,
  delimsizing: ({ delim }) => symbol(delim),
  middle: ({ delim }) => `mid(${symbol(delim)})`,
  accent: ({ label, base }) => `${ACCENTS[label] ?? "hat"}(${listed([base])})`,
  overline: ({ body }) => `overline(${listed([body])})`,
  underline: ({ body }) => `underline(${listed([body])})`,
  supsub: ({ base, sup, sub }) => {
    const primes = sup?.type === "ordgroup" && sup.body.length > 0 && sup.body.every((each) => each.text === "\\prime") ? "'".repeat(sup.body.length) : null;
    return `${base ? listed([base]) : '""'}${primes ?? ""}${script("_", sub)}${primes ? "" : script("^", sup)}`;
  },
  array: ({ body }) => rows(body),
  mathchoice: ({ display }) => listed(display),
  raisebox: ({ body }) => listed([body]),
  vphantom: () => "",
  phantom: () => "",
  rule: () => "",
};

function fonted(name, body) {
  const letters = word([body]);
  return letters === null ? `${name}(${listed([body])})` : `${name}(${letters.length > 1 ? quoted(letters) : letters})`;
}

const rows = (body) => body.map((row) => row.map((cell) => listed([cell])).join(" & ").replace(/ & (?= &|$)/g, "")).join(" \\\n");

/** The name of an operator, or its symbol. */
function operator(body) {
  const [only] = body.length === 1 ? body : [];
  const letters = only?.type === "font" ? word([only.body]) : null;
  return letters === null ? listed(body) : quoted(letters);
}

/** Brackets around an array alone: cases, where a brace opens it, or a matrix. */
function bracketed({ left, right, body }) {
  const [inner] = body.length === 1 ? body : [];
  const array = inner?.type === "styling" || inner?.type === "ordgroup" ? inner.body[0] : inner;
  if (array?.type !== "array") return null;
  const cells = array.body.map((row) => row.map((cell) => listed([cell])));
  if (/^\\(?:\{|lbrace)$/.test(left) && right === ".") return `cases(${cells.map((row) => row.join(" & ")).join(", ")})`;
  return `mat(delim: ${left === "." ? "#none" : `"${left.replace("\\", "")}"`}, ${cells.map((row) => row.join(", ")).join("; ")})`;
}

function listed(nodes) {
  return nodes.map((node) => {
    const found = node.type === "leftright" ? (bracketed(node) ?? WRITERS.leftright(node)) : WRITERS[node.type]?.(node);
    if (found === undefined) throw new Error(`${node.type} has no form in Typst here`);
    return found;
  }).filter(Boolean).join(" ");
}

/** A formula of KaTeX's LaTeX as one of Typst, between dollars; raises an Error for what it does not know. */
export function toTypst(latex) {
  const nodes = katex.__parse(latex, { displayMode: true, strict: "ignore", trust: true });
  return `$ ${listed(nodes)} $`;
}
