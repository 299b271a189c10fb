"use strict";
// Fills the text of the form from a file; without this script it is pasted.
const file = document.getElementById("file");
const unread = document.getElementById("unread");

if (file) {
  document.getElementById("choose").hidden = false;
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    const text = document.getElementById("csv");
    try {
      text.value = new TextDecoder("utf-8", { fatal: true }).decode(await file.files[0].arrayBuffer());
      unread.hidden = true;
    } catch {
      text.value = "";
      unread.hidden = false;
    }
  });
}
