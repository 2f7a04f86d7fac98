// Typesets every formula of a page with KaTeX. \htmlClass gives each axis the class of its color.
for (const element of document.querySelectorAll(".latex")) {
  const displayMode = element.tagName === "DIV";
  const trust = ({command}) => command === "\\htmlClass";
  katex.render(element.textContent, element, {displayMode, trust, strict: false, throwOnError: false});
}
