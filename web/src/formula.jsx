// A formula as KaTeX sets it. Its parts can be pointed at: by hover, by touch, and by the arrows of the keyboard.

import katex from "katex";
import { joinWords } from "./spoken.js";
import { useEffect, useRef } from "preact/hooks";

/** Of what KaTeX may put into the page, the marks alone that the printer of formulas writes. */
function trusted({ command, attributes, class: classes }) {
  if (command === "\\htmlData") return Object.entries(attributes).every(([name, value]) => name === "data-at" && /^\d+-\d+$/.test(value));
  return command === "\\htmlClass" && /^[a-z0-9 -]+$/.test(classes);
}

export function typesetInto(element, latex, displayMode) {
  try {
    katex.render(latex, element, { displayMode, trust: trusted, strict: "ignore", throwOnError: true, maxExpand: 2000, maxSize: 20 });
    joinWords(element);
  } catch {
    element.textContent = latex; // what cannot be set is shown as it is written
  }
}

const spanOf = (element) => element?.closest("[data-at]")?.dataset.at.split("-").map(Number) ?? null;

/** A part that shares its span with the part around it shows nothing of its own: one of them is enough. */
function partsOf(root) {
  const seen = new Set();
  return [...root.querySelectorAll(".katex-html [data-at]")].filter((each) => !seen.has(each.dataset.at) && seen.add(each.dataset.at));
}

/** Where an arrow leads: among the parts by the order in which they are written, or outwards and inwards. */
function moved(root, span, key) {
  const parts = partsOf(root);
  if (parts.length === 0) return null;
  const current = span && parts.find((each) => each.dataset.at === span.join("-"));
  if (!current) return spanOf(key === "ArrowLeft" || key === "End" ? parts.at(-1) : parts[0]);
  const at = parts.indexOf(current);
  if (key === "ArrowUp") return spanOf(current.parentElement) ?? span;
  if (key === "ArrowDown") return spanOf(partsOf(current)[0] ?? current);
  if (key === "Home") return spanOf(parts[0]);
  if (key === "End") return spanOf(parts.at(-1));
  return spanOf(parts[Math.min(parts.length - 1, Math.max(0, at + (key === "ArrowRight" ? 1 : -1)))]);
}

const LEAST = 0.6; // of the size of its letters, before it is to be scrolled

/** Makes the letters of a wide formula smaller. */
function fit(element) {
  const inner = element.querySelector(".katex-display");
  if (!inner) return;
  inner.style.fontSize = "";
  const room = element.clientWidth / element.scrollWidth;
  if (room < 1) inner.style.fontSize = `${Math.max(LEAST, room * 0.98)}em`;
}

/** The formula of a latex with marks; `lit` is the span that is lit, `onPoint` hears of another. */
export function Formula({ latex, lit = null, onPoint, onPick, state = "right", label }) {
  const host = useRef(null);
  useEffect(() => {
    typesetInto(host.current, latex, true);
    fit(host.current);
    const watch = new ResizeObserver(() => host.current && fit(host.current));
    watch.observe(host.current);
    return () => watch.disconnect();
  }, [latex]);
  useEffect(() => {
    for (const each of host.current.querySelectorAll(".lit")) each.classList.remove("lit");
    if (lit) for (const each of host.current.querySelectorAll(`.katex-html [data-at="${lit.join("-")}"]`)) each.classList.add("lit");
  }, [lit, latex]);
  const keys = (event) => {
    if (!/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onPoint?.(moved(host.current, lit, event.key));
  };
  return (
    <div
      class="formula" data-state={state} ref={host} role="group" aria-label={label} tabIndex={0} data-after-editor
      onMouseOver={(event) => onPoint?.(spanOf(event.target))} onMouseLeave={() => onPoint?.(null)}
      onClick={(event) => onPick?.(spanOf(event.target))} onKeyDown={keys} onBlur={() => onPoint?.(null)}
    />
  );
}

/** A small formula within a line. */
export function Inline({ latex }) {
  const host = useRef(null);
  useEffect(() => typesetInto(host.current, latex, false), [latex]);
  return <span class="inline-formula" ref={host} />;
}
