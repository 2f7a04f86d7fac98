// An error by its number: pressed, it shows what the docs say of it, with an example put right.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "./python.js";

const coded = (text) => text.split(/(`[^`]+`)/).map((part) => (/^`.*`$/.test(part) ? <code>{part.slice(1, -1)}</code> : part));

function Paragraph({ number }) {
  const found = useSignal(null);
  useEffect(() => {
    let stale = false;
    ask({ ask: "error", number }).then((reply) => !stale && (found.value = reply), () => {});
    return () => (stale = true);
  }, [number]);
  if (!found.value?.ok) return null;
  return (
    <section class="paragraph" aria-label={`about error ${number}`}>
      <h3>{number}: {found.value.title}</h3>
      {found.value.examples.map((each, n) => (
        <div key={n}>
          {each.note && <p>{coded(each.note)}</p>}
          {each.given && <p class="quiet">With {coded(each.given)}:</p>}
          <pre class="excerpt" tabIndex={0} role="group" aria-label="an example of it">{each.text}</pre>
          {each.mended && <p><span class="quiet">Put right:</span> <code class="mended">{each.mended}</code></p>}
        </div>
      ))}
    </section>
  );
}

const named = ({ kind, number }) => (!number ? (kind === "page" ? "" : kind) : kind === "warning" ? `warning ${number}` : `${kind} error ${number}`);

/** The message of an error, or a longer text that begins with its name, and the rest of it; the name is a button where it has a number. */
export function Told({ error, text = error.message, children }) {
  const open = useSignal(false);
  const name = named(error);
  const rest = text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text;
  return (
    <>
      <div class="message">
        {error.number ? <button type="button" class="numbered" aria-expanded={open.value} title="what this number means" onClick={() => (open.value = !open.value)}>{name}</button> : name && <b>{name}</b>}
        {name && ": "}<span>{rest}</span>
      </div>
      {children}
      {open.value && error.number && <Paragraph number={error.number} />}
    </>
  );
}
