"use strict";
const form = document.querySelector("form");
const problem = document.getElementById("problem");
const done = document.getElementById("done");
const show = document.getElementById("show");
let spaced = "";
const field = form.querySelector("input:not([hidden])");

function tell(text) {
  problem.textContent = text;
  problem.hidden = false;
  field.setAttribute("aria-invalid", "true");
  field.focus();
}

if (show) {
  show.addEventListener("change", () => {
    document.getElementById("password").type = show.checked ? "text" : "password";
  });
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.hidden = true;
  field.removeAttribute("aria-invalid");
  const button = form.querySelector("button");
  const body = form.id === "forgot"
    ? { username: form.elements.username.value.trim() }
    : { token: location.pathname.split("/").pop(), password: form.elements.password.value };
  if (form.id === "set-password" && [...body.password].length < Number(form.dataset.min)) {
    tell(`The password needs at least ${form.dataset.min} characters.`);
    return;
  }
  // A space at an end is easily pasted along, and then nobody types it when signing in.
  if (form.id === "set-password" && body.password.trim() !== body.password && body.password !== spaced) {
    spaced = body.password;
    tell("The password begins or ends with a space. Take it away, or send it again to keep it.");
    return;
  }
  if (form.id === "forgot" && (!body.username || !field.checkValidity())) {
    tell("Enter your email address.");
    return;
  }
  button.disabled = true;
  try {
    const answer = await fetch(form.dataset.post, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.ok) {
      document.getElementById("asked").hidden = true;
      done.hidden = false;
      done.focus();
    } else if (form.id === "set-password" && answer.status === 401) {
      location.reload(); // the link is of no use any more: its page says why, and sends another
    } else {
      const error = await answer.json();
      const wait = `try again in ${answer.headers.get("Retry-After")} seconds`;
      const words = error.errorMsg.replace("wait as Retry-After says", wait);
      tell(`${words[0].toUpperCase()}${words.slice(1)}.`);
    }
  } catch {
    tell("The service did not answer. Please try again in a minute.");
  } finally {
    button.disabled = false;
  }
});
