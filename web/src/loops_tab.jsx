// The formula as nested loops, each line of which lights its part.

import { axes, tint } from "./colors.js";
import { sameSpan } from "./places.js";
import { Problem, useReply } from "./reply.jsx";
import { lit, plan } from "./state.js";

/** A line with the names of axes in their colors: after `for`, and between brackets. */
function highlight(text) {
  const names = new Set(axes.value.map((axis) => axis.name));
  let depth = 0;
  return text.split(/([\p{L}][\p{L}\p{N}]*['′]*|[[\]])/u).map((part, n, all) => {
    depth += part === "[" ? 1 : part === "]" ? -1 : 0;
    const counted = all[n - 2] === "for" && all[n - 1] === " ";
    const axis = names.has(part) ? part : part.replace(/['′]+$/, ""); // a second index of an axis has a mark more
    return names.has(axis) && (depth > 0 || counted) ? <span key={n} class={tint(axis)}>{part}</span> : part;
  });
}

export function Loops() {
  const reply = useReply({ ask: "loops" });
  if (!plan.value) return <p class="quiet">The loops are shown here once the formula is valid.</p>;
  if (!reply) return null;
  if (!reply.ok) return <Problem error={reply.error} />;
  return (
    <pre class="code" tabIndex={0} role="group" aria-label="the formula as nested loops">
      {reply.lines.map((line, n) => (
        <div key={n} class={`line ${line.span && sameSpan(lit.value, line.span) ? "lit" : ""}`} style={{ "--indent": line.indent }} onMouseEnter={() => (lit.value = line.span)} onMouseLeave={() => (lit.value = null)}>{line.text ? highlight(line.text) : " "}</div>
      ))}
    </pre>
  );
}
