// SPDX-License-Identifier: Apache-2.0
// The search of the reference: every word must be in a name or a text; the best names come first.
"use strict";

const SHOWN = 200;

const query = document.getElementById("query");
const found = document.getElementById("found");
const all = document.getElementById("all");

const entries = Array.from(document.querySelectorAll("article, details"), (element) => {
  const text = element.querySelector(":scope > .signature").nextElementSibling;
  const first = text && text.tagName === "P" ? text.textContent : "";
  return { name: element.id, low: element.id.toLowerCase(), first, element, text: null };
});

/**
 * How well an entry fits: 0 is not at all. A whole name fits better than its beginning, and so on;
 * capital letters, and whether it is the member of a class, make a small difference.
 */
function fitness(entry, words) {
  let least = Infinity;
  for (const word of words) least = Math.min(least, fitnessOfWord(entry, word));
  if (least === 0) return 0;
  const written = query.value.trim();
  const same = entry.name.endsWith("." + written) || entry.name === written;
  return least + 0.5 * same + 0.25 * (entry.element.tagName === "ARTICLE");
}

function fitnessOfWord(entry, word) {
  const last = entry.low.slice(entry.low.lastIndexOf(".") + 1);
  if (last === word || entry.low === word || entry.low.endsWith("." + word)) return 5;
  if (last.startsWith(word)) return 4;
  if (entry.low.includes(word)) return 3;
  if (entry.first.toLowerCase().includes(word)) return 2;
  entry.text ??= entry.element.textContent.toLowerCase();
  return entry.text.includes(word) ? 1 : 0;
}

function item(entry) {
  const row = document.createElement("li");
  const link = document.createElement("a");
  link.href = "#" + entry.name;
  link.textContent = entry.name;
  row.append(link, " ", entry.first);
  return row;
}

function search() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  all.hidden = !found.hidden;
  if (found.hidden) return;
  const hits = entries
    .map((entry, place) => ({ entry, place, rank: fitness(entry, words) }))
    .filter((hit) => hit.rank > 0)
    .sort((a, b) => b.rank - a.rank || a.place - b.place);
  const more = hits.length > SHOWN ? `; the first ${SHOWN} are shown` : "";
  document.getElementById("count").textContent = `${hits.length} found${more}`;
  found.querySelector("ol").replaceChildren(...hits.slice(0, SHOWN).map((hit) => item(hit.entry)));
  window.scrollTo(0, 0);
}

/** Go to an entry: the text is shown again, and what it stands in is open. */
function show(name) {
  const target = document.getElementById(name);
  if (!target) return;
  query.value = "";
  search();
  if (target.tagName === "DETAILS") target.open = true;
  target.scrollIntoView();
}

query.addEventListener("input", search);
window.addEventListener("hashchange", () => show(decodeURIComponent(location.hash.slice(1))));
found.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (link) show(link.textContent); // the address may be the same already
});
document.addEventListener("keydown", (event) => {
  const first = found.querySelector("li a");
  if (event.key === "/" && document.activeElement !== query) {
    event.preventDefault();
    query.focus();
  } else if (event.key === "Escape") {
    query.value = "";
    search();
  } else if (event.key === "Enter" && document.activeElement === query && first) {
    first.click();
  }
});
query.value = new URLSearchParams(location.search).get("q") ?? "";
search();
if (location.hash && !query.value) show(decodeURIComponent(location.hash.slice(1)));
