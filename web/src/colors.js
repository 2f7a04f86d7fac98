// One color an axis, everywhere: the classes nt-0 … nt-7, whose colors a reader may change.

import { computed, effect, signal } from "@preact/signals";

/** Axes of the text as `check` gives them; and what the reader chose: {axis: "#rrggbb"}. */
export const axes = signal([]);
export const chosen = signal({});
export const others = signal([]); // axes that only a derivative has
export const exerciseAxes = signal(null); // those of the exercise that is shown instead of the text
const byName = computed(() => new Map((exerciseAxes.value ?? [...others.value, ...axes.value]).map((axis) => [axis.name, axis])));

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
