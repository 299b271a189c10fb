"use strict";
// The search of the menu finds while one types; before that it offers the pages seen last in this tab.
// Without this script Enter opens the page of what was found.
const RECENT = "mudra-recent";
const MOST_RECENT = 8;

function recentPages() {
  try {
    return JSON.parse(sessionStorage.getItem(RECENT)) ?? [];
  } catch {
    return [];
  }
}

function remember() {
  if ("answersForm" in document.body.dataset || location.pathname.startsWith("/console/sign-in")) return;
  const path = location.pathname + location.search;
  const title = document.title.replace(/ · [^·]*$/, "");
  const others = recentPages().filter((one) => one.path !== path);
  try {
    sessionStorage.setItem(RECENT, JSON.stringify([{ path, title }, ...others].slice(0, MOST_RECENT)));
  } catch {} // without room nothing is offered
}

function palette(field) {
  const box = Object.assign(document.createElement("div"), { className: "palette", hidden: true });
  box.setAttribute("role", "status");
  field.after(box);
  let asking = null;
  let waits = 0;

  const links = () => [...box.querySelectorAll("a")];

  function show(content) {
    box.replaceChildren(...content);
    box.hidden = !box.childElementCount;
  }

  function offerRecent() {
    const found = recentPages().filter((one) => one.path !== location.pathname + location.search);
    if (!found.length) return show([]);
    const list = document.createElement("ul");
    for (const { path, title } of found) {
      const link = Object.assign(document.createElement("a"), { href: path, textContent: title });
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    show([Object.assign(document.createElement("p"), { className: "group", textContent: field.dataset.recent }), list]);
  }

  async function find(words) {
    asking?.abort();
    asking = new AbortController();
    const query = new URLSearchParams({ q: words, part: "hits" });
    try {
      const answer = await fetch(`${field.form.action}?${query}`, { signal: asking.signal });
      if (!answer.ok || answer.redirected) return; // Enter opens the page, which says why
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      show([...page.body.childNodes]);
    } catch {} // a later word has replaced this one, or the service does not answer
  }

  function typed() {
    clearTimeout(waits);
    const words = field.value.trim();
    if (words.length < 2) {
      asking?.abort();
      offerRecent();
      return;
    }
    waits = setTimeout(() => find(words), 150);
  }

  field.addEventListener("input", typed);
  field.addEventListener("focus", typed);
  field.form.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && !box.hidden) {
      event.stopPropagation();
      box.hidden = true;
      field.focus();
      box.hidden = true;
    }
    if (!step || box.hidden) return;
    event.preventDefault();
    const all = [field, ...links()];
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
  });
  document.addEventListener("click", (event) => {
    if (!field.form.contains(event.target)) box.hidden = true;
  });
}

remember();
document.querySelectorAll("[data-finds]").forEach(palette);
