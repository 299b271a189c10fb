"use strict";
// The form and the JSON are two views of one draft: what is typed in one is shown in the other.
const form = document.getElementById("registration");
const payload = document.getElementById("payload");
const fields = document.getElementById("fields");
const findings = document.getElementById("findings");
const unread = new Set(); // a key that cannot be read: the draft keeps the previous one
const left = new Set(); // fields that were filled in, or passed over: what is wrong there is shown
const rewritten = new Set(); // fields whose value is another than the one that was checked
const submits = document.getElementById("submits");
let reading = null; // the key that is being read, for which a submission waits
let waits = false; // a submission, for the key
let fromForm = false;
let judged = "judged" in form.dataset; // it was submitted: all that is missing is shown

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
    if (field.contains(document.activeElement) || unread.has(field.dataset.path)) continue;
    const value = info[field.dataset.path];
    if (field.dataset.kind === "rows" || field.dataset.kind === "pairs") fillRows(field, value);
    else if (field.type === "checkbox") field.checked = Array.isArray(value) && value.includes(field.value);
    else if (field.dataset.kind === "key") field.value = value?.n ? JSON.stringify(value, null, 1) : "";
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
  return field.dataset.kind === "rows" || field.dataset.kind === "pairs" ? rowValues(field) : field.value;
}

function fieldAt(target) {
  return target.closest("[data-path]");
}

// While one types the draft follows, unchecked: a field is judged when it is left.
function toJson(event) {
  const whole = draft(), field = fieldAt(event.target);
  event.stopPropagation();
  if (!whole || !field || field.dataset.kind === "key") return;
  write(whole, field.dataset.path, valueOf(field, whole.entityinfo));
}

function write(whole, path, value) {
  whole.entityinfo[path] = value;
  payload.value = JSON.stringify(whole, null, 2);
  shelf?.setItem(key, payload.value);
}

function check() {
  fromForm = true;
  payload.dispatchEvent(new Event("input", { bubbles: true }));
  fromForm = false;
}

// The key is read by the service out of what people have; a private one does not leave the page.
async function readKey(field) {
  const text = field.value.trim();
  if (text.toUpperCase().includes("PRIVATE KEY") || typeof read(text)?.d === "string") {
    keyUnread(fields.dataset.private);
    return;
  }
  const sent = new URLSearchParams({ csrf_token: form.elements.csrf_token.value, text });
  let answer;
  try {
    const got = await fetch(fields.dataset.key, { method: "POST", body: sent });
    if (!got.ok) throw new Error(got.status);
    answer = new DOMParser().parseFromString(await got.text(), "text/html");
  } catch {
    keyUnread(fields.dataset.unasked);
    return;
  }
  if (field.value.trim() !== text) return; // another was pasted meanwhile
  const found = answer.querySelector("[data-jwk]");
  const whole = draft();
  if (!found || !whole) {
    keyUnread(answer.querySelector("[data-problem]")?.textContent ?? fields.dataset.unasked);
    return;
  }
  unread.delete("certificate");
  const jwk = JSON.parse(found.dataset.jwk);
  field.value = JSON.stringify(jwk, null, 1);
  document.getElementById("key-about").replaceChildren(document.importNode(found, true));
  say("certificate", []);
  if (!unread.size) verdict("checking").className = "verdict open";
  write(whole, "certificate", jwk);
  check();
}

function keyUnread(words) {
  unread.add("certificate");
  document.getElementById("key-about").replaceChildren();
  say("certificate", [words]);
  tellUnread();
}

function keyLeft(field) {
  const whole = draft();
  if (field.value.trim()) {
    const mine = readKey(field).finally(() => {
      if (reading === mine) reading = null;
    });
    reading = mine;
  } else if (unread.delete("certificate")) toForm();
  else if (whole?.entityinfo.certificate?.n) {
    write(whole, "certificate", { ...whole.entityinfo.certificate, kid: "", e: "", n: "" });
    check();
  }
}

function leave(event) {
  const field = fieldAt(event.target);
  if (!field || field.contains(event.relatedTarget)) return;
  left.add(field.dataset.path);
  tell();
}

// What is found about a field is right after it, and the list leads to the field.
function say(path, words) {
  const place = document.getElementById(`found-${path}`);
  if (!place) return;
  place.textContent = words.join(" ");
  place.hidden = words.length === 0;
  const inputs = fields.querySelectorAll(`input[data-path="${path}"], textarea[data-path="${path}"], [data-path="${path}"] :is(input, select)`);
  for (const field of inputs) {
    if (words.length) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
}

// A field that one has not come to, or is typing in for the first time, is not wrong yet.
function isCalm(path, item) {
  const field = document.getElementById(`f-${path}`);
  const typed = document.activeElement?.matches("input, select, textarea") && field.contains(document.activeElement);
  const typing = typed && document.getElementById(`found-${path}`).hidden;
  return rewritten.has(path) || typing || ("missing" in item.dataset && !judged && !left.has(path));
}

function tell() {
  const found = new Map(), missing = new Map();
  for (const item of findings.querySelectorAll("li[data-path]")) {
    const path = item.dataset.field;
    if (!path || !document.getElementById(`found-${path}`)) continue;
    const link = document.createElement("a");
    link.href = `#f-${path}`;
    const name = item.querySelector("strong");
    if (name && !name.closest("a")) {
      name.replaceWith(link);
      link.append(name);
    }
    const says = item.querySelector(".says").textContent.trim();
    if ("missing" in item.dataset) missing.set(path, says);
    if (isCalm(path, item)) continue;
    const row = item.dataset.row ? `${item.dataset.row}: ` : "";
    found.set(path, [...(found.get(path) ?? []), row + says]);
  }
  for (const place of fields.querySelectorAll(".found")) {
    const path = place.id.replace("found-", "");
    place.closest(".field").classList.toggle("missing", missing.has(path));
    const hint = document.getElementById(`hint-${path}`); // before one has come to the field
    hint.textContent = found.has(path) ? "" : missing.get(path) ?? "";
    hint.hidden = !hint.textContent;
    if (!unread.has(path)) say(path, found.get(path) ?? []);
  }
  if (unread.size) tellUnread();
}

// The line that stays in sight never speaks of another draft than the one that is seen.
function verdict(words) {
  const line = document.getElementById("verdict");
  line.className = "verdict bad";
  delete line.dataset.idle;
  delete line.dataset.incomplete;
  line.replaceChildren(document.getElementById(words).content.cloneNode(true));
  return line;
}

function tellUnread() {
  verdict("unread").querySelector("a").href = `#f-${[...unread][0]}`;
}

function notChecked(event) {
  const message = `unchecked-${event.detail.xhr?.status}`;
  verdict(document.getElementById(message) ? message : "unchecked");
  rewritten.clear();
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
  if (!unread.size && !reading) return;
  event.preventDefault();
  event.stopPropagation(); // it is not under way
  if (reading) {
    if (waits) return;
    waits = true;
    const { submitter } = event;
    reading.finally(() => {
      waits = false;
      form.requestSubmit(submitter);
    });
    return;
  }
  document.getElementById(`f-${[...unread][0]}`).focus();
});

fields.hidden = false;
// Without changes there is nothing to submit, with a gap it is refused; what is typed is not judged yet.
let typing = null;
const idle = () => {
  const { dataset } = document.getElementById("verdict");
  submits.disabled = ("idle" in dataset || "incomplete" in dataset) && !typing;
};
form.addEventListener("input", ({ target }) => {
  if (target === document.activeElement) typing = target; // a check of the draft is no typing
  submits.disabled = false;
}, true);
form.addEventListener("focusout", () => { typing = null; });
document.addEventListener("htmx:afterSettle", () => {
  rewritten.clear();
  tell();
  idle();
});
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
fields.addEventListener("change", ({ target }) => {
  const field = fieldAt(target);
  if (!field) return;
  left.add(field.dataset.path);
  if (field.dataset.kind === "key") keyLeft(field);
  else {
    rewritten.add(field.dataset.path);
    check();
  }
});
fields.addEventListener("focusout", leave);
document.getElementById("key-file").addEventListener("change", async ({ target }) => {
  const file = target.files[0], field = document.getElementById("f-certificate");
  target.value = "";
  if (!file || file.size > 48 * 1024) return;
  const bytes = new Uint8Array(await file.arrayBuffer());
  const isText = bytes.every((one) => one > 8 && one < 127);
  field.value = isText ? new TextDecoder().decode(bytes) : btoa(String.fromCharCode(...bytes));
  keyLeft(field);
});
payload.addEventListener("input", () => {
  toForm();
  shelf?.setItem(key, payload.value);
});
takeUp();
toForm();
tell();
idle();
// The JSON is for the few who have it: the form is what most fill in.
document.querySelector("[data-folds]").open = !draft();
