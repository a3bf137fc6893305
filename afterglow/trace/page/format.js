// SPDX-License-Identifier: Apache-2.0
// Times, sizes and places as people read them.

function threeDigits(value) {
  return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

function withUnit(value, units, smallest) {
  for (const [unit, size] of units) {
    if (value >= 0.9995 * size) return `${threeDigits(value / size)} ${unit}`;
  }
  return `${Math.round(value)} ${smallest}`;
}

const TIME_UNITS = [
  ["s", 1e9],
  ["ms", 1e6],
  ["us", 1e3],
];
const BYTE_UNITS = [
  ["GB", 1e9],
  ["MB", 1e6],
  ["kB", 1e3],
];

const formatTime = (nanoseconds) => withUnit(nanoseconds, TIME_UNITS, "ns");
const formatBytes = (count) => withUnit(count, BYTE_UNITS, "B");
const formatCount = (count) => count.toLocaleString("en");
const formatPart = (part) => `${(100 * part).toFixed(1)}%`;
const counted = (count, noun) => `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

/** A moment with the digits that tell steps of this size apart, in the unit that suits another. */
function formatMoment(time, resolution, largest = time) {
  const [unit, size] = TIME_UNITS.find(([, size]) => Math.abs(largest) >= size) ?? ["ns", 1];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / Math.max(resolution, 1e-3)))));
  return `${(time / size).toFixed(digits)} ${unit}`;
}

/** "file.py:42 in function" without the folders. */
function shortSite(site) {
  const at = site.lastIndexOf(" in ");
  const place = at < 0 ? site : site.slice(0, at);
  return (
    place.slice(Math.max(place.lastIndexOf("/"), place.lastIndexOf("\\")) + 1) +
    (at < 0 ? "" : site.slice(at))
  );
}

/** An element with properties and children. */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
