// What the page carries packed: gzip in base64.

/** The bytes of a packed text. */
export async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The text of an element of the page that carries a part, or null. */
export const carried = (id) => document.getElementById(id)?.textContent ?? null;
