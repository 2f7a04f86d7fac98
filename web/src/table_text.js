// A table of the page as text: for spreadsheets, LaTeX and Typst.

/** The cells as they are shown, a list a row; the first row and column are the headers. */
export const cellsOf = (table) => [...table.rows].map((row) => [...row.cells].map((cell) => (cell.querySelector("input")?.value ?? cell.textContent).trim()));

const isNumber = (text) => /^−?[\d.]+(?:e[-−]?\d+)?$/.test(text);

export const toTabs = (cells) => cells.map((row) => row.map((cell) => cell.replace(/−/g, "-").replace("╲", "\\")).join("\t")).join("\n");

const SPECIAL = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
const GAPS = { "": "", "…": "\\dots", "⋮": "\\vdots" };
const latexWord = (text) => GAPS[text] ?? `\\text{${text.replace(/[\\~^&%$#_{}]/g, (each) => SPECIAL[each] ?? `\\${each}`)}}`;

function latexCell(text) {
  if (isNumber(text)) return text.replace(/−/g, "-").replace(/e(-?\d+)$/, " \\cdot 10^{$1}");
  if (/^−?∞$/.test(text)) return text.replace("−", "-").replace("∞", "\\infty");
  return text.split("╲").map((each) => latexWord(each.trim())).join(" \\backslash ");
}

export function toLatex(cells) {
  const [head, ...body] = cells;
  const line = (row) => row.map(latexCell).join(" & ");
  return `\\begin{array}{r|${"r".repeat(head.length - 1)}}\n${line(head)} \\\\ \\hline\n${body.map(line).join(" \\\\\n")}\n\\end{array}`;
}

const typstCell = (text) => `[${text.replace(/[\\[\]#*_$@<>`~]/g, "\\$&")}]`;

export function toTypst(cells) {
  const [head, ...body] = cells;
  return `#table(\n  columns: ${head.length},\n  align: right,\n  table.header(${head.map(typstCell).join(", ")}),\n${body.map((row) => `  ${row.map(typstCell).join(", ")},`).join("\n")}\n)`;
}
