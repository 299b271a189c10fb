"use strict";
const show = document.getElementById("show");
const texts = document.getElementById("texts").dataset;
let spaced = "";

// Browsers do not show Retry-After.
function waiting(answer) {
  const seconds = Number(answer.headers.get("Retry-After"));
  return seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}

function showProblem(form, text) {
  const problem = form.querySelector(".problem");
  const field = form.querySelector("input:not([hidden])");
  problem.textContent = text;
  problem.hidden = false;
  if (field) {
    field.setAttribute("aria-invalid", "true");
    field.focus();
  }
}

if (show) {
  show.addEventListener("change", () => {
    document.getElementById("password").type = show.checked ? "text" : "password";
  });
}

// With the password that was just set; without success the page offers the form to sign in.
async function signIn(form) {
  const fields = { username: form.elements.username.value, password: form.elements.password.value };
  const answer = await fetch(form.dataset.signIn, { method: "POST", body: new URLSearchParams(fields) });
  if (answer.ok && answer.redirected) {
    location.replace(answer.url);
    return true;
  }
  return false;
}

async function send(event) {
  event.preventDefault();
  const form = event.target;
  const done = document.getElementById(form.dataset.done ?? "done");
  const field = form.querySelector("input:not([hidden])");
  form.querySelector(".problem").hidden = true;
  field?.removeAttribute("aria-invalid");
  const button = form.querySelector("button");
  const body = form.id === "forgot"
    ? { username: form.elements.username.value.trim() }
    : { token: location.pathname.split("/").pop() };
  if (form.id === "set-password") {
    body.password = form.elements.password.value;
  }
  if (form.id === "set-password" && [...body.password].length < Number(form.dataset.min)) {
    showProblem(form, texts.short);
    return;
  }
  // A space at an end is easily pasted along, and then no one types it when signing in.
  if (form.id === "set-password" && body.password.trim() !== body.password && body.password !== spaced) {
    spaced = body.password;
    showProblem(form, texts.space);
    return;
  }
  if (form.id === "forgot" && (!body.username || !field.checkValidity())) {
    showProblem(form, texts.address);
    return;
  }
  button.disabled = true;
  try {
    const answer = await fetch(form.dataset.post, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.ok && form.dataset.signIn && await signIn(form).catch(() => false)) {
      return;
    }
    if (answer.ok) {
      document.getElementById("question").hidden = true;
      done.hidden = false;
      done.focus();
    } else if (form.id === "forgot" && answer.status === 429) {
      showProblem(form, texts.limited);
    } else if (form.id !== "forgot" && answer.status === 401) {
      location.reload(); // the link is of no use any more: its page says why, and sends another
    } else {
      const error = await answer.json();
      const text = error.errorMsg.replace("wait as Retry-After says", `try again in ${waiting(answer)}`);
      showProblem(form, `${text[0].toUpperCase()}${text.slice(1)}.`);
    }
  } catch {
    showProblem(form, texts.silent);
  } finally {
    button.disabled = false;
  }
}

// One form asks; a second one declines an invitation.
for (const form of document.querySelectorAll("form[data-post]")) {
  form.addEventListener("submit", send);
}
