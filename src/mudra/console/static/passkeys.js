"use strict";
// Passkeys (WebAuthn): fetch the challenge when the button is pressed, ask the browser, and send the
// form with its answer. Binary values are base64url on the wire.

function bytes(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

function text(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decoded(options) {
  const named = (list) => (list ?? []).map((one) => ({ ...one, id: bytes(one.id) }));
  const user = options.user && { ...options.user, id: bytes(options.user.id) };
  return {
    ...options,
    challenge: bytes(options.challenge),
    ...(user && { user, excludeCredentials: named(options.excludeCredentials) }),
    ...(options.allowCredentials && { allowCredentials: named(options.allowCredentials) }),
  };
}

function encoded({ id, rawId, type, response }) {
  const parts = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
  const sent = parts.filter((name) => response[name]?.byteLength);
  return JSON.stringify({
    id,
    rawId: text(rawId),
    type,
    response: Object.fromEntries(sent.map((name) => [name, text(response[name])])),
  });
}

// What a browser says in its own words is of no help to most people. The page has the texts of its
// language at the place of the problem.
const reasons = { NotAllowedError: "cancelled", InvalidStateError: "held", SecurityError: "address" };

async function answer(button) {
  if (button.dataset.passkeyOptions) {
    const publicKey = decoded(JSON.parse(button.dataset.passkeyOptions));
    return navigator.credentials.create({ publicKey });
  }
  const fetched = await fetch(button.dataset.passkey, { method: "POST" });
  const options = await fetched.json();
  if (!fetched.ok) throw new Error(options.problem);
  return navigator.credentials.get({ publicKey: decoded(options) });
}

async function use(button) {
  const form = button.form;
  const problem = form.querySelector("[data-passkey-problem]");
  problem.hidden = true;
  button.disabled = true;
  try {
    form.elements.passkey.value = encoded(await answer(button));
    form.submit(); // without the checks of the fields that it replaces
  } catch (error) {
    problem.textContent = problem.dataset[reasons[error.name]] ?? (error.message || problem.dataset.silent);
    problem.hidden = false;
    button.disabled = false;
    button.focus();
  }
}

if (window.PublicKeyCredential) {
  for (const button of document.querySelectorAll("[data-passkey], [data-passkey-options]")) {
    button.hidden = false;
    button.addEventListener("click", () => use(button));
  }
  for (const or of document.querySelectorAll("[data-passkey-or]")) or.hidden = false;
  for (const missing of document.querySelectorAll("[data-passkey-missing]")) missing.hidden = true;
}
addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("[data-passkey], [data-passkey-options]")) button.disabled = false;
});
