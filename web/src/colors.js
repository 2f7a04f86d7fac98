// One color an axis, everywhere: the classes nt-0 … nt-7, whose colors a reader may change.

import { computed, effect, signal } from "@preact/signals";

/** Axes of the text as `check` gives them; and what the reader chose: {axis: "#rrggbb"}. */
export const axes = signal([]);
export const chosen = signal({});
export const others = signal([]); // axes that only a derivative has
export const exerciseAxes = signal(null); // those of the exercise that is shown instead of the text
const byName = computed(() => new Map((exerciseAxes.value ?? [...others.value, ...axes.value]).map((axis) => [axis.name, axis])));

// ------------------------------------------------------------------------------------------ a color stays with its name
const NUMBERS = 8;
const numbers = new Map(); // of names that have had a color, by name
let painted = new Map(); // the classes that Python writes, and those of the page

/** Another text begins with the colors that Python gives. */
export const forgetColors = () => numbers.clear();

const classOf = (color, underlined) => `nt-${color}${underlined ? " nt-more" : ""}`;

/** The axes of a reply, each in the color that its name has had; `painted` then lists the changes to the LaTeX of the reply. */
export function withLastingColors(reply) {
  const present = new Set(reply.map(({ name }) => name));
  const taken = new Map();
  for (const { name } of reply) if (numbers.has(name) && !taken.has(numbers.get(name))) taken.set(numbers.get(name), name);
  const places = Array.from({ length: NUMBERS }, (_, n) => n);
  const given = reply.map((axis) => {
    if (taken.get(numbers.get(axis.name)) === axis.name) return { ...axis, color: numbers.get(axis.name), underlined: false };
    const reserved = new Set(numbers.values());
    const free = [axis.color, ...places].find((n) => !taken.has(n) && !reserved.has(n)) ?? places.find((n) => !taken.has(n));
    if (free === undefined) return { ...axis, underlined: true };
    for (const [name, number] of numbers) if (number === free && !present.has(name)) numbers.delete(name);
    numbers.set(axis.name, free);
    taken.set(free, axis.name);
    return { ...axis, color: free, underlined: false };
  });
  painted = new Map(reply.map((axis, n) => [classOf(axis.color, axis.underlined), classOf(given[n].color, given[n].underlined)]));
  return given;
}

const CLASSES = /nt-\d(?: nt-more)?/g;

/** LaTeX of the text in the colors that the page has now. */
export const repaint = (latex) => latex?.replace(CLASSES, (found) => painted.get(found) ?? found);

/** LaTeX of another text, whose axes are said, in the same colors. */
export function repaintAxes(latex, axes) {
  const known = axes.filter(({ name }) => byName.value.has(name));
  const classes = new Map(known.map(({ name, color, underlined }) => [classOf(color, underlined), tint(name).replace("nt-axis ", "")]));
  return latex?.replace(CLASSES, (found) => classes.get(found) ?? found);
}

export const plainName = (name) => name.replace(/@.*$/, "");

/** The CSS classes of an axis; none if it does not occur in the text. */
export function tint(name) {
  const axis = byName.value.get(name) ?? byName.value.get(plainName(name));
  return axis ? `nt-axis nt-${axis.color}${axis.underlined ? " nt-more" : ""}` : "nt-axis";
}

/** The color in which the page shows an axis now, as a color picker takes it. */
export function colorOf(name) {
  const axis = byName.value.get(name);
  return (axis && (chosen.value[name] ?? getComputedStyle(document.documentElement).getPropertyValue(`--nt-${axis.color}`).trim())) || "#808080";
}

/** The variables of the style sheet, which both light and dark read. */
effect(() => {
  const style = document.documentElement.style;
  for (let number = 0; number < 8; number++) {
    const axis = axes.value.find((each) => each.color === number);
    const color = axis && chosen.value[axis.name];
    if (color) style.setProperty(`--nt-${number}`, color);
    else style.removeProperty(`--nt-${number}`);
  }
});
