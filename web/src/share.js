// The state of the page in the fragment of its address: base64url(deflate-raw(JSON)).

import { signal } from "@preact/signals";

export const site = signal(null); // the address where the page is published

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function packedState(state) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  const binary = Array.from(bytes, (each) => String.fromCharCode(each)).join("");
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

const LONGEST = 1_000_000;

/** The state that a fragment holds, or null; an invalid fragment raises nothing. */
export async function unpackedState(fragment) {
  try {
    const binary = atob(fragment.replace(/^#/, "").replace(/-/g, "+").replace(/_/g, "/"));
    const packed = Uint8Array.from(binary, (each) => each.charCodeAt(0));
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const parts = [];
    for (let size = 0, part; !(part = await reader.read()).done; ) {
      size += part.value.length;
      if (size > LONGEST) return null; // what unpacks to more than a page can hold
      parts.push(part.value);
    }
    const state = JSON.parse(await new Blob(parts).text());
    return state !== null && typeof state === "object" && !Array.isArray(state) ? state : null;
  } catch {
    return null;
  }
}

const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]", ""]);

/** The address of this page that others can open: its own where it is published, else `site`; null where there is none. */
export function publicAddress(here, site) {
  const { protocol, hostname, origin, pathname } = new URL(here);
  if (/^https?:$/.test(protocol) && !LOCAL.has(hostname)) return origin + pathname;
  return /^https?:\/\//.test(site ?? "") ? site : null;
}

/** HTML that shows a link within another page. */
export const embedding = (link) => {
  const [address, fragment] = link.split("#");
  return `<iframe src="${address}?embed#${fragment}" title="a formula with named axes" width="100%" height="480" style="border: 1px solid #ccc; border-radius: 6px"></iframe>`;
};
