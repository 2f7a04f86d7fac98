// Random numbers by seed: PCG32 (M. E. O'Neill, 2014), whose draws are the same in every language.

const MASK = (1n << 64n) - 1n;
const STEP = 6364136223846793005n;

/** A generator of integers below 2^32. */
export function pcg32(seed, stream = 54) {
  const increment = ((BigInt(stream) << 1n) | 1n) & MASK;
  let state = 0n;
  const next = () => {
    const old = state;
    state = (old * STEP + increment) & MASK;
    const mixed = Number((((old >> 18n) ^ old) >> 27n) & 0xffffffffn);
    const turn = Number(old >> 59n);
    return ((mixed >>> turn) | (mixed << (-turn & 31))) >>> 0;
  };
  next();
  state = (state + BigInt(seed)) & MASK;
  next();
  return next;
}

/** A stream of its own for each name, so that the tensors of one seed differ. */
export const streamOf = (name) => [...name].reduce((sum, each) => (sum * 31 + each.codePointAt(0)) % 1000003, 7);

const rounded = (x) => Math.round(x * 100) / 100;

/** `count` random numbers of a domain, rounded to hundredths for readability. */
export function drawn(count, seed, name, domain = { kind: "reals" }) {
  const next = pcg32(seed, streamOf(name));
  const uniform = () => (next() + 0.5) / 2 ** 32;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const [low, high] = limits(domain);
  const one = {
    reals: () => rounded(normal()),
    interval: () => (Number.isFinite(low) && Number.isFinite(high) ? Math.min(high, Math.max(low, rounded(low + (high - low) * uniform()))) : rounded(Number.isFinite(low) ? low + Math.abs(normal()) + 0.01 : Number.isFinite(high) ? high - Math.abs(normal()) - 0.01 : normal())),
    count: () => 1 + Math.floor(uniform() * (domain.bounds?.[0] || 1)),
    elements: () => domain.bounds[Math.floor(uniform() * domain.bounds.length)] ?? 0,
  }[domain.kind] ?? (() => rounded(normal()));
  return Float64Array.from({ length: count }, one);
}

/** The least and the greatest number of a domain. */
export function limits(domain) {
  const bounds = domain?.bounds ?? [];
  if (domain?.kind === "count") return [1, bounds[0] ?? 1];
  if (domain?.kind === "elements") return [Math.min(...bounds), Math.max(...bounds)];
  if (domain?.kind === "interval") return [bounds[0] ?? -Infinity, bounds[1] ?? Infinity];
  return [-Infinity, Infinity];
}
