// Primitives of plans over dense arrays, for text that `to_javascript` writes. It runs in Node.js and in a page.
//
// An array is {shape, data}: its sizes, and a Float64Array of its elements in row-major order. Integers are exact up to
// 2^53, and Boolean values are 0 and 1. Many functions also accept a plain number. No function changes its arguments,
// except `add_four_rows`, `add_product`, `eliminate` and `eigen`, which other functions call with new arrays.

/** An error that a formula raises while it runs: its code, a hint, and the span of the formula that it refers to. */
export class NotationError extends Error {
  constructor(code, message, hint, span) {
    super(message);
    Object.assign(this, { name: "NotationError", code, hint, span });
  }
}

// ------------------------------------------------------------------------------------------------------ arrays
export const count = (shape) => shape.reduce((product, size) => product * size, 1);

/** Return an array made from a number, from nested lists, or from a flat list with a shape. */
export function array(x, shape) {
  if (x?.data instanceof Float64Array) return shape ? reshape(x, shape) : x;
  if (ArrayBuffer.isView(x)) return { shape: shape ?? [x.length], data: Float64Array.from(x, Number) };
  const found = [];
  let level = [x];
  while (Array.isArray(level[0])) {
    const size = level[0].length;
    if (!level.every((each) => each.length === size)) throw new NotationError(301, "the lists are not of one length");
    found.push(size);
    level = level.flat();
  }
  const other = level.findIndex((each) => !["number", "bigint", "boolean"].includes(typeof each));
  if (other !== -1) throw new NotationError(317, `an array must hold numbers, got ${Array.isArray(level[other]) ? "a list" : String(level[other])}`);
  return { shape: shape ?? found, data: Float64Array.from(level, Number) };
}

/** Return an array as nested lists, or as a number if it has no axes. */
export function nested({ shape, data }, start = 0, axis = 0) {
  if (axis === shape.length) return data[start];
  const step = count(shape.slice(axis + 1));
  return Array.from({ length: shape[axis] }, (_, place) => nested({ shape, data }, start + place * step, axis + 1));
}

/** Return an input as an array after checking its shape, in which null accepts any size, and its elements: "integer", "boolean", or any kind. */
export function given(x, name, shape, kind) {
  const found = array(x);
  const flat = ArrayBuffer.isView(x);
  if (flat && shape.indexOf(null) !== shape.lastIndexOf(null)) throw new NotationError(309, `${name} has several open sizes, and must be given as nested lists or {shape, data}`);
  const own = flat ? shape.map((size) => size ?? found.data.length / count(shape.filter((other) => other !== null))) : found.shape;
  const fits = own.length === shape.length && shape.every((size, axis) => size === null || size === own[axis]);
  if (!fits) throw new NotationError(301, `${name} must have shape [${shape.map((size) => size ?? "any")}], got [${found.shape}]`);
  const numbers = count(own);
  if (found.data.length !== numbers) throw new NotationError(301, `${name} must hold ${numbers} numbers, got ${found.data.length}`);
  const fitting = { integer: Number.isSafeInteger, boolean: (each) => each === 0 || each === 1 }[kind] ?? (() => true);
  const other = found.data.findIndex((each) => !fitting(each));
  if (other !== -1) throw new NotationError(317, `${name} must hold ${kind}s, got ${found.data[other]}`);
  return { shape: own, data: found.data };
}

export function strides(shape) {
  const found = shape.slice();
  for (let axis = shape.length - 1, step = 1; axis >= 0; axis--) [found[axis], step] = [step, step * shape[axis]];
  return found;
}

/** The numbers at start + i·steps[0] + j·steps[1] + …, as an array of this shape. */
export function view(x, shape, steps, start = 0) {
  const data = new Float64Array(count(shape));
  const last = shape.length - 1;
  const size = last < 0 ? 1 : shape[last];
  const step = last < 0 ? 0 : steps[last];
  const at = shape.map(() => 0);
  for (let to = 0, from = start; to < data.length; ) {
    for (let place = 0; place < size; place++) data[to++] = x.data[from + place * step];
    for (let axis = last - 1; axis >= 0; axis--) {
      from += steps[axis];
      if (++at[axis] < shape[axis]) break;
      from -= steps[axis] * shape[axis];
      at[axis] = 0;
    }
  }
  return { shape, data };
}

export const reshape = (x, shape) => ({ shape, data: array(x).data });

export function transpose(x, moves) {
  const steps = strides(x.shape);
  return view(x, moves.map((axis) => x.shape[axis]), moves.map((axis) => steps[axis]));
}

/** Repeat an array along axes of size 1, and along new axes in front. */
export function broadcast(x, shape) {
  x = array(x);
  const steps = strides(x.shape);
  const fresh = shape.length - x.shape.length;
  return view(x, shape, shape.map((size, axis) => (axis < fresh || x.shape[axis - fresh] === 1 ? 0 : steps[axis - fresh])));
}

/** Return the elements at one position along each axis with a position. The other axes remain. */
export function pick(x, places) {
  const steps = strides(x.shape);
  const start = places.reduce((sum, place, axis) => sum + (place ?? 0) * steps[axis], 0);
  const kept = (list) => list.filter((_, axis) => (places[axis] ?? null) === null);
  return view(x, kept(x.shape), kept(steps), start);
}

/** The first elements of the last axis. */
export const head = (x, size) => view(x, [...x.shape.slice(0, -1), size], strides(x.shape));

/** The elements of the last axis from `start` (inclusive) to `stop` (exclusive). */
export const part = (x, start, stop) => view(x, [...x.shape.slice(0, -1), stop - start], strides(x.shape), start);

/** All windows of a size along an axis, as a last axis. */
export function unfold(x, axis, size) {
  const steps = strides(x.shape);
  const shape = x.shape.map((each, place) => (place === axis ? each - size + 1 : each));
  return view(x, [...shape, size], [...steps, steps[axis]]);
}

/** Return the number of elements before an axis, its size, and the number of elements after it. */
export function around(x, axis) {
  return [count(x.shape.slice(0, axis)), x.shape[axis], count(x.shape.slice(axis + 1))];
}

export function concat(arrays, axis) {
  const shape = arrays[0].shape.slice();
  shape[axis] = arrays.reduce((sum, each) => sum + each.shape[axis], 0);
  const data = new Float64Array(count(shape));
  const [outer, , inner] = around(arrays[0], axis);
  for (let row = 0, to = 0; row < outer; row++) {
    for (const each of arrays) {
      const width = each.shape[axis] * inner;
      data.set(each.data.subarray(row * width, (row + 1) * width), to);
      to += width;
    }
  }
  return { shape, data };
}

export function stack(arrays) {
  arrays = arrays.map((each) => array(each));
  return concat(arrays.map((each) => reshape(each, [1, ...each.shape])), 0);
}

/** Return the elements at positions along an axis. The axes of the positions replace this axis. */
export function take(x, positions, axis) {
  const { shape, data } = array(positions);
  const [outer, size, inner] = around(x, axis);
  const found = new Float64Array(outer * data.length * inner);
  for (let row = 0, to = 0; row < outer; row++) {
    for (const place of data) {
      const from = (row * size + place) * inner;
      for (let column = 0; column < inner; column++) found[to++] = x.data[from + column];
    }
  }
  return { shape: [...x.shape.slice(0, axis), ...shape, ...x.shape.slice(axis + 1)], data: found };
}

/** Return zeros of this shape, to which elements of x are added at the positions along an axis. */
export function scatter_add(x, positions, axis, shape) {
  const places = array(positions).data;
  const { data } = array(x);
  const [outer, size, inner] = [count(shape.slice(0, axis)), shape[axis], count(shape.slice(axis + 1))];
  const found = new Float64Array(count(shape));
  for (let row = 0, from = 0; row < outer; row++) {
    for (const place of places) {
      const to = (row * size + place) * inner;
      for (let column = 0; column < inner; column++) found[to + column] += data[from++];
    }
  }
  return { shape, data: found };
}

/** The elements of the last axis at positions, row by row. */
export function take_along(x, positions) {
  const [size, many] = [x.shape.at(-1), positions.shape.at(-1)];
  const data = positions.data.map((place, number) => x.data[Math.floor(number / many) * size + place]);
  return { shape: positions.shape, data };
}

export const numbers = (list, shape) => ({ shape, data: Float64Array.from(list) });
export const arange = (start, stop) => numbers(Array.from({ length: Math.max(0, stop - start) }, (_, n) => start + n), [Math.max(0, stop - start)]);
export const eye = (size) => ({ shape: [size, size], data: new Float64Array(size * size).map((_, n) => +(n % (size + 1) === 0)) });

// ------------------------------------------------------------------------------------------- functions of numbers
export function unary(f) {
  return (x) => {
    const { shape, data } = array(x);
    const found = new Float64Array(data.length);
    for (let n = 0; n < found.length; n++) found[n] = f(data[n]);
    return { shape, data: found };
  };
}

/** Return the broadcast shape of several arrays, aligned at their last axes. */
export function together(...arrays) {
  const rank = Math.max(...arrays.map((each) => each.shape.length));
  const sizes = (axis) => arrays.map((each) => each.shape.at(axis - rank) ?? 1);
  return Array.from({ length: rank }, (_, axis) => sizes(axis).find((size) => size !== 1) ?? 1);
}

export const spread = (x, shape) => (x.shape.length === shape.length && x.shape.every((size, axis) => size === shape[axis]) ? x : broadcast(x, shape));

export function binary(f) {
  return (x, y) => {
    x = array(x);
    y = array(y);
    const shape = together(x, y);
    const found = new Float64Array(count(shape));
    if (y.shape.length === 0) {
      const [a, b] = [x.data, y.data[0]];
      for (let n = 0; n < found.length; n++) found[n] = f(a[n], b);
    } else {
      const [a, b] = [spread(x, shape).data, spread(y, shape).data];
      for (let n = 0; n < found.length; n++) found[n] = f(a[n], b[n]);
    }
    return { shape, data: found };
  };
}

export const exp = unary(Math.exp);
export const log = unary(Math.log);
export const sqrt = unary(Math.sqrt);
export const sin = unary(Math.sin);
export const cos = unary(Math.cos);
export const tan = unary(Math.tan);
export const arctan = unary(Math.atan);
export const arcsin = unary(Math.asin);
export const arccos = unary(Math.acos);
export const log1p = unary(Math.log1p);
export const expm1 = unary(Math.expm1);
export const tanh = unary(Math.tanh);
export const sinh = unary(Math.sinh);
export const cosh = unary(Math.cosh);
export const abs = unary(Math.abs);
export const sign = unary(Math.sign);
export const floor = unary(Math.floor);
export const ceil = unary(Math.ceil);
export const trunc = unary(Math.trunc);
export const negative = unary((x) => -x);
export const logical_not = unary((x) => +(x === 0));
export const isfinite = unary((x) => +Number.isFinite(x));
export const truth = unary((x) => +(x !== 0));

export const add = binary((x, y) => x + y);
export const subtract = binary((x, y) => x - y);
export const multiply = binary((x, y) => x * y);
export const divide = binary((x, y) => x / y);
export const power = binary((x, y) => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y));
export const remainder = binary((x, y) => (x % y !== 0 && x < 0 !== y < 0 ? (x % y) + y : x % y));
export const maximum = binary(Math.max);
export const minimum = binary(Math.min);
export const equal = binary((x, y) => +(x === y));
export const not_equal = binary((x, y) => +(x !== y));
export const less = binary((x, y) => +(x < y));
export const less_equal = binary((x, y) => +(x <= y));
export const greater = binary((x, y) => +(x > y));
export const greater_equal = binary((x, y) => +(x >= y));
export const logical_and = binary((x, y) => +(x !== 0 && y !== 0));
export const logical_or = binary((x, y) => +(x !== 0 || y !== 0));
export const logaddexp = binary((x, y) => (x === y ? x + Math.LN2 : Math.max(x, y) + Math.log1p(Math.exp(-Math.abs(x - y)))));

export function where(condition, x, y) {
  const [c, a, b] = [condition, x, y].map((each) => array(each));
  const shape = together(c, a, b);
  const [test, one, other] = [c, a, b].map((each) => spread(each, shape).data);
  return { shape, data: test.map((holds, n) => (holds !== 0 ? one[n] : other[n])) };
}

export const horner = (coefficients, x) => coefficients.reduce((total, each) => total * x + each, 0);

/** The error function: x + x P(x²) near zero and 1 − exp(−x²) R(x) farther out, with P and R fitted to fifty digits. */
export const erf = unary((x) => {
  const size = Math.min(Math.abs(x), 6);
  const square = size * size;
  const found = size < 0.8660254037844386 ? size + size * horner(NEAR, square) : 1 - (Math.exp(-square) * horner(ABOVE, size)) / horner(BELOW, size);
  return x < 0 ? -found : found;
});
export const NEAR = [1.0531668005849128e-8, -1.5646352496590225e-7, 1.639153229250772e-6, -1.492129437661704e-5, 0.00012055159076597468, -0.0008548322544613704, 0.00522397755328762, -0.026866170638330012, 0.11283791670922151, -0.37612638903183127, 0.12837916709551256];
export const ABOVE = [0.008306519141581184, 0.08015835147310467, 0.3603700881143304, 0.9272606806379906, 1.3725681419865563, 0.9999999503855627];
export const BELOW = [0.014723079680761444, 0.14207212783206244, 0.6461722350332392, 1.7138959845555022, 2.749279912984935, 2.500946746585004, 1.0];

// ---------------------------------------------------------------------------------------------------- along axes
export function reduction(f, start) {
  return (x, axes, keep = false) => {
    let found = array(x);
    for (const axis of axes) {
      const [outer, size, inner] = around(found, axis);
      if (size === 0 && start === undefined) throw new NotationError(405, "this cannot be computed: there is no number to choose");
      const data = new Float64Array(outer * inner);
      for (let row = 0; row < outer; row++) {
        for (let column = 0; column < inner; column++) {
          const first = row * size * inner + column;
          let total = start ?? found.data[first];
          for (let n = first; n < first + size * inner; n += inner) total = f(total, found.data[n]);
          data[row * inner + column] = total;
        }
      }
      found = { shape: found.shape.map((each, place) => (place === axis ? 1 : each)), data };
    }
    return keep ? found : reshape(found, found.shape.filter((_, axis) => !axes.includes(axis)));
  };
}

export const sum = reduction((x, y) => x + y, 0);
export const prod = reduction((x, y) => x * y, 1);
export const max = reduction(Math.max);
export const min = reduction(Math.min);
export const any = reduction((x, y) => +(x !== 0 || y !== 0), 0);
export const all = reduction((x, y) => +(x !== 0 && y !== 0), 1);

export function running(f) {
  return (x, axis) => {
    const [, size, inner] = around(x, axis);
    const data = x.data.slice();
    for (let n = inner; n < data.length; n++) {
      if (Math.floor(n / inner) % size !== 0) data[n] = f(data[n - inner], data[n]);
    }
    return { shape: x.shape, data };
  };
}

export const cumsum = running((x, y) => x + y);
export const cumprod = running((x, y) => x * y);

/** Return a copy of x in which a function has changed each row along the last axis in place. */
export function rows(x, f) {
  const data = x.data.slice();
  const size = x.shape.at(-1);
  for (let start = 0; start < data.length; start += size) f(data.subarray(start, start + size));
  return { shape: x.shape, data };
}

export function sort(x, axis) {
  const moves = x.shape.map((_, place) => place);
  [moves[axis], moves[moves.length - 1]] = [moves.length - 1, axis];
  return transpose(rows(transpose(x, moves), (row) => row.sort()), moves);
}

/** Return the positions along the last axis, sorted by the comparison `before`. Equal elements keep their order. */
export function places(x, before) {
  return rows(x, (row) => row.set(Array.from(row.keys()).sort((i, j) => (row[i] === row[j] ? i - j : before(row[i], row[j]) || i - j))));
}

/** Return the positions in ascending order of the elements; NaN is last. */
export function ascending(x) {
  return places(x, (one, other) => Number.isNaN(one) - Number.isNaN(other) || one - other);
}

/** Return the positions in descending order of the elements; NaN is first. */
export function descending(x) {
  return places(x, (one, other) => Number.isNaN(other) - Number.isNaN(one) || other - one);
}

/** The position of the maximum along the last axis, the first of several; the first NaN takes precedence. */
export function argmax(x) {
  const size = x.shape.at(-1);
  const data = new Float64Array(x.data.length / size);
  for (let row = 0; row < data.length; row++) {
    let best = 0;
    for (let place = 1; place < size; place++) {
      const [one, other] = [x.data[row * size + place], x.data[row * size + best]];
      if (one > other || (Number.isNaN(one) && !Number.isNaN(other))) best = place;
    }
    data[row] = best;
  }
  return { shape: x.shape.slice(0, -1), data };
}

// ------------------------------------------------------------------------------------------------------ products
/** Adds to a row of c four rows of b, each times a number. */
export function add_four_rows(x0, x1, x2, x3, b, l, n, c, into, width) {
  for (let j = 0; j < width; j++, l++, into++) c[into] += x0 * b[l] + x1 * b[l + n] + x2 * b[l + 2 * n] + x3 * b[l + 3 * n];
}

/** Adds the product of a matrix of m × k and one of k × n to one of m × n, a block that fits the cache at a time. */
export function add_product(a, fromA, b, fromB, c, fromC, m, k, n) {
  const deep = 64;
  const wide = 256;
  for (let k0 = 0; k0 < k; k0 += deep) {
    const k1 = Math.min(k0 + deep, k);
    for (let j0 = 0; j0 < n; j0 += wide) {
      const width = Math.min(j0 + wide, n) - j0;
      for (let i = 0; i < m; i++) {
        const into = fromC + i * n + j0;
        const from = fromA + i * k;
        let l = k0;
        for (; l + 4 <= k1; l += 4) add_four_rows(a[from + l], a[from + l + 1], a[from + l + 2], a[from + l + 3], b, fromB + l * n + j0, n, c, into, width);
        for (; l < k1; l++) {
          const x = a[from + l];
          const row = fromB + l * n + j0;
          for (let j = 0; j < width; j++) c[into + j] += x * b[row + j];
        }
      }
    }
  }
}

/** A stack of products of matrices. */
export function matmul(x, y) {
  const [m, k] = x.shape.slice(-2);
  const n = y.shape.at(-1);
  const outer = together({ shape: x.shape.slice(0, -2) }, { shape: y.shape.slice(0, -2) });
  const [a, b] = [spread(x, [...outer, m, k]).data, spread(y, [...outer, k, n]).data];
  const data = new Float64Array(count(outer) * m * n);
  for (let each = 0; each < count(outer); each++) add_product(a, each * m * k, b, each * k * n, data, each * m * n, m, k, n);
  return { shape: [...outer, m, n], data };
}

/** The product over the last axis of the first and the first axis of the second, a matrix or a vector. */
export function dot(x, y) {
  const k = x.shape.at(-1);
  const found = matmul(reshape(x, [count(x.shape.slice(0, -1)), k]), reshape(y, [k, y.shape[1] ?? 1]));
  return reshape(found, [...x.shape.slice(0, -1), ...y.shape.slice(1)]);
}

/** The sums of products over the last axis of both. */
export const vecdot = (x, y) => sum(multiply(x, y), [together(x, y).length - 1]);

// ------------------------------------------------------------------------------------------------------ matrices
/** Return the results of a function of each matrix, which it receives as a list of rows. `shape` returns the shape of one result. */
export function matrices(x, f, shape) {
  const [outer, size] = [x.shape.slice(0, -2), x.shape.at(-1)];
  const parts = Array.from({ length: count(outer) }, (_, at) => f(nested({ shape: x.shape.slice(-2), data: x.data.subarray(at * size * size, (at + 1) * size * size) })));
  return { shape: [...outer, ...shape(size)], data: Float64Array.from(parts.flat(2)) };
}

/** Eliminate the elements below the largest pivots in place and, if `whole` is true, above them too. Return the determinant. */
export function eliminate(a, whole = false) {
  let found = 1;
  for (let k = 0; k < a.length; k++) {
    let best = k;
    for (let i = k + 1; i < a.length; i++) if (!(Math.abs(a[i][k]) <= Math.abs(a[best][k]))) best = i;
    if (best !== k) [a[k], a[best], found] = [a[best], a[k], -found];
    found *= a[k][k];
    if (a[k][k] === 0) continue;
    for (let i = whole ? 0 : k + 1; i < a.length; i++) {
      const factor = i === k ? 0 : a[i][k] / a[k][k];
      if (factor !== 0) for (let j = k; j < a[i].length; j++) a[i][j] -= factor * a[k][j];
    }
  }
  return found;
}

export const det = (x) => matrices(x, (a) => eliminate(a), () => []);
export const logdet = (x) => matrices(x, (a) => (eliminate(a), a.reduce((sum, row, n) => sum + Math.log(Math.abs(row[n])), 0)), () => []);
export const trace = (x) => matrices(x, (a) => a.reduce((sum, row, n) => sum + row[n], 0), () => []);

export function inv(x, span) {
  const inverse = (a) => {
    const wide = a.map((row, n) => [...row, ...row.map((_, column) => +(column === n))]);
    eliminate(wide, true);
    if (wide.some((row, n) => row[n] === 0)) throw new NotationError(405, "the matrix is singular: it has no inverse", undefined, span);
    return wide.map((row, n) => row.slice(a.length).map((each) => each / row[n]));
  };
  return matrices(x, inverse, (size) => [size, size]);
}

/** Return the derivative of the determinant: the signed determinant of the rest without each row and column. */
export function cofactors(x) {
  const without = (list, place) => list.filter((_, n) => n !== place);
  const minor = (a, i, j) => eliminate(without(a, i).map((row) => without(row, j)));
  return matrices(x, (a) => a.map((row, i) => row.map((_, j) => (-1) ** (i + j) * minor(a, i, j))), (size) => [size, size]);
}

/** Return the Cholesky factor L of each symmetric matrix L Lᵀ, a lower triangle. */
export function cholesky(x, span) {
  const triangle = (a) => {
    const found = a.map(() => a.map(() => 0));
    for (let i = 0; i < a.length; i++) {
      for (let j = 0; j <= i; j++) {
        let rest = a[i][j];
        for (let k = 0; k < j; k++) rest -= found[i][k] * found[j][k];
        if (i === j && rest <= 0) throw new NotationError(405, "the matrix is not positive definite, so it has no Cholesky factor", undefined, span);
        found[i][j] = i === j ? Math.sqrt(rest) : rest / found[j][j];
      }
    }
    return found;
  };
  return matrices(x, triangle, (size) => [size, size]);
}

/** Return pairs of an eigenvalue and its eigenvector, in ascending order, of a symmetric matrix: by Jacobi rotations, in place. */
export function eigen(a) {
  const vectors = a.map((row, i) => row.map((_, j) => +(i === j)));
  const off = () => a.reduce((sum, row, i) => row.reduce((total, each, j) => total + (i === j ? 0 : each * each), sum), 0);
  for (let sweep = 0; sweep < 60 && off() > 0; sweep++) {
    for (let p = 0; p < a.length; p++) {
      for (let q = p + 1; q < a.length; q++) {
        if (a[p][q] === 0) continue;
        const slope = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const t = (slope < 0 ? -1 : 1) / (Math.abs(slope) + Math.hypot(1, slope));
        const c = 1 / Math.hypot(1, t);
        for (const row of [...a, ...vectors]) [row[p], row[q]] = [c * (row[p] - t * row[q]), c * (t * row[p] + row[q])];
        for (let k = 0; k < a.length; k++) [a[p][k], a[q][k]] = [c * (a[p][k] - t * a[q][k]), c * (t * a[p][k] + a[q][k])];
      }
    }
  }
  return a.map((row, k) => [row[k], vectors.map((line) => line[k])]).sort((one, other) => one[0] - other[0]);
}

export const eigvalsh = (x) => matrices(x, (a) => eigen(a).map(([value]) => value), (size) => [size]);

/** Return the eigenvectors as columns. The element with the largest absolute value, or the first such element, is positive. */
export function eigh(x) {
  const columns = (a) => eigen(a).map(([, vector]) => {
    const size = Math.max(...vector.map(Math.abs));
    const sign = vector.find((each) => Math.abs(each) >= size * (1 - 1e-12)) < 0 ? -1 : 1;
    return vector.map((each) => sign * each);
  });
  const turned = (a) => { const found = columns(a); return a.map((_, i) => found.map((vector) => vector[i])); };
  return matrices(x, turned, (size) => [size, size]);
}

/** Return the exponential of each matrix X: the series ∑ Yⁿ / n! for Y = X / 2ˢ, squared s times. */
export function expm(x) {
  const times = (a, b) => a.map((row) => b[0].map((_, j) => row.reduce((sum, each, k) => sum + each * b[k][j], 0)));
  const exponential = (a) => {
    if (!a.length) return a;
    const size = Math.max(...a.map((row) => row.reduce((sum, each) => sum + Math.abs(each), 0)));
    if (!Number.isFinite(size)) return a.map((row) => row.map(() => NaN));
    const halvings = Math.max(0, Math.ceil(Math.log2(size || 1)) + 2);
    const small = a.map((row) => row.map((each) => each / 2 ** halvings));
    let term = a.map((row, i) => row.map((_, j) => +(i === j)));
    let found = term;
    for (let n = 1; n < 20; n++) {
      term = times(term, small).map((row) => row.map((each) => each / n));
      found = found.map((row, i) => row.map((each, j) => each + term[i][j]));
    }
    for (let n = 0; n < halvings; n++) found = times(found, found);
    return found;
  };
  return matrices(x, exponential, (size) => [size, size]);
}

// --------------------------------------------------------------------------------------------- what fails on numbers
/** Check that floats are integers, so that they can be indices. */
export function whole_positions(x, span) {
  x = array(x);
  const wrong = x.data.find((each) => !Number.isInteger(each));
  if (wrong !== undefined) throw new NotationError(402, `index must be an integer, got ${wrong}`, "pass integers", span);
  return x;
}

/** Return indices that start at `base` as positions from 0, after checking their range. */
export function positions(x, size, base, axis, span) {
  x = whole_positions(x, span);
  const wrong = x.data.find((each) => each < base || each >= base + size);
  if (wrong !== undefined) {
    const hint = wrong < 1 ? "indices start at 1; negative indices are not supported" : undefined;
    throw new NotationError(401, `index ${wrong} is out of range for axis ${axis} (1 to ${size})`, hint, span);
  }
  return subtract(x, base);
}

/** Raise an error unless a case applies to each element. */
export function covered(condition, span) {
  if (!array(condition).data.every((each) => each !== 0)) throw new NotationError(405, "no case applies to some elements", "add an otherwise case at the end", span);
}

/** Check that each integer is one that a double represents exactly. */
export function exact(x, span) {
  const hint = "compute in floating numbers: write 1.0 · … around a tensor";
  if (!array(x).data.every((each) => Number.isSafeInteger(each))) throw new NotationError(405, `integer overflow: exceeds int53 (maximum ${Number.MAX_SAFE_INTEGER})`, hint, span);
  return x;
}

// --------------------------------------------------------------------------------------------------------- loops
/** Run a loop of `steps` steps, each with its elements of the slices. Return the final states and the `kept` states of
 * every step: the first `stacked` of them as arrays, the others as lists. */
export function loop(step, states, slices, given, steps, kept, stacked) {
  const through = kept.map(() => []);
  for (let n = 0; n < steps; n++) {
    states = step(...states, ...slices.map((each) => (Array.isArray(each) ? each[n] : pick(each, [n]))), ...given);
    kept.forEach((number, place) => through[place].push(states[number]));
  }
  return [...states, ...through.slice(0, stacked).map(stack), ...through.slice(stacked)];
}
