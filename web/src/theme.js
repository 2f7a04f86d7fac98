// Light, dark or as the system has it; the size of letters in a lecture hall.

import { computed, effect, signal } from "@preact/signals";
import { keep, recall } from "./storage.js";

const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", () => (systemDark.value = system.matches));

export const theme = signal(recall("theme", "auto"));
export const projector = signal(recall("projector", false));
export const dark = computed(() => (theme.value === "auto" ? systemDark.value : theme.value === "dark"));

effect(() => {
  document.documentElement.dataset.theme = dark.value ? "dark" : "light";
  document.documentElement.classList.toggle("projector", projector.value === true);
  keep("theme", theme.value);
  keep("projector", projector.value);
});
