// Unpacks the page's script and runs it. It stands in the page as it is.
(async () => {
  const packed = Uint8Array.from(atob(document.getElementById("script").textContent), (each) => each.charCodeAt(0));
  const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const script = document.createElement("script");
  script.src = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  document.head.append(script);
})();
