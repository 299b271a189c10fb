"use strict";
// The form and the JSON are two views of one draft: what is typed in one is shown in the other.
const payload = document.getElementById("payload");
const fields = document.getElementById("fields");

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
    event.target.removeAttribute("aria-invalid");
  } catch {
    event.target.setAttribute("aria-invalid", "true");
    return;
  }
  payload.value = JSON.stringify(whole, null, 2);
  payload.dispatchEvent(new Event("input", { bubbles: true }));
}

fields.hidden = false;
fields.addEventListener("input", toJson);
payload.addEventListener("input", toForm);
toForm();
