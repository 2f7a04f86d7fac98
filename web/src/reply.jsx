// A tab that asks Python one question about the formula and shows what it says.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Told } from "./paragraph.jsx";
import { ask } from "./python.js";
import { formula, plan } from "./state.js";

/** The reply to a request about the current formula, null while pending; requested again when the plan changes. */
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
