// What is pasted or opened, read as an array: JSON, lists of Python, a table of numbers, files of NumPy.

import { fromLists } from "./arrays.js";

const WORDS = { nan: NaN, NaN: NaN, None: NaN, null: NaN, inf: Infinity, Infinity: Infinity, "∞": Infinity, True: 1, true: 1, False: 0, false: 0 };
const NUMBER = /^[-+−]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

/** One number as people write it; undefined if it is invalid. */
export function number(text) {
  const word = text.trim();
  if (NUMBER.test(word)) return Number(word.replace("−", "-").replace(/_/g, ""));
  const plain = word.replace(/^[-−+]/, "");
  return plain in WORDS ? WORDS[plain] * (plain === word || word[0] === "+" ? 1 : -1) : undefined;
}

/** Brackets of any kind, with commas or blanks between numbers; names before a bracket, as in array(…), are skipped. */
function lists(text) {
  const tokens = text.replace(/[\w.]*(?=\()/g, "").replace(/,\s*\w+\s*=\s*[\w.'":]+/g, "").match(/[[\](){}]|[^[\](){},;\s]+/g) ?? [];
  const stack = [[]];
  for (const token of tokens) {
    if ("[({".includes(token)) stack.push([]);
    else if ("])}".includes(token)) {
      const done = stack.pop();
      if (stack.length === 0) throw new Error(`${token} closes nothing`);
      stack.at(-1).push(token === ")" && done.length === 1 ? done[0] : done);
    } else {
      const value = number(token);
      if (value === undefined) throw new Error(`${token} is no number`);
      stack.at(-1).push(value);
    }
  }
  if (stack.length > 1) throw new Error("a bracket is not closed");
  return stack[0].length === 1 ? stack[0][0] : stack[0];
}

/** A table: lines, and tabs, semicolons, commas or blanks between cells. A first line or column of words is its header. */
function table(text) {
  const rows = text.split(/\r?\n/).filter((line) => line.trim()).map((line) => line.split(/\t|;|,|\s+/).filter((cell) => cell.trim()));
  const isNumber = (cell) => number(cell) !== undefined;
  const body = rows.length > 1 && !rows[0].some(isNumber) ? rows.slice(1) : rows;
  const cells = body.every((row) => row.length > 1 && !isNumber(row[0])) ? body.map((row) => row.slice(1)) : body;
  const wrong = cells.flat().find((cell) => !isNumber(cell));
  if (wrong !== undefined) throw new Error(`${wrong} is no number`);
  const found = cells.map((row) => row.map(number));
  return found.length === 1 ? (found[0].length === 1 ? found[0][0] : found[0]) : found.every((row) => row.length === 1) ? found.flat() : found;
}

/** An array of a text. Raises an Error that specifies what is wrong with it. */
export function read(text) {
  if (!text.trim()) throw new Error("there is nothing in it");
  return fromLists(/[[({]/.test(text) ? lists(text) : table(text));
}

const KINDS = {
  f8: [8, "getFloat64"], f4: [4, "getFloat32"], i8: [8, "getBigInt64"], i4: [4, "getInt32"], i2: [2, "getInt16"], i1: [1, "getInt8"],
  u8: [8, "getBigUint64"], u4: [4, "getUint32"], u2: [2, "getUint16"], u1: [1, "getUint8"], b1: [1, "getUint8"],
};

/** A file of NumPy, .npy. */
export function readNpy(buffer) {
  const bytes = new Uint8Array(buffer);
  if (bytes[0] !== 0x93 || String.fromCharCode(...bytes.slice(1, 6)) !== "NUMPY") throw new Error("this is no .npy file");
  const view = new DataView(buffer);
  const [start, length] = bytes[6] === 1 ? [10, view.getUint16(8, true)] : [12, view.getUint32(8, true)];
  const header = new TextDecoder("latin1").decode(bytes.slice(start, start + length));
  const [, order, kind] = /'descr':\s*'([<>|=])(\w+)'/.exec(header) ?? [];
  const [width, get] = KINDS[kind] ?? [];
  if (!get) throw new Error("the numbers of this file are of a kind that is not read here");
  const shape = (/'shape':\s*\(([^)]*)\)/.exec(header)?.[1].match(/\d+/g) ?? []).map(Number);
  const total = shape.reduce((product, size) => product * size, 1);
  if (buffer.byteLength < start + length + total * width) throw new Error("this file ends early");
  const data = Float64Array.from({ length: total }, (_, n) => Number(view[get](start + length + n * width, order !== ">")));
  if (!/'fortran_order':\s*True/.test(header) || shape.length < 2) return { shape, data };
  const turned = { shape, data: new Float64Array(total) };
  for (let n = 0; n < total; n++) {
    let rest = n;
    const places = shape.map((size) => [rest % size, (rest = Math.floor(rest / size))][0]);
    turned.data[places.reduce((place, each, axis) => place * shape[axis] + each, 0)] = data[n];
  }
  return turned;
}

/** A file that the reader chose, by its name. */
export async function readFile(file) {
  return file.name.endsWith(".npy") ? readNpy(await file.arrayBuffer()) : read(await file.text());
}
