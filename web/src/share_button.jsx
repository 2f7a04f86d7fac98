// A link to what the page shows: its address, a QR code, and the page within other pages.

import { generate } from "lean-qr";
import { toSvg } from "lean-qr/extras/svg";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Copy } from "./code_tab.jsx";
import { exerciseLink } from "./exercise_tab.jsx";
import { embedding, packedState, publicAddress, site } from "./share.js";
import { kept, tab, typeset } from "./state.js";

const MAX_QR_BYTES = 2000; // the squares of more are too small for a camera

/** The link as black and white squares, whatever the colors of the page are. */
function Code({ link }) {
  const box = useRef(null);
  useEffect(() => {
    const svg = toSvg(generate(link), document, { on: "black", off: "white", pad: 4, width: null, height: null });
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "QR code of the link");
    box.current.replaceChildren(svg);
  }, [link]);
  return <div class="qr" ref={box} />;
}

/** What the link holds: of exercises what is released, never a solution. */
async function shared() {
  const state = tab.value === "exercise" ? await exerciseLink() : null;
  return `#${await packedState(state ?? { ...kept(), latex: typeset.value?.plain })}`; // typeset before Python has started
}

/** The note beside a link that others cannot open. */
const ONLY_HERE = location.protocol === "file:"
  ? "This link works only on this computer, where this file is. Send the file along, or open the page where it is published."
  : "This link works only on this computer. Start the playground with --site and the address of a published copy to share it.";

export function Share() {
  const link = useSignal(null); // {text, open: whether others can open it}
  const problem = useSignal(null);
  const button = useRef(null);
  const close = () => {
    link.value = problem.value = null;
    button.current?.focus(); // what the keyboard was at is gone
  };
  const share = async () => {
    try {
      const fragment = await shared();
      history.replaceState(null, "", location.pathname + location.search + fragment);
      const address = publicAddress(location.href, site.value);
      link.value = { text: (address ?? location.href.split(/[?#]/)[0]) + fragment, open: address !== null };
      problem.value = null;
      navigator.clipboard?.writeText(link.value.text).catch(() => {});
    } catch (error) {
      problem.value = error.message;
    }
  };
  const found = link.value;
  return (
    <span class="share">
      <button type="button" onClick={share} ref={button} aria-expanded={found !== null}>share</button>
      {(found || problem.value) && (
        <div class="popover" role="dialog" aria-label="a link to this" onKeyDown={(event) => event.key === "Escape" && close()}>
          {problem.value && <p class="wrong" role="alert">{problem.value}</p>}
          {found && (
            <>
              <p>{found.open ? "Anyone who opens this link sees what you see. The link holds all of it; nothing was sent anywhere." : ONLY_HERE}</p>
              <input readOnly value={found.text} aria-label="the link" ref={(box) => box?.select()} />
              {found.open && (found.text.length <= MAX_QR_BYTES ? <Code link={found.text} /> : <p class="quiet">This link is too long for a QR code.</p>)}
            </>
          )}
          <div class="row">
            {found && <Copy text={found.text} label="copy the link" />}
            {found?.open && <Copy text={embedding(found.text)} label="copy to embed" />}
            {typeset.value && <Copy text={typeset.value.plain} label="copy LaTeX" />}
            <button type="button" onClick={close}>done</button>
          </div>
        </div>
      )}
    </span>
  );
}
