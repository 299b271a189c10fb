"use strict";
// The bars of 90 days name the day under a pointer, a finger, or the arrow keys. Without this script
// each institution's page has the same days as a table.
const note = document.getElementById("day-note");
const language = document.documentElement.lang;
// Days of the service are days of UTC, whatever the zone of the page.
const dayOf = new Intl.DateTimeFormat(language.startsWith("en") ? undefined : language, { dateStyle: "medium", timeZone: "UTC" });
const DAY_MS = 86_400_000;
const STEP = 4; // of a day's bar in the picture, whose width has no gap behind the last

function place(bars, at) {
  const box = bars.getBoundingClientRect();
  const whole = bars.dataset.days.length * STEP - 1;
  const middle = box.left + ((at * STEP + 1.5) / whole) * box.width;
  note.hidden = false;
  const half = note.offsetWidth / 2;
  const left = Math.min(Math.max(middle, half + 4), document.documentElement.clientWidth - half - 4);
  // A rule of the script's, not an attribute of the page: the strict policy allows it.
  note.style.left = `${left + scrollX}px`;
  note.style.top = `${box.top + scrollY}px`;
}

function show(bars, at) {
  const { days, first } = bars.dataset;
  const day = Math.min(Math.max(at, 0), days.length - 1);
  const text = `${dayOf.format(Date.parse(first) + day * DAY_MS)}: ${note.dataset[days[day]]}`;
  bars.setAttribute("aria-valuenow", String(day + 1));
  bars.setAttribute("aria-valuetext", text);
  note.textContent = text;
  place(bars, day);
}

function hide() {
  note.hidden = true;
}

function under(bars, event) {
  const box = bars.getBoundingClientRect();
  const whole = bars.dataset.days.length * STEP - 1;
  return Math.floor((((event.clientX - box.left) / box.width) * whole) / STEP);
}

function key(bars, event) {
  const last = bars.dataset.days.length;
  const now = Number(bars.getAttribute("aria-valuenow"));
  const to = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, Home: 1, End: last, PageDown: now - 7, PageUp: now + 7 }[event.key];
  if (event.key === "Escape") hide();
  if (to === undefined) return;
  event.preventDefault();
  show(bars, to - 1);
}

for (const bars of document.querySelectorAll("svg[data-days]")) {
  const last = bars.dataset.days.length;
  const from = { role: "slider", tabindex: "0", "aria-valuemin": "1", "aria-valuemax": String(last), "aria-valuenow": String(last) };
  for (const [name, value] of Object.entries(from)) bars.setAttribute(name, value);
  const said = `${dayOf.format(Date.parse(bars.dataset.first) + (last - 1) * DAY_MS)}: ${note.dataset[bars.dataset.days.at(-1)]}`;
  bars.setAttribute("aria-valuetext", said);
  bars.addEventListener("pointermove", (event) => show(bars, under(bars, event)));
  bars.addEventListener("pointerdown", (event) => show(bars, under(bars, event)));
  bars.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
  bars.addEventListener("focus", () => bars.matches(":focus-visible") && show(bars, Number(bars.getAttribute("aria-valuenow")) - 1));
  bars.addEventListener("blur", hide);
  bars.addEventListener("keydown", (event) => key(bars, event));
}
// A tap elsewhere ends what a tap began.
document.addEventListener("pointerdown", (event) => event.target.closest?.("svg[data-days]") || hide());
