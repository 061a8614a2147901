
"use strict";
const form = document.getElementById("form");
const progress = document.getElementById("progress");
const reviewer = document.getElementById("reviewer");
const items = [...form.querySelectorAll("fieldset[data-item]")].map((part) => part.dataset.item);
const drafts = `holdgate-review-${form.dataset.pack}`;

const chosen = (name) => form.querySelector(`input[name="${name}"]:checked`)?.value ?? null;
const note = (name) => document.getElementById(`${name}-note`).value.trim();
const missing = () => items.filter((name) => chosen(name) === null);

function content() {
  const answers = {};
  for (const name of items) {
    if (chosen(name) !== null || note(name)) {
      answers[name] = { answer: chosen(name), note: note(name) };
    }
  }
  return {
    format: "holdgate review answers 1",
    pack: form.dataset.pack,
    key: form.dataset.key,
    reviewer: reviewer.value.trim(),
    saved_at: new Date().toISOString(),
    answers,
  };
}

function show(said) {
  const left = missing().length;
  for (const name of items) {
    document.getElementById(name).classList.toggle("answered", chosen(name) !== null);
  }
  const count = `${items.length - left} of ${items.length} answered`;
  progress.textContent = said ? `${said} ${count}.` : `${count}.`;
}

function keep() {
  try {
    localStorage.setItem(drafts, JSON.stringify(content()));
  } catch {
    // Where nothing may be stored, answers live until the page is closed; saving them to a file is not affected.
  }
}

function fill(saved) {
  for (const [name, given] of Object.entries(saved.answers)) {
    if (!items.includes(name)) continue;
    const option = [...form.querySelectorAll(`input[name="${name}"]`)].find((one) => one.value === given.answer);
    if (option) option.checked = true;
    document.getElementById(`${name}-note`).value = given.note ?? "";
  }
  if (saved.reviewer) reviewer.value = saved.reviewer;
}

form.addEventListener("change", (event) => {
  if (event.target.id === "earlier") return;
  keep();
  show();
});

document.getElementById("earlier").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  try {
    const saved = JSON.parse(await file.text());
    if (saved.pack !== form.dataset.pack) {
      show("Those are answers to another pack; nothing was loaded.");
      return;
    }
    fill(saved);
    keep();
    show("Loaded.");
  } catch {
    show("That file holds no answers; nothing was loaded.");
  }
});

document.getElementById("next").addEventListener("click", () => {
  const [first] = missing();
  if (!first) {
    show("Every item has an answer.");
    return;
  }
  document.getElementById(first).scrollIntoView();
  form.querySelector(`input[name="${first}"]`).focus();
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!reviewer.value.trim()) {
    show("Please give your name or initials first.");
    reviewer.focus();
    return;
  }
  const link = document.createElement("a");
  const who = reviewer.value.trim().replace(/[^A-Za-z0-9]+/g, "-");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(content(), null, 2) + "\n"], { type: "application/json" }));
  link.download = `answers-${form.dataset.pack.slice(0, 8)}-${who}.json`;
  link.click();
  const left = missing().length;
  show(left ? `Saved to ${link.download}; ${left} without an answer.` : `Saved to ${link.download}.`);
});

try {
  const kept = localStorage.getItem(drafts);
  if (kept) fill(JSON.parse(kept));
} catch {
  // As above: there is no draft to go on from.
}
show();
