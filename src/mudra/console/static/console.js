"use strict";
// A long list is narrowed by the words of a field; without this script the field is not there.
for (const field of document.querySelectorAll("[data-narrows]")) {
  field.hidden = false;
  field.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const item of document.getElementById(field.dataset.narrows).children) {
      const text = item.textContent.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
    }
  });
}

// Times in the zone that the reader chose, else in that of the browser; the year only where it is
// another; the title keeps UTC.
const timeZone = document.querySelector('meta[name="time-zone"]')?.content;
const yearOf = new Intl.DateTimeFormat("en", { year: "numeric", timeZone });
const year = yearOf.format(new Date());
// Days before months and 24 hours, as the service writes them.
const locale = document.documentElement.lang.startsWith("en") ? "en-GB" : document.documentElement.lang;
const hourParts = { hour: "2-digit", minute: "2-digit", timeZone, hourCycle: "h23" };
const parts = { month: "short", day: "numeric", ...hourParts };
const thisYear = new Intl.DateTimeFormat(locale, parts);
let otherYear; // made when it is needed: each takes milliseconds
let hourOnly;

// Within [data-clock] the day is plain: the hour alone.
function zonedHour(at) {
  hourOnly ??= new Intl.DateTimeFormat(locale, hourParts);
  return hourOnly.format(at);
}

function zoned(at) {
  const isThisYear = yearOf.format(at) === year;
  if (!isThisYear) otherYear ??= new Intl.DateTimeFormat(locale, { year: "numeric", ...parts });
  return (isThisYear ? thisYear : otherYear).format(at);
}

function zoneName(at) {
  const named = new Intl.DateTimeFormat(locale, { hour: "2-digit", timeZone, timeZoneName: "short" }).formatToParts(at);
  return named.find((part) => part.type === "timeZoneName").value.replace("GMT+5:30", "IST");
}

function localise(root) {
  for (const time of root.querySelectorAll("time[datetime][title]")) {
    const at = new Date(time.dateTime);
    time.textContent = time.closest("[data-clock]") ? zonedHour(at) : zoned(at);
    if ("seconds" in time.dataset) time.textContent += `:${String(at.getUTCSeconds()).padStart(2, "0")}`;
    // Once on a page of the present, its zone too: people read times to each other on the telephone.
    if (time.closest(".live")) time.textContent += `\u00a0${zoneName(at)}`;
  }
}

// "Browser" names no zone: the switch shows which one it is, where that is the choice.
function nameZone() {
  const choice = document.querySelector('.zones [data-zone="browser"]:is([aria-current], [aria-pressed=true])');
  if (choice) choice.append(` (${zoneName(new Date())})`);
}

// The service writes the fields of forms in the zone of the browser, once it knows it.
if (location.pathname.startsWith("/console")) {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `mudra-zone=${zone}; path=/; max-age=31536000; samesite=lax${secure}`;
}

function menu() {
  const button = document.querySelector("button.menu");
  if (!button) return;
  const list = document.getElementById("menu");
  button.hidden = false;
  list.classList.add("folds");
  const show = (open) => {
    button.setAttribute("aria-expanded", String(open));
    list.classList.toggle("open", open);
  };
  button.addEventListener("click", () => show(button.getAttribute("aria-expanded") !== "true"));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && list.classList.contains("open")) {
      show(false);
      button.focus();
    }
  });
}

// On a phone a row of a table shows two lines; a button unfolds the rest.
function folds(root) {
  for (const table of root.querySelectorAll(".table[data-more]:not(.folds)")) {
    for (const row of table.querySelectorAll("tbody > tr:not(.below)")) {
      if (!row.querySelector(":scope > .more-cell") && !row.nextElementSibling?.matches(".below")) continue;
      const button = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: "⌄" });
      button.setAttribute("aria-label", table.dataset.more);
      button.setAttribute("aria-expanded", "false");
      const folded = row.querySelector(":scope > td > details");
      button.addEventListener("click", () => {
        const open = row.classList.toggle("open");
        button.setAttribute("aria-expanded", String(open));
        if (folded) folded.open = open;
      });
      const cell = row.insertCell();
      cell.className = "unfold";
      cell.setAttribute("role", "cell");
      cell.append(button);
    }
    table.classList.add("folds");
  }
}

// A page longer than three screens has tabs below its title. On a wide screen they lead to its
// parts; on a phone one part is shown at a time (.away), but for what asks for an act and is no part among others (data-part). A refresh
// takes the tabs away: they are made again. Of a list whose parts are looked up, not read (.by-part),
// one part is shown at a time everywhere.
const onPhone = matchMedia("(max-width: 30rem)");
const ACT = "form button[type=submit]:not(.plain)";
const NEWS = ":is(.problem, .done):not([hidden])";
const CHART_PX = 176; // a chart's height has no place until it is drawn
let chosenPart = "";
let ends = new AbortController();

const asks = (part) => [...part.querySelectorAll(ACT)].some((one) => one.checkVisibility());

function tabs() {
  const main = document.querySelector(".console main");
  if (!main || main.querySelector(".index")) return;
  const toDraw = main.querySelectorAll(".chart:not(.drawn)").length * CHART_PX;
  if (main.scrollHeight + toDraw < 3 * innerHeight) return;
  const heads = [...main.querySelectorAll("section > h2, section > .apart > h2")].filter((one) => one.offsetParent && !one.closest("dialog, form, .banner") && (one.closest("[data-part]") || !asks(one.closest("section"))));
  if (heads.length < 3) return;
  heads.sort((one, other) => Boolean(other.closest("[data-first]")) - Boolean(one.closest("[data-first]")));
  ends.abort();
  ends = new AbortController();
  const { signal } = ends;
  const parts = new Map(heads.map((head) => [head, head.closest("section")]));
  heads.forEach((head, at) => { head.id ||= `part-${at + 1}`; });
  const nav = Object.assign(document.createElement("nav"), { className: "index" });
  nav.setAttribute("aria-label", document.title);
  const links = new Map(heads.map((head) => [head, Object.assign(document.createElement("a"), { href: `#${head.id}`, textContent: head.firstChild.textContent.trim().split(": ")[0] })]));
  nav.append(...links.values());
  const first = heads[0].closest(".columns, .halves") ?? parts.get(heads[0]);
  first.before(nav);
  const mark = (now) => {
    for (const [head, link] of links) {
      parts.get(head).classList.toggle("away", head !== now);
      if (head === now) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  const scrolled = () => {
    if (!oneAtATime()) mark(heads.filter((head) => head.getBoundingClientRect().top < innerHeight / 3).at(-1) ?? heads[0]);
  };
  const choose = (head) => {
    chosenPart = head.id;
    if (oneAtATime()) mark(head);
    else scrolled();
  };
  const oneAtATime = () => onPhone.matches || first.closest(".by-part");
  const named = (id) => heads.find((head) => id && (head.id === id || parts.get(head).contains(document.getElementById(id))));
  nav.addEventListener("click", ({ target }) => target.hash && choose(named(target.hash.slice(1))));
  addEventListener("hashchange", () => choose(named(location.hash.slice(1)) ?? heads[0]), { signal });
  onPhone.addEventListener("change", () => choose(named(chosenPart) ?? heads[0]), { signal });
  addEventListener("scroll", scrolled, { passive: true, signal });
  const inUse = (head) => parts.get(head).querySelector(NEWS) || parts.get(head).contains(document.activeElement);
  choose(named(chosenPart) ?? named(location.hash.slice(1)) ?? heads.find(inUse) ?? heads[0]);
}

// The colors that the reader chose: at once, and in a cookie for the next page.
function themes() {
  const box = document.querySelector(".theme");
  if (!box) return;
  box.hidden = false;
  const schemes = { "": ["light dark", "(prefers-color-scheme: dark)"], light: ["light", "not all"], dark: ["dark", "all"] };
  box.addEventListener("click", ({ target }) => {
    const chosen = target.dataset.theme;
    if (chosen === undefined) return;
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `mudra-theme=${chosen}; path=/; max-age=31536000; samesite=lax${secure}`;
    const [scheme, media] = schemes[chosen];
    document.querySelector('meta[name="color-scheme"]').content = scheme;
    document.querySelector("link[data-dark]").media = media;
    for (const one of box.querySelectorAll("button")) one.setAttribute("aria-pressed", String(one === target));
    document.dispatchEvent(new Event("mudra:theme"));
  });
}

// A field for several IDs becomes a list, and one field in which each is found by its name.
function addsById(field) {
  const names = new Map([...document.getElementById(field.dataset.from).options].map((one) => [one.value, one.textContent]));
  const named = new Map([...names].map(([id, name]) => [name.toLowerCase(), id]));
  const list = Object.assign(document.createElement("ul"), { className: "chips" });
  const finder = Object.assign(document.createElement("input"), { id: field.id, type: "search", autocomplete: "off", placeholder: field.dataset.adds });
  finder.setAttribute("list", field.dataset.from);
  const ids = () => field.value.split(/[\s,]+/).filter(Boolean);
  const show = () => list.replaceChildren(...ids().map((id) => {
    const chip = document.createElement("li");
    const away = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: "×" });
    away.setAttribute("aria-label", `${field.dataset.removes} ${names.get(id) ?? id}`);
    away.addEventListener("click", () => {
      field.value = ids().filter((one) => one !== id).join(", ");
      show();
      finder.focus();
    });
    chip.append(names.get(id) ?? id, " ", away);
    return chip;
  }));
  const add = () => {
    const typed = finder.value.trim();
    const found = named.has(typed.toLowerCase()) ? [named.get(typed.toLowerCase())] : typed.split(/[\s,]+/).filter(Boolean);
    field.value = [...new Set([...ids(), ...found])].join(", ");
    finder.value = "";
    show();
  };
  finder.addEventListener("input", () => names.has(finder.value) && add());
  finder.addEventListener("change", add);
  finder.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !finder.value.trim()) return;
    event.preventDefault();
    add();
  });
  field.addEventListener("input", show);
  field.removeAttribute("id");
  field.hidden = true;
  field.before(list, finder);
  show();
}
document.querySelectorAll("input[data-adds]").forEach(addsById);

// "/" or Ctrl-K goes to the search, wherever the reader does not type.
document.addEventListener("keydown", (event) => {
  const field = document.querySelector("[data-finds]");
  const jumps = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (!field || !(jumps || (event.key === "/" && !typing && !event.ctrlKey && !event.altKey))) return;
  event.preventDefault();
  const button = document.querySelector("button.menu");
  if (field.offsetParent === null) button?.click(); // on a phone the menu is folded
  field.focus();
  field.select();
});

// The choices above a picture close on Escape, and on a click elsewhere.
const openChoices = () => document.querySelectorAll(".pickers details[open]");

document.addEventListener("click", (event) => {
  for (const one of openChoices()) {
    if (!one.contains(event.target)) one.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const one of openChoices()) {
    one.open = false;
    one.querySelector("summary").focus();
  }
});

// <button data-opens="id"> opens a dialog; <button data-closes> inside of it closes it.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.opens) document.getElementById(button.dataset.opens).showModal();
  if ("closes" in button.dataset) button.closest("dialog").close();
  if (button.dataset.copies) copy(button);
});

document.querySelector("dialog[data-opens-itself]")?.showModal(); // it shows what went wrong

// <button data-copies="id"> copies the text of that element.
async function copy(button) {
  const said = button.dataset.said ?? button.textContent;
  button.dataset.said = said;
  try {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
    button.textContent = button.dataset.copied;
  } catch {
    const range = document.createRange();
    range.selectNodeContents(document.getElementById(button.dataset.copies));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = button.dataset.selected;
  }
  setTimeout(() => { button.textContent = said; }, 2000);
}

// A form that is under way says so, and is not sent twice.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || form.hasAttribute("data-post")) return;
  if (form.getAttribute("aria-busy") === "true") {
    event.preventDefault();
    return;
  }
  form.setAttribute("aria-busy", "true");
  if (!location.pathname.startsWith("/console/sign-in") && form.getAttribute("action") !== "/console/sign-in") keep(form);
});
// A form outlives its session: what was typed comes back into it after the sign-in, in this tab.
// Passwords and codes are never kept.
const KEPT = "mudra-form";
const KEEPS = "input:not([type=password], [type=hidden], [type=file], [autocomplete=one-time-code]), textarea, select";
const actOf = (form) => form.elements.namedItem("act")?.value ?? "";

function keep(form) {
  if ("keeps" in form.dataset) return; // it keeps a draft of its own: registration.js
  const fields = [...form.querySelectorAll(KEEPS)].filter(({ name }) => name);
  const typed = fields.map((one) => [one.name, one.type === "checkbox" || one.type === "radio" ? one.checked : one.value, one.value]);
  try {
    if (typed.length) sessionStorage.setItem(KEPT, JSON.stringify({ action: form.getAttribute("action"), act: actOf(form), typed }));
  } catch {} // without room it is on the sign-in page, to be copied
}

function putBack() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  if (!kept) return;
  const ended = document.querySelector("[data-kept]");
  if (ended) { // the sign-in page after the end of a session
    sessionStorage.setItem(KEPT, JSON.stringify({ ...kept, ended: true }));
    for (const child of ended.parentElement.children) child.hidden = child !== ended;
    return;
  }
  if (location.pathname.startsWith("/console/sign-in")) return;
  sessionStorage.removeItem(KEPT);
  if (!kept.ended) return;
  const form = [...document.forms].find((one) => one.getAttribute("action") === kept.action && actOf(one) === kept.act);
  if (!form) return;
  for (const [name, value, own] of kept.typed) {
    for (const field of form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
      if (typeof value !== "boolean") field.value = value;
      else if (field.value === own) field.checked = value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }
  for (let above = form.closest("details"); above; above = above.parentElement.closest("details")) above.open = true;
  const dialog = form.closest("dialog");
  if (dialog && !dialog.open) dialog.showModal();
  form.querySelector(KEEPS)?.focus();
}

// What a tab keeps of its reader's typing ends with a sign-out.
document.addEventListener("submit", ({ target }) => {
  if (target.getAttribute("action") === "/console/sign-out") sessionStorage.clear();
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.removeAttribute("aria-busy");
});

document.addEventListener("htmx:load", (event) => {
  localise(event.target);
  folds(document);
});
document.addEventListener("htmx:afterSwap", tabs); // before the next frame
localise(document);
folds(document);
nameZone();
themes();
putBack();
tabs(); // once it is known which part has the focus
menu();

// On paper nothing unfolds.
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("main details:has(table, ol, ul)")) one.open = true;
});

// A reload, and the way back, ask for the page again: they send no form a second time, and do not
// tell once more what was done.
const here = new URL(location.href);
here.searchParams.delete("told");
if ("answersForm" in document.body.dataset || here.search !== location.search) {
  history.replaceState(null, "", here);
}

// Words and figures are painted first: what fetches charts and draws them is large, and comes after.
function loadLate() {
  for (const { content } of document.querySelectorAll('meta[name="late-script"]')) {
    const script = document.createElement("script");
    script.src = content;
    script.async = false; // in their order
    document.head.append(script);
  }
}
const whenPainted = () => requestAnimationFrame(() => setTimeout(loadLate));
if (document.readyState === "complete") whenPainted();
else addEventListener("load", whenPainted);
