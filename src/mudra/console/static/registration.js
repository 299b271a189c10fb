"use strict";
// The form and the JSON are two views of one draft: what is typed in one is shown in the other.
const form = document.getElementById("registration");
const payload = document.getElementById("payload");
const fields = document.getElementById("fields");
const findings = document.getElementById("findings");
const unread = new Set(); // fields whose text is no JSON: the draft keeps what they said before
let fromForm = false;

function read(text) {
  try {
    const whole = JSON.parse(text);
    return whole && typeof whole === "object" && !Array.isArray(whole) ? whole : null;
  } catch {
    return null; // no JSON, which the findings tell
  }
}

function draft() {
  const whole = read(payload.value);
  return whole && typeof whole.entityinfo === "object" && whole.entityinfo ? whole : null;
}

function toForm() {
  const whole = draft();
  fields.inert = !whole;
  document.getElementById("rests").hidden = Boolean(whole);
  if (!fromForm) unread.clear();
  if (!whole) return;
  const info = whole.entityinfo;
  for (const field of fields.querySelectorAll("[data-path]")) {
    if (field === document.activeElement || unread.has(field.dataset.path)) continue;
    const value = info[field.dataset.path];
    if (field.type === "checkbox") field.checked = Array.isArray(value) && value.includes(field.value);
    else if (field.dataset.kind === "json") field.value = JSON.stringify(value ?? null, null, 1);
    else if (field.dataset.kind === "list") field.value = Array.isArray(value) ? value.join(", ") : "";
    else field.value = value ?? "";
  }
}

function valueOf(field, info) {
  if (field.type === "checkbox") {
    const boxes = [...fields.querySelectorAll(`[data-path="${field.dataset.path}"]`)];
    const offered = boxes.map((box) => box.value);
    const said = info[field.dataset.path];
    const others = (Array.isArray(said) ? said : []).filter((word) => !offered.includes(word));
    return [...boxes.filter((box) => box.checked).map((box) => box.value), ...others];
  }
  if (field.dataset.kind === "json") return JSON.parse(field.value);
  if (field.dataset.kind === "list") {
    return field.value.split(",").map((word) => word.trim()).filter(Boolean);
  }
  return field.value;
}

function toJson(event) {
  const whole = draft();
  if (!whole) return;
  event.stopPropagation();
  try {
    whole.entityinfo[event.target.dataset.path] = valueOf(event.target, whole.entityinfo);
    unread.delete(event.target.dataset.path);
  } catch {
    unread.add(event.target.dataset.path);
    say(event.target.dataset.path, [fields.dataset.unread], document.documentElement.lang);
    tellUnread();
    return;
  }
  payload.value = JSON.stringify(whole, null, 2);
  fromForm = true;
  payload.dispatchEvent(new Event("input", { bubbles: true }));
  fromForm = false;
}

// What is found about a field is right after it, and the list leads to the field.
function say(path, words, language = "en") {
  const place = document.getElementById(`found-${path}`);
  if (!place) return;
  place.lang = language; // findings are the API's own words
  place.textContent = words.join(" ");
  place.hidden = words.length === 0;
  for (const field of fields.querySelectorAll(`[data-path="${path}"]`)) {
    if (words.length) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
}

function tell() {
  const found = new Map();
  for (const item of findings.querySelectorAll("li[data-path]")) {
    const path = item.dataset.path.match(/^\$\.entityinfo\.([A-Za-z]+)/)?.[1];
    if (!path || !document.getElementById(`found-${path}`)) continue;
    found.set(path, [...(found.get(path) ?? []), item.textContent.replace(item.dataset.path, "").trim()]);
    const link = document.createElement("a");
    link.href = `#f-${path}`;
    const code = item.querySelector("code");
    if (!code.closest("a")) {
      code.replaceWith(link);
      link.append(code);
    }
  }
  for (const place of fields.querySelectorAll(".found")) {
    const path = place.id.replace("found-", "");
    if (!unread.has(path)) say(path, found.get(path) ?? []);
  }
  if (unread.size) tellUnread();
}

// The line that stays in sight never speaks of another draft than the one that is seen.
function verdict(words) {
  const line = document.getElementById("verdict");
  line.className = "verdict bad";
  line.replaceChildren(document.getElementById(words).content.cloneNode(true));
  return line;
}

function tellUnread() {
  verdict("unread").querySelector("a").href = `#f-${[...unread][0]}`;
}

function notChecked(event) {
  const message = `unchecked-${event.detail.xhr?.status}`;
  verdict(document.getElementById(message) ? message : "unchecked");
  findings.replaceChildren(Object.assign(document.createElement("p"), { textContent: findings.dataset.unchecked }));
  tell();
}

// What was typed outlives a reload and a sign-in in between: this tab alone keeps it, until it is
// sent or its reader signs out.
const key = `draft ${form.dataset.keeps}`;
const shelf = (() => {
  try {
    return sessionStorage;
  } catch {
    return null; // a browser that keeps nothing for anybody
  }
})();

// Time and transaction ID are of the request, and new in each page.
function inRequest(text, { timestamp, txnid }) {
  const whole = read(text);
  return whole ? JSON.stringify({ ...whole, timestamp, txnid }, null, 2) : text;
}

function takeUp() {
  const kept = shelf?.getItem(key);
  const request = read(payload.value) ?? {};
  if ("sent" in form.dataset) shelf?.removeItem(key);
  else if (kept && inRequest(kept, request) !== inRequest(payload.value, request)) {
    payload.value = inRequest(kept, request);
    document.getElementById("kept").hidden = false;
  }
}

document.querySelector("#kept button").addEventListener("click", () => {
  payload.value = payload.defaultValue;
  payload.dispatchEvent(new Event("input", { bubbles: true }));
  shelf?.removeItem(key);
  document.getElementById("kept").hidden = true;
  payload.focus();
});

form.addEventListener("submit", (event) => {
  if (!unread.size) return;
  event.preventDefault();
  event.stopPropagation(); // it is not under way
  document.getElementById(`f-${[...unread][0]}`).focus();
});

fields.hidden = false;
document.addEventListener("htmx:afterSettle", tell);
for (const name of ["responseError", "sendError", "timeout"]) {
  form.addEventListener(`htmx:${name}`, notChecked);
}
// htmx comes after the first paint: what was typed until then is judged when it is there.
document.addEventListener("htmx:load", ({ target }) => {
  if (target === document.body && payload.value !== payload.defaultValue) {
    payload.dispatchEvent(new Event("input", { bubbles: true }));
  }
});
fields.addEventListener("input", toJson);
payload.addEventListener("input", () => {
  toForm();
  shelf?.setItem(key, payload.value);
});
takeUp();
toForm();
tell();
