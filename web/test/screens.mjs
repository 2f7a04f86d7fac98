// Pictures of the page as a desktop, a projector and a phone show it, light and dark: `node test/screens.mjs FOLDER`, or with
// PLAYGROUND_FILE those of the whole file.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launch, leave, open, place, settled, show, until } from "./browser.mjs";

const SCREENS = { desktop: [1280, 800], projector: [1024, 768], phone: [390, 844] };
const STATES = { // what is done before a picture is taken
  first: async () => {},
  value: (page) => show(page, "value"),
  code: (page) => show(page, "code"),
  derivative: async (page) => {
    await show(page, "derivative");
    await until(page, () => document.querySelector("[data-worst], #view .numbers"), [], 60_000);
  },
  exercise: async (page) => {
    await show(page, "exercise");
    await page.select("select[aria-label='exercises of the course']", "1");
    await until(page, () => document.querySelector("#view .exercise .cm-content"), [], 60_000);
  },
};
const folder = process.argv[2] ?? "screens";
const only = new Set(process.argv.slice(3)); // states; all where none is named

mkdirSync(folder, { recursive: true });
const { browser, close } = await launch();
const { address, close: end } = await place();
for (const [screen, [width, height]] of Object.entries(SCREENS)) {
  for (const theme of ["light", "dark"]) {
    const page = await open(browser, address, { width, height });
    await page.emulateMediaFeatures?.([{ name: "prefers-color-scheme", value: theme }]);
    await settled(page);
    for (const [state, reach] of Object.entries(STATES)) {
      if (only.size && !only.has(state)) continue;
      await reach(page);
      await new Promise((resolve) => setTimeout(resolve, 500));
      await page.screenshot({ path: join(folder, `${screen}-${theme}-${state}.png`) });
    }
    await leave(page);
  }
}
await close();
end();
