"use strict";
// The form and the JSON are two views of one draft: what is typed in one is shown in the other.
const payload = document.getElementById("payload");
const fields = document.getElementById("fields");
const unread = new Set(); // fields whose text is no JSON: the draft keeps what they said before

function draft() {
  try {
    const whole = JSON.parse(payload.value);
    return whole && typeof whole.entityinfo === "object" && whole.entityinfo ? whole : null;
  } catch {
    return null;
  }
}

function toForm() {
  const whole = draft();
  fields.inert = !whole;
  if (!whole) return;
  const info = whole.entityinfo;
  for (const field of fields.querySelectorAll("[data-path]")) {
    if (field === document.activeElement) continue;
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
    const others = (info[field.dataset.path] ?? []).filter((word) => !offered.includes(word));
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
    say(event.target.dataset.path, ["This is not JSON yet."]);
    return;
  }
  payload.value = JSON.stringify(whole, null, 2);
  payload.dispatchEvent(new Event("input", { bubbles: true }));
}

// What is found about a field stands right after it, and the list leads to the field.
function say(path, words) {
  const place = document.getElementById(`found-${path}`);
  if (!place) return;
  place.textContent = words.join(" ");
  place.hidden = words.length === 0;
  for (const field of fields.querySelectorAll(`[data-path="${path}"]`)) {
    if (words.length) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
}

function tell() {
  const found = new Map();
  for (const item of document.querySelectorAll("#findings li[data-path]")) {
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
}

fields.hidden = false;
document.addEventListener("htmx:afterSettle", tell);
// htmx comes after the first paint: what was typed until then is judged when it is there.
document.addEventListener("htmx:load", ({ target }) => {
  if (target === document.body && payload.value !== payload.defaultValue) {
    payload.dispatchEvent(new Event("input", { bubbles: true }));
  }
});
fields.addEventListener("input", toJson);
payload.addEventListener("input", toForm);
toForm();
tell();
