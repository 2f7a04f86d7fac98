// Copies of what is shown, for a paper, a slide or a spreadsheet.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { downloadBlob } from "./answers.js";
import { Copy } from "./code_tab.jsx";
import { pngOf, svgOf } from "./picture.js";

/** A button that puts a picture on the clipboard, or, where the browser has none for pictures, into a file. */
function Png({ target, name }) {
  const told = useSignal(null);
  const copy = async () => {
    try {
      const blob = await pngOf(target());
      try {
        await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
        told.value = "copied";
      } catch {
        downloadBlob(blob, `${name}.png`);
        told.value = "saved";
      }
    } catch {
      told.value = "not possible here";
    }
    setTimeout(() => (told.value = null), 1500);
  };
  return <button type="button" onClick={copy}>{told.value ?? "PNG"}</button>;
}

/** A menu of copies: `forms` are functions that give texts by their names, `target` gives the element that is drawn. */
export function CopyAs({ what, name, forms, target }) {
  const open = useSignal(false);
  const button = useRef(null);
  const close = () => {
    open.value = false;
    button.current?.focus();
  };
  const texts = () => Object.entries(forms).flatMap(([title, text]) => {
    try {
      return [[title, text()]];
    } catch {
      return []; // what a form cannot say
    }
  });
  return (
    <span class="copy-as">
      <button type="button" ref={button} aria-expanded={open.value} aria-label={`copy ${what}`} onClick={() => (open.value = !open.value)}>copy</button>
      {open.value && (
        <span class="copies" role="group" aria-label={`copy ${what} as`} onKeyDown={(event) => event.key === "Escape" && close()}>
          {texts().map(([title, text]) => <Copy key={title} text={text} label={title} />)}
          <button type="button" onClick={() => downloadBlob(new Blob([svgOf(target())], { type: "image/svg+xml" }), `${name}.svg`)}>SVG</button>
          <Png target={target} name={name} />
        </span>
      )}
    </span>
  );
}
