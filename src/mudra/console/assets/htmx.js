// htmx under a strict policy. Its settings stand in the page (parts.htmx): it reads them as soon as
// it is loaded, before a line of this file runs.
import htmx from "htmx.org";
import { Idiomorph } from "idiomorph";

window.htmx = htmx;

// hx-swap="morph": the new state is worked into the page, so that focus, scroll place and
// opened details stay, and a drawn chart is left to charts.js, a form that is being filled in to its
// reader, and so is the link in the place of a missing part, once someone is at it.
const isLeft = (old) => old.matches("[data-chart], [data-typed], .coming:focus-within");
document.addEventListener("input", ({ target }) => target.form?.setAttribute("data-typed", ""));
htmx.defineExtension("morph", {
  isInlineSwap: (style) => style === "morph",
  handleSwap: (style, target, fragment) => {
    if (style !== "morph") return false;
    return Idiomorph.morph(target, fragment.children, {
      morphStyle: "outerHTML",
      callbacks: {
        beforeNodeMorphed: (old) => !(old instanceof Element && isLeft(old)),
        beforeAttributeUpdated: (name, node) => !(name === "open" && node.tagName === "DETAILS"),
      },
    });
  },
});

// A part that does not come is said to be missing; the link next to it is the way out.
for (const event of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(event, ({ detail: { elt } }) => {
    const words = elt.querySelector?.(":scope > [data-failed]");
    if (words) words.textContent = words.dataset.failed;
  });
}

// A page that no one looks at asks for nothing, and is brought up to date when it is seen again.
document.addEventListener("htmx:beforeRequest", (event) => {
  const source = event.detail.elt;
  const polls = source.hasAttribute("data-live");
  if (polls && (document.hidden || source.dataset.live === "paused")) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) document.querySelectorAll("[data-live]").forEach((one) => htmx.trigger(one, "look"));
});

// <button data-pauses> stops and restarts the live region around it.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-pauses]");
  if (!button) return;
  const region = button.closest("[data-live]");
  const paused = region.dataset.live !== "paused";
  region.dataset.live = paused ? "paused" : "on";
  button.textContent = paused ? "Go on" : "Pause";
  if (!paused) htmx.trigger(region, "look");
});
