"use strict";
// The search of the menu finds while one types; before that it offers the views that its reader saved in
// this browser, and the pages seen last in this tab.
// Without this script Enter opens the page of what was found.
const RECENT = "mudra-recent";
const MOST_RECENT = 8;

const VIEWS = `mudra-views ${document.querySelector(".account .who")?.title ?? ""}`;
const MOST_VIEWS = 12;

const thisView = () => location.pathname + location.search;
const titleOf = () => document.title.replace(/ · [^·]*$/, "");

function stored(storage, name) {
  try {
    return JSON.parse(storage.getItem(name)) ?? [];
  } catch {
    return [];
  }
}

const recentPages = () => stored(sessionStorage, RECENT);
const savedViews = () => stored(localStorage, VIEWS);

function remember() {
  if ("answersForm" in document.body.dataset) return;
  const others = recentPages().filter((one) => one.path !== thisView());
  try {
    sessionStorage.setItem(RECENT, JSON.stringify([{ path: thisView(), title: titleOf() }, ...others].slice(0, MOST_RECENT)));
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

  function group(title, pages, taken) {
    const list = document.createElement("ul");
    for (const { path, title } of pages) {
      const item = document.createElement("li");
      item.append(Object.assign(document.createElement("a"), { href: path, textContent: title }));
      if (taken) {
        const drop = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: "×" });
        drop.setAttribute("aria-label", `${field.dataset.drop}: ${title}`);
        drop.addEventListener("click", () => taken(path));
        item.append(drop);
      }
      list.append(item);
    }
    return [Object.assign(document.createElement("p"), { className: "group", textContent: title }), list];
  }

  function keepViews(views) {
    try {
      localStorage.setItem(VIEWS, JSON.stringify(views));
    } catch {} // without room the view is not saved, and is not shown as saved
    offerRecent();
  }

  // Before anything is typed: the views that the reader saved in this browser, and the pages seen last.
  function offerRecent() {
    const [views, recent] = [savedViews(), recentPages().filter((one) => one.path !== thisView())];
    const save = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: field.dataset.save });
    save.addEventListener("click", () => keepViews([{ path: thisView(), title: titleOf() }, ...views].slice(0, MOST_VIEWS)));
    show([
      ...(views.length ? group(field.dataset.saved, views, (path) => keepViews(savedViews().filter((one) => one.path !== path))) : []),
      ...(recent.length ? group(field.dataset.recent, recent) : []),
      ...(views.some((one) => one.path === thisView()) ? [] : [save]),
    ]);
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
    if (!event.composedPath().includes(field.form)) box.hidden = true;
  });
}

remember();
document.querySelectorAll("[data-finds]").forEach(palette);
