// Arrays of the page: {shape, data}, row-major, as the plans take and give them.

export const count = (shape) => shape.reduce((product, size) => product * size, 1);

export const sizesOf = (axes) => axes.map(([, size]) => size);

/** The position of an element, from 0. */
export const offset = (shape, places) => places.reduce((at, place, axis) => at * shape[axis] + place, 0);

/** Nested lists as an array, or a reason why they are none. */
export function fromLists(lists) {
  const shape = [];
  for (let level = lists; Array.isArray(level); level = level[0]) shape.push(level.length);
  const flat = [];
  const walk = (part, depth) => {
    if (!Array.isArray(part)) {
      if (depth !== shape.length) throw new Error("the lists are not nested alike");
      if (typeof part !== "number") throw new Error(`${JSON.stringify(part)} is no number`);
      flat.push(part);
      return;
    }
    if (part.length !== shape[depth]) throw new Error("the lists are not of one length");
    part.forEach((each) => walk(each, depth + 1));
  };
  walk(lists, 0);
  return { shape, data: Float64Array.from(flat) };
}

/** An array as nested lists of plain numbers. */
export function toLists({ shape, data }, start = 0, axis = 0) {
  if (axis === shape.length) return data[start];
  const step = count(shape.slice(axis + 1));
  return Array.from({ length: shape[axis] }, (_, place) => toLists({ shape, data }, start + place * step, axis + 1));
}

/** The same elements, in a larger or smaller shape of as many axes; what is new comes from `fresh`. */
export function resized(old, shape, fresh) {
  if (old.shape.length !== shape.length) return fresh;
  const data = Float64Array.from(fresh.data);
  const places = shape.map(() => 0);
  for (let to = 0; to < data.length; to++) {
    if (places.every((place, axis) => place < old.shape[axis])) data[to] = old.data[offset(old.shape, places)];
    for (let axis = shape.length - 1; axis >= 0 && ++places[axis] === shape[axis]; axis--) places[axis] = 0;
  }
  return { shape, data };
}

/** The element of a value at a record (places from 1 by the names of axes; the first where one is not named). */
export function at(value, axes, record = {}) {
  return value.data[offset(sizesOf(axes), axes.map(([axis, size]) => Math.min(size, record[axis] ?? 1) - 1))];
}

const near = (x, y) => x === y || (Number.isNaN(x) && Number.isNaN(y)) || Math.abs(x - y) <= 1e-9 * Math.max(1, Math.abs(x), Math.abs(y));

/** The places of the second value where the first, read in its order of axes, has another number; null where their axes are not the same. */
export function unlike(first, firstAxes, second, secondAxes) {
  const order = firstAxes.map(([axis, size]) => secondAxes.findIndex(([name, other]) => name === axis && other === size));
  if (order.includes(-1) || firstAxes.length !== secondAxes.length) return null;
  const [from, to] = [sizesOf(firstAxes), sizesOf(secondAxes)];
  const found = new Set();
  for (let n = 0; n < second.data.length; n++) {
    const places = [];
    for (let axis = to.length - 1, rest = n; axis >= 0; axis--) [places[axis], rest] = [rest % to[axis], Math.floor(rest / to[axis])];
    if (!near(first.data[offset(from, order.map((axis) => places[axis]))], second.data[n])) found.add(n);
  }
  return found;
}

/** A number as one reads it: few digits, a proper minus. */
export function shown(x, digits = 4) {
  if (x === undefined || x === null) return "";
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return String(x).replace("-", "−");
  const size = Math.abs(x);
  const text = size >= 1e6 || size < 1e-4 ? x.toExponential(digits - 2) : String(Number(x.toPrecision(digits)));
  return text.replace(/-/g, "−").replace("e+", "e");
}
