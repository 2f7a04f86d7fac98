// What the page carries packed: gzip in base64.

/** The bytes of a text in base64. */
function decoded(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text); // browsers of 2025
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let n = 0; n < bytes.length; n++) bytes[n] = binary.charCodeAt(n);
  return bytes;
}

/** The bytes of a packed text, as they are unpacked. */
export const unpacking = (text) => new Blob([decoded(text)]).stream().pipeThrough(new DecompressionStream("gzip"));

/** The bytes of a packed text. */
export const unpacked = async (text) => new Uint8Array(await new Response(unpacking(text)).arrayBuffer());

/** The text of an element of the page that carries a part, or null. */
export const carried = (id) => document.getElementById(id)?.textContent ?? null;
