// The runs that are being played, with their latest trials.

import { at, clean, counted, link, made, mark, NAMES, number, redraw } from "./elements.js";
import { live, newest, ofTrial, runLink, runs } from "./folder.js";

const remaining = (due) => {
  const seconds = due - Date.now() / 1000;
  if (seconds < -30) return "slower than before";
  const minutes = Math.max(1, Math.round(seconds / 60));
  return "about " + (minutes < 90 ? minutes + " min" : (minutes / 60).toFixed(1) + " h") + " left";
};

export const labels = (counts) => {
  const found = made("span", "labels");
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  const sorted = [...counts].sort(([a], [b]) => (a === "?") - (b === "?") || (a < b ? -1 : 1));
  for (const [label, count] of sorted.slice(0, 6)) found.append(made("span", "", mark(label), " " + number(count)), " ");
  if (all) {
    const bar = made("span", "stack");
    bar.setAttribute("aria-hidden", "true");
    const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    drawing.setAttribute("preserveAspectRatio", "none");
    drawing.setAttribute("viewBox", "0 0 100 8");
    let begun = 0;
    for (const [label, count] of sorted) {
      const piece = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      const wide = (100 * count) / all;
      for (const [name, value] of Object.entries({ x: begun, y: 0, width: wide, height: 8, class: "of-" + (NAMES[label] || "none") })) piece.setAttribute(name, value);
      drawing.append(piece);
      begun += wide;
    }
    bar.append(drawing);
    found.prepend(bar, " ");  // first, so that bars of several runs begin below each other
  }
  return found;
};

// The ends that say little without their reason: users leave for opposite reasons.
const REASONED = new Set(["invalid", "user-stopped", "cut short"]);

export const ending = ([, , , , , outcome, reason], playing) =>
  outcome ? outcome + (REASONED.has(outcome) && reason ? " (" + reason + ")" : "") : playing ? "being played" : "interrupted";

export const attemptItem = (run, one, playing) => {
  const [system, topic, trial, attempt, own] = one;
  const item = link("", ofTrial(run, one));
  item.append(
    made("b", "", clean(topic) + " · " + clean(system) + " · trial " + number(trial) + (attempt > 1 ? ", attempt " + attempt : "")),
    made("span", "", ...own.slice(0, 60).map(mark)),
    one[5] === "completed" ? "" : made("span", one[5] === "invalid" ? "cut" : "dim", clean(ending(one, playing))),
  );
  return made("li", "", item);
};

export const systemTable = (one) => {
  const body = made("tbody");
  for (const [name, planned, done, invalid, own] of one.systems) {
    const bar = made("progress");
    bar.max = Math.max(1, planned);
    bar.value = Math.min(done, planned);
    bar.setAttribute("aria-label", "Trials of " + clean(name));
    body.append(made("tr", "", Object.assign(made("th", "", clean(name)), { scope: "row" }), made("td", "", done < planned ? bar : ""),
      made("td", "number", number(done) + (planned ? " of " + number(planned) : "")), made("td", "", invalid ? counted(invalid, "invalid attempt") : ""),
      made("td", "", labels(own))));
  }
  return made("div", "wide", made("table", "systems", body));
};

export const summary = (run, one) => {
  const done = one.systems.reduce((sum, [, , count]) => sum + count, 0);
  const planned = one.systems.reduce((sum, [, count]) => sum + count, 0);
  const left = made("span", "left", one.due !== null && one.left ? remaining(one.due) : "");
  if (one.due !== null && one.left) left.dataset.due = String(one.due);
  const parts = [made("b", "", planned ? number(done) + " of " + counted(planned, "trial") : counted(done, "trial")), left];
  for (const [reason, count] of one.failures) parts.push(made("span", "cut", counted(count, "invalid attempt") + ": " + clean(reason)));
  return made("p", "summary", ...parts.flatMap((part) => [part, " "]));
};

export const drawPlaying = () => {
  const playing = newest.filter((key) => runs.get(key).playing && live.has(key));
  const there = new Map([...at("playing").querySelectorAll("article")].map((one) => [one.dataset.key, one]));
  for (const [key, one] of there) if (!playing.includes(key)) one.remove();
  for (const key of playing) {
    const run = runs.get(key);
    let card = there.get(key);
    if (!card) { card = made("article", "card"); card.dataset.key = key; at("playing").append(card); }
    const one = live.get(key);
    const list = made("ol", "attempts", ...one.attempts.slice(0, 12).map((each) => attemptItem(run, each, true)));
    list.setAttribute("aria-label", "Latest trials of " + clean(run.name));
    redraw(card, made("h3", "", link(clean(run.name), runLink(run)), run.audit ? made("span", "dim", " " + clean(run.audit)) : ""),
      summary(run, one), systemTable(one), list);
  }
  const none = at("playing").querySelector("p.none");
  if (playing.length && none) none.remove();
  if (!playing.length && !none) at("playing").replaceChildren(made("p", "dim none", "No run is being played. One that begins appears here."));
};

setInterval(() => {
  for (const one of document.querySelectorAll("[data-due]")) {
    const words = remaining(Number(one.dataset.due));
    if (one.textContent !== words) one.textContent = words;
  }
}, 5000);
