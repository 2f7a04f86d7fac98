// The formula as nested loops, each line of which lights its part.

import { sameSpan } from "./places.js";
import { Problem, useReply } from "./reply.jsx";
import { lit, plan } from "./state.js";

export function Loops() {
  const reply = useReply({ ask: "loops" });
  if (!plan.value) return <p class="quiet">The loops stand here when the formula is right.</p>;
  if (!reply) return null;
  if (!reply.ok) return <Problem error={reply.error} />;
  return (
    <pre class="code" tabIndex={0} role="group" aria-label="the formula as nested loops">
      {reply.lines.map((line, n) => (
        <div key={n} class={`line ${line.span && sameSpan(lit.value, line.span) ? "lit" : ""}`} style={{ "--indent": line.indent }} onMouseEnter={() => (lit.value = line.span)} onMouseLeave={() => (lit.value = null)}>{line.text || " "}</div>
      ))}
    </pre>
  );
}
