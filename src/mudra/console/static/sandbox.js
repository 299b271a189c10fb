"use strict";
const clock = document.getElementById("clock");
const problem = document.getElementById("problem");

clock.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.hidden = true;
  try {
    const answer = await fetch(clock.dataset.post, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ advance: event.submitter.value }),
    });
    if (!answer.ok) throw new Error((await answer.json()).errorMsg);
    location.reload();
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  }
});
