"use strict";
// Puts a chosen file into the form as Base64; without this script a text is pasted.
const form = document.querySelector("[data-evidence]");

if (form) {
  const chosen = form.querySelector("input[type=file]");
  const tooLarge = form.querySelector("[data-too-large]");
  const most = 2 * 1024 * 1024;
  form.querySelector("[data-choose]").hidden = false;
  chosen.addEventListener("change", () => {
    const file = chosen.files[0];
    form.elements.content.value = "";
    tooLarge.hidden = !file || file.size <= most;
    form.querySelector("[data-paste]").hidden = Boolean(file) && file.size <= most;
    if (!file || file.size > most) return;
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      form.elements.content.value = reader.result.slice(reader.result.indexOf(",") + 1);
      form.elements.name.value = file.name.slice(-100);
    });
    reader.readAsDataURL(file);
  });
}
