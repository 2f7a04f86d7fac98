// Places in a text: Python counts code points, a browser's strings count units of 16 bits, of which 𝕀 takes two.

/** The code unit at which a code point starts. */
export function unit(text, point) {
  let at = 0;
  for (const each of text) {
    if (point-- <= 0) break;
    at += each.length;
  }
  return at;
}

/** The number of code points before a unit. */
export const point = (text, at) => [...text.slice(0, at)].length;

export const units = (text, [from, to]) => [unit(text, from), unit(text, to)];

/** A text with an edit of Python's: {span, text}. */
export function edited(source, { span, text }) {
  const [from, to] = units(source, span);
  return source.slice(0, from) + text + source.slice(to);
}

/** What a button says that makes an edit. */
export const saidOf = ({ span, text }, source) => (text === "" ? ["remove", source.slice(...units(source, span))] : text === "\n" ? ["a new line", ""] : ["put in", text]);

export const sameSpan = (a, b) => a === b || (!!a && !!b && a[0] === b[0] && a[1] === b[1]);

/** The smallest of some things with spans that holds a place, or that ends there. */
export function smallestAt(things, place) {
  const length = ({ span }) => span[1] - span[0];
  const holding = things.filter(({ span }) => span && span[0] <= place && place <= span[1]);
  return holding.sort((a, b) => length(a) - length(b))[0] ?? null;
}
