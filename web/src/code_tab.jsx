// The formula as a program: as loops, or of a library. Each line lights its part.

import { signal, useSignal } from "@preact/signals";
import { axes, tint } from "./colors.js";
import { sameSpan } from "./places.js";
import { Problem, useReply } from "./reply.jsx";
import { lit, plan } from "./state.js";

const LIBRARIES = { loops: "loops", numpy: "NumPy", torch: "PyTorch", jax: "JAX", javascript: "JavaScript", einsum: "einsum" };
export const library = signal("numpy");

export function Copy({ text, label = "copy" }) {
  const done = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const box = document.body.appendChild(Object.assign(document.createElement("textarea"), { value: text }));
      box.select();
      document.execCommand("copy"); // a page of a file may have no clipboard
      box.remove();
    }
    done.value = true;
    setTimeout(() => (done.value = false), 1500);
  };
  return <button type="button" onClick={copy}>{done.value ? "copied" : label}</button>;
}

/** A line with the names of axes in their colors: after `for`, between brackets, and in a comment. */
function highlight(text) {
  const names = new Map(axes.value.flatMap(({ name }) => [[name, name], [name.replaceAll("'", "_prime"), name]]));
  let depth = 0;
  return text.split(/([\p{L}][\p{L}\p{N}_]*['′]*|[[\]#])/u).map((part, n, all) => {
    depth += part === "[" || part === "#" ? 1 : part === "]" ? -1 : 0;
    const counted = all[n - 2] === "for" && all[n - 1] === " ";
    const axis = names.get(part) ?? names.get(part.replace(/\d+$/, "")); // a second index of an axis has a number more
    return axis && (depth > 0 || counted) ? <span key={n} class={tint(axis)}>{part}</span> : part;
  });
}

const Lines = ({ text, spans }) =>
  text.trimEnd().split("\n").map((line, n) => (
    <span key={n} class={`line ${spans[n] && sameSpan(lit.value, spans[n]) ? "lit" : ""}`} onMouseEnter={() => (lit.value = spans[n])} onMouseLeave={() => (lit.value = null)}>{highlight(line)}{"\n"}</span>
  ));

export function Code() {
  const reply = useReply({ ask: "code", library: library.value });
  return (
    <div>
      <div class="row choices" role="radiogroup" aria-label="library">
        {Object.entries(LIBRARIES).map(([name, title]) => (
          <label key={name} class="choice"><input type="radio" name="library" checked={library.value === name} onChange={() => (library.value = name)} /><span>{title}</span></label>
        ))}
      </div>
      {!plan.value && <p class="quiet">The code is shown here once the formula is valid.</p>}
      {reply && !reply.ok && <Problem error={reply.error} />}
      {reply?.ok && (reply.text === null ? <p class="quiet">There is no einsum of it: {reply.why}.</p> : (
        <>
          <pre class="code" tabIndex={0} role="group" aria-label={`the code for ${LIBRARIES[library.value]}`}>{reply.spans.length ? <Lines {...reply} /> : reply.text}</pre>
          <Copy text={reply.text} />
        </>
      ))}
    </div>
  );
}
