// The formula as a program of a library.

import { signal, useSignal } from "@preact/signals";
import { Problem, useReply } from "./reply.jsx";
import { plan } from "./state.js";

const LIBRARIES = { numpy: "NumPy", torch: "PyTorch", jax: "JAX", javascript: "JavaScript", einsum: "einsum" };
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
          <pre class="code" tabIndex={0} role="group" aria-label={`the code for ${LIBRARIES[library.value]}`}>{reply.text}</pre>
          <Copy text={reply.text} />
        </>
      ))}
    </div>
  );
}
