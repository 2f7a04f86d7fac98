// A tab that asks Python one question about the formula and shows what it says.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Told } from "./paragraph.jsx";
import { ask } from "./python.js";
import { formula, plan } from "./state.js";

/** The reply to a question about the formula as it is, null while there is none; asked anew when the plan is another. */
export function useReply(question, wanted = true) {
  const reply = useSignal(null);
  const current = plan.value;
  const key = JSON.stringify(question);
  useEffect(() => {
    let stale = false;
    if (current && wanted) {
      ask({ ...question, ...formula(current.of) })
        .then((found) => !stale && (reply.value = { ...found, of: current, key }))
        .catch((problem) => !stale && (reply.value = { ok: false, error: { message: problem.message }, of: current, key }));
    }
    return () => (stale = true);
  }, [current, key, wanted]);
  return reply.value?.of === current && reply.value.key === key ? reply.value : null;
}

export const Problem = ({ error }) => (
  <div class="problem">
    <Told error={error}>{error.hint && <p class="hint">{error.hint}</p>}</Told>
  </div>
);
