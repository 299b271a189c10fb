"use strict";
const form = document.querySelector("form");
const problem = document.getElementById("problem");
const done = document.getElementById("done");
const show = document.getElementById("show");

function tell(text) {
  problem.textContent = text;
  problem.hidden = false;
}

if (show) {
  show.addEventListener("change", () => {
    document.getElementById("password").type = show.checked ? "text" : "password";
  });
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.hidden = true;
  const button = form.querySelector("button");
  const body = form.id === "forgot"
    ? { username: form.elements.username.value.trim() }
    : { token: location.pathname.split("/").pop(), password: form.elements.password.value };
  if (form.id === "set-password" && [...body.password].length < Number(form.dataset.min)) {
    tell(`The password needs at least ${form.dataset.min} characters.`);
    form.elements.password.focus();
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
      form.hidden = true;
      done.hidden = false;
      done.focus();
    } else {
      const error = await answer.json();
      tell(`${error.errorMsg[0].toUpperCase()}${error.errorMsg.slice(1)}.`);
    }
  } catch {
    tell("The service did not answer. Please try again in a minute.");
  } finally {
    button.disabled = false;
  }
});
