// What all parts of the page are made of. What the server sends is only ever put in as text.

export const { made } = harvestReading({ system: [], counted: [] });
export const at = (id) => document.getElementById(id);

// Characters that steer a terminal or turn the direction of text are shown by their code.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;

export const clean = (text) => String(text).replace(UNSEEN, (one) => "<U+" + one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + ">");
export const number = (value) => value.toLocaleString("en");
export const counted = (count, one) => number(count) + " " + one + (count === 1 ? "" : "s");
// A moment, which is never broken over two lines.
export const minute = (stamp) => (stamp ? made("span", "whole", clean(stamp).slice(0, 16).replace("T", " ")) : "");
export const NAMES = { o: "o", x: "x", "!": "lost", "?": "open" };
export const mark = (label) => made("span", "mark " + (NAMES[label] || "none"), clean(label));
export const WORSE = ["changed", "alarm", "fell", "rose", "could not be measured"];

export const pill = (verdict) => {
  if (!verdict) return "";
  const kind = verdict === "could not be measured" ? "nothing" : verdict.replace(" ", "-");
  return made("span", "verdict " + kind, verdict);
};

export const link = (words, href, kind) => {
  const found = made("a", kind, words);
  found.href = href;
  return found;
};

// Draws an element anew; what had the focus in it keeps it.
export const redraw = (element, ...parts) => {
  const held = element.contains(document.activeElement) ? document.activeElement.getAttribute("href") || document.activeElement.dataset.name : null;
  element.replaceChildren(...parts.filter((one) => one !== ""));
  if (held === null) return;
  const again = [...element.querySelectorAll("a, button, input, select, [tabindex]")].find((one) => (one.getAttribute("href") || one.dataset.name) === held);
  if (again) again.focus({ preventScroll: true });
};

// What may be wider than the screen is scrolled by itself, also by keys.
export const scrolled = (inner, name) => {
  const found = made("div", "wide", inner);
  found.tabIndex = 0;
  found.setAttribute("role", "group");
  found.setAttribute("aria-label", clean(name));
  return found;
};

export const table = ({ head, rows: lines, right, caption }) => {
  const top = made("thead", "", made("tr", "", ...head.map((one, i) => Object.assign(made("th", right[i] ? "number" : "", clean(one)), { scope: "col" }))));
  const body = made("tbody", "", ...lines.map((line) => made("tr", "", ...line.map((one, i) => (i ? made("td", right[i] ? "number" : "", clean(one)) : Object.assign(made("th", "", clean(one)), { scope: "row" }))))));
  return scrolled(made("table", "", top, body), caption);
};

export const picture = (svg, words) => {
  const image = made("img", "chart");
  image.alt = clean(words);
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  image.addEventListener("load", () => URL.revokeObjectURL(image.src), { once: true });
  return image;
};
