// An error code: a click shows its section of the docs, with a fixed example.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "./python.js";

const coded = (text) => text.split(/(`[^`]+`)/).map((part) => (/^`.*`$/.test(part) ? <code>{part.slice(1, -1)}</code> : part));

function Paragraph({ code }) {
  const found = useSignal(null);
  useEffect(() => {
    let stale = false;
    ask({ ask: "error", code }).then((reply) => !stale && (found.value = reply), () => {});
    return () => (stale = true);
  }, [code]);
  if (!found.value?.ok) return null;
  return (
    <section class="paragraph" aria-label={`about error ${code}`}>
      <h3>{code}: {found.value.title}</h3>
      {found.value.examples.map((each, n) => (
        <div key={n}>
          {each.note && <p>{coded(each.note)}</p>}
          {each.given && <p class="quiet">With {coded(each.given)}:</p>}
          <pre class="excerpt" tabIndex={0} role="group" aria-label="an example of it">{each.text}</pre>
          {each.fixed && <p><span class="quiet">Fixed:</span> <code class="fixed">{each.fixed}</code></p>}
        </div>
      ))}
    </section>
  );
}

const named = ({ kind, code }) => (!code ? (kind === "page" ? "" : kind) : kind === "warning" ? `warning ${code}` : `${kind} error ${code}`);

/** The message of an error, or a longer text that begins with its name, and the rest of it; the name is a button where it has a code. */
export function Told({ error, text = error.message, children }) {
  const open = useSignal(false);
  const name = named(error);
  const rest = text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text;
  return (
    <>
      <div class="message">
        {error.code ? <button type="button" class="numbered" aria-expanded={open.value} title="what this code means" onClick={() => (open.value = !open.value)}>{name}</button> : name && <b>{name}</b>}
        {name && ": "}<span>{rest}</span>
      </div>
      {children}
      {open.value && error.code && <Paragraph code={error.code} />}
    </>
  );
}
