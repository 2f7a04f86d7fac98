// Unpacks the page's script and runs it. Where the page holds Python, that starts first, since it takes longest.
(async () => {
  const carried = (id) => document.getElementById(id)?.textContent;
  const address = async (id) => {
    const bytes = Uint8Array.fromBase64?.(carried(id)) ?? Uint8Array.from(atob(carried(id)), (each) => each.charCodeAt(0));
    const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  };
  if (carried("worker")) {
    const worker = new Worker(await address("worker"));
    const reply = new Promise((resolve) => worker.addEventListener("message", ({ data }) => resolve(data), { once: true }));
    worker.postMessage({ number: 0, parts: { wasm: carried("wasm"), library: carried("library"), project: carried("project") } });
    window.pythonStart = { worker, reply };
  }
  const script = document.createElement("script");
  script.src = await address("script");
  document.head.append(script);
})();
