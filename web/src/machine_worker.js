// Runs plans, away from the page, so that it can be stopped. It is given the runtime once, and then sources of plans.

const plans = new Map();
const KEPT = 20;

/** Runs a text as a script; the page's policy allows scripts from Blobs and no `eval`. */
function run(text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    importScripts(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** The module of the runtime as the object `nt`. */
function load(source) {
  const names = [...source.matchAll(/^export (?:const|class|function\*?) (\w+)/gm)].map((match) => match[1]);
  run(`self.nt = (() => {\n${source.replace(/^export /gm, "")}\nreturn { ${names.join(", ")} };\n})();`);
}

function planned(source) {
  if (!plans.has(source)) {
    run(`self.made = (() => {\n${source.replace(/^export /gm, "")}\nreturn formula;\n})();`);
    if (plans.size >= KEPT) plans.delete(plans.keys().next().value);
    plans.set(source, self.made);
  }
  return plans.get(source);
}

self.onmessage = ({ data: { number, runtime, source, inputs, many } }) => {
  try {
    if (runtime) load(runtime);
    const results = [];
    if (source) {
      const formula = planned(source);
      for (const each of many ?? [inputs]) results.push(formula(...each).map(({ shape, data }) => ({ shape, data })));
    }
    self.postMessage({ number, results: many ? results : results[0] });
  } catch (problem) {
    const { code, message, hint, span } = problem;
    self.postMessage({ number, problem: { code: code ?? null, message: String(message), hint: hint ?? null, span: span ?? null } });
  }
};
