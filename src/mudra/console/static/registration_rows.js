"use strict";
// A list of an entry as rows: each value is a field of its own, with a name that says which it is.
const SEPARATORS = /[\s,;]+/;

function addRow(place, value) {
  const row = place.querySelector("template").content.firstElementChild.cloneNode(true);
  const [first, second] = row.querySelectorAll("input, select");
  if (place.dataset.kind === "pairs") {
    const used = rowValues(place).map((one) => one.type);
    const free = [...first.options].find((one) => !used.includes(one.value)) ?? first.options[0];
    choose(first, value?.type ?? free.value);
    choose(second, value?.category ?? second.value);
  } else first.value = value ?? "";
  place.querySelector(".each").append(row);
  return first;
}

// A word that the list does not offer stays as it is in the draft.
function choose(select, word) {
  if (![...select.options].some((one) => one.value === word)) select.add(new Option(word, word));
  select.value = word;
}

function nameRows(place) {
  [...place.querySelectorAll(".one")].forEach((row, index) => {
    const input = row.querySelector("input");
    if (!input) return;
    input.setAttribute("aria-label", `${place.dataset.label} ${index + 1}`);
    row.querySelector("[data-removes]").hidden = place.querySelectorAll(".one").length === 1;
  });
}

function rowValues(place) {
  return [...place.querySelectorAll(".one")]
    .map((row) => {
      const [first, second] = row.querySelectorAll("input, select");
      return place.dataset.kind === "pairs" ? { category: second.value, type: first.value } : first.value.trim();
    })
    .filter(Boolean);
}

function fillRows(place, value) {
  const values = Array.isArray(value) ? value.filter((one) => one) : [];
  if (place.querySelector(".one") && JSON.stringify(rowValues(place)) === JSON.stringify(values)) return;
  place.querySelector(".each").replaceChildren();
  values.forEach((one) => addRow(place, one));
  if (!values.length && place.dataset.kind === "rows") addRow(place, "");
  nameRows(place);
}

function changed(place) {
  nameRows(place);
  place.dispatchEvent(new Event("input", { bubbles: true }));
  place.dispatchEvent(new Event("change", { bubbles: true }));
}

document.addEventListener("click", ({ target }) => {
  if ("all" in (target.dataset ?? {})) showAll(target);
  const place = target.closest?.("[data-kind=rows], [data-kind=pairs]");
  if (!place) return;
  if ("adds" in target.dataset) {
    const added = addRow(place, place.dataset.kind === "rows" ? "" : undefined);
    if (place.dataset.kind === "pairs") changed(place);
    nameRows(place);
    added.focus();
  }
  if ("removes" in target.dataset) {
    target.closest(".one").remove();
    changed(place);
    place.querySelector("[data-adds]").focus();
  }
});

// A pasted list becomes a row for each value.
document.addEventListener("paste", (event) => {
  const place = event.target.closest?.("[data-kind=rows]");
  const values = (event.clipboardData?.getData("text") ?? "").split(SEPARATORS).filter(Boolean);
  if (!place || values.length < 2) return;
  event.preventDefault();
  const had = rowValues(place);
  fillRows(place, [...had, ...values.filter((one) => !had.includes(one))]);
  changed(place);
});

// On a phone those that are not chosen come on request.
function showAll(target) {
  target.closest("fieldset").querySelector(".checks").classList.add("all");
}

// The FI types that have all the words typed, by name or code.
document.addEventListener("input", (event) => {
  if (!("searches" in (event.target.dataset ?? {}))) return;
  event.stopImmediatePropagation(); // nothing of the draft
  const words = event.target.value.toLowerCase().split(/\s+/);
  showAll(event.target);
  const labels = [...event.target.closest("fieldset").querySelectorAll(".checks label")];
  for (const label of labels) {
    const text = label.textContent.toLowerCase();
    label.hidden = !words.every((word) => text.includes(word));
  }
  event.target.closest("fieldset").querySelector("[data-none]").hidden = labels.some((one) => !one.hidden);
}, true);
