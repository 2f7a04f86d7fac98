const slides = [...document.querySelectorAll("section")];
const [back, play, next] = document.querySelectorAll("nav button");
const links = [...document.querySelectorAll("ol a")];
const PAUSE = 1800; // milliseconds that a step is shown while it plays
let timer = null;
const place = document.querySelector("nav output");
const wanted = () => Math.min(Math.max(Number.parseInt(location.hash.slice(1), 10) || 1, 1), slides.length);
function show() {
  const at = wanted();
  slides.forEach((slide, number) => slide.classList.toggle("shown", number + 1 === at));
  links.forEach((link, number) => (number + 1 === at ? link.setAttribute("aria-current", "step") : link.removeAttribute("aria-current")));
  links[at - 1]?.scrollIntoView({ block: "nearest" });
  place.textContent = `${at} of ${slides.length}`;
  back.disabled = at === 1;
  next.disabled = at === slides.length;
}
const go = (to) => { location.replace(`#${Math.min(Math.max(to, 1), slides.length)}`); show(); };
function stop() {
  clearInterval(timer);
  timer = null;
  play.textContent = "play";
}
function tick() {
  if (wanted() < slides.length) go(wanted() + 1);
  if (wanted() === slides.length) stop();
}
play.addEventListener("click", () => {
  if (timer) return stop();
  if (wanted() === slides.length) go(1);
  timer = setInterval(tick, PAUSE);
  play.textContent = "pause";
});
const KEYS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, n: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1, p: -1 };
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || (event.key === " " && event.target.tagName === "BUTTON")) return;
  const to = event.key === "Home" ? 1 : event.key === "End" ? slides.length : KEYS[event.key] ? wanted() + KEYS[event.key] : 0;
  if (to) { event.preventDefault(); go(to); }
});
back.addEventListener("click", () => go(wanted() - 1));
next.addEventListener("click", () => go(wanted() + 1));
addEventListener("hashchange", show);
document.body.classList.add("stepping");
show();
