// The names of axes where a text has them: in subscripts, in shapes, between bars.

const WORD = /[\p{L}][\p{L}\p{N}]*['′]*/uy;

/** [from, to, name] of each mention of an axis. */
export function axisWords(text, names) {
  const found = [];
  const open = []; // whether what is between these brackets are axes
  let bars = false;
  for (let at = 0; at < text.length; ) {
    WORD.lastIndex = at;
    const word = WORD.exec(text)?.[0];
    if (word) {
      const bare = text[at - 1] === "_";
      if ((open.at(-1) || bars || bare) && names.has(word)) found.push([at, at + word.length, word]);
      at += word.length;
      continue;
    }
    const sign = text[at];
    if (sign === "#") {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end;
      continue;
    }
    if ("{([".includes(sign)) {
      const before = text.slice(0, at).trimEnd();
      const begins = sign === "{" && (before.endsWith("_") || /[ℝR\]}]\s*\^$/.test(before));
      open.push(begins || (sign === "(" && Boolean(open.at(-1)) && !/[\p{L}\p{N}]$/u.test(before)));
    } else if ("})]".includes(sign)) open.pop();
    else if (sign === "|") bars = !bars;
    else if (sign === "\n") bars = false;
    at++;
  }
  return found;
}
