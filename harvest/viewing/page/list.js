// All runs as a table, which of them are listed, and which are to be compared.

import { at, clean, counted, link, made, minute, number, pill, redraw } from "./elements.js";
import { newest, report, runLink, runs } from "./folder.js";
import { labels } from "./playing.js";

const FIRST = 1500; // rows that are drawn at once
const STEP = 200;
const rows = new Map();
const chosen = new Set();
let most = FIRST;

const stateOf = (run) => {
  if (run.playing) return "playing";
  if (run.fault) return "faulty";
  if (!run.counts) return "";
  return run.counts.left ? "incomplete" : "complete";
};

const trials = (run) => {
  if (run.fault) return made("span", "cut", clean(run.fault));
  if (!run.counts) return made("span", "dim", "…");
  const { done, planned, invalid, left } = run.counts;
  const words = planned ? number(done) + " of " + number(planned) : number(done);
  return made("span", "", words, left && !run.playing ? made("span", "cut", " · incomplete") : "", invalid ? made("span", "cut", " · " + number(invalid) + " invalid") : "");
};

const cell = (name, kind, ...parts) => {
  const found = made("td", kind, ...parts);
  found.dataset.name = name;
  return found;
};

const fillRow = (row, run) => {
  const box = made("input");
  box.type = "checkbox";
  box.checked = chosen.has(run.key);
  box.dataset.name = "choose";
  box.setAttribute("aria-label", "Compare " + clean(run.name));
  box.addEventListener("change", () => { if (box.checked) chosen.add(run.key); else chosen.delete(run.key); drawCompare(); });
  const name = made("th", "", link(clean(run.name), runLink(run)), run.playing ? made("span", "now", " being played") : "");
  name.scope = "row";
  const folder = run.path.includes("/") ? run.path.slice(0, run.path.lastIndexOf("/") + 1) : "";
  if (run.audit || folder) name.append(made("span", "dim under", clean(folder) + (run.audit && folder ? " · " : "") + clean(run.audit)));
  const some = run.systems.slice(0, 3).map(clean).join(", ") + (run.systems.length > 3 ? " and " + (run.systems.length - 3) + " more" : "");
  redraw(row, cell("Compare", "", box), name, cell("Begun", "", minute(run.at)), cell("Systems", "", some), cell("Trials", "number", trials(run)),
    cell("Answers", "", run.counts ? labels(run.counts.labels) : ""), cell("Verdict", "", pill(run.verdict)),
    cell("Report", "", run.fault ? "" : report([run.key], made("span", "", "Report", made("span", "unseen", " of " + clean(run.name))))));
};

const fits = (run) => {
  const form = at("choices").elements;
  const words = form.words.value.trim().toLocaleLowerCase();
  return (!form.state.value || stateOf(run) === form.state.value) && (!form.verdict.value || run.verdict === form.verdict.value)
    && (!words || [run.path, run.name, run.audit, ...run.systems].join("\n").toLocaleLowerCase().includes(words));
};

export const drawRuns = () => {
  const kept = newest.filter((key) => fits(runs.get(key)));
  const body = at("runs").tBodies[0];
  const held = body.contains(document.activeElement) ? document.activeElement : null;
  const found = kept.slice(0, most).map((key) => {
    if (!rows.has(key)) { const row = made("tr"); rows.set(key, row); fillRow(row, runs.get(key)); }
    return rows.get(key);
  });
  for (const key of [...rows.keys()]) if (!runs.has(key)) rows.delete(key);
  body.replaceChildren(...found);
  if (held && held.isConnected) held.focus({ preventScroll: true });
  at("runs").hidden = !found.length;
  at("count").textContent = !runs.size ? "There is no run in this folder yet: harvest run AUDIT --out FOLDER plays one."
    : kept.length === runs.size ? counted(runs.size, "run") : number(kept.length) + " of " + counted(runs.size, "run");
  at("more").hidden = kept.length <= most;
  at("more").textContent = "Show " + number(Math.min(STEP, kept.length - most)) + " more";
  for (const key of [...chosen]) if (!runs.has(key)) chosen.delete(key);
  drawCompare();
  const verdicts = new Set([...runs.values()].map((one) => one.verdict).filter((one) => one));
  at("all").classList.toggle("judged", verdicts.size > 0);
  const select = at("choices").elements.verdict;
  for (const one of verdicts) if (![...select.options].some((option) => option.value === one)) select.append(Object.assign(made("option", "", one), { value: one }));
};

export const drawRow = (run) => {
  const row = rows.get(run.key);
  if (row) fillRow(row, run);
  if (row && row.isConnected !== fits(run)) drawRuns();
};

const drawCompare = () => {
  const keys = newest.filter((key) => chosen.has(key)).reverse();
  at("compare").hidden = !keys.length;
  const names = keys.map((key) => clean(runs.get(key).name));
  const able = keys.length > 1 && keys.length <= 8;
  const words = able ? "Compare " + names.join(", ") : names[0] + " is chosen: choose from two to eight runs to compare them";
  const part = able ? report(keys, words) : made("span", "", keys.length > 8 ? "At most eight runs can be compared" : words);
  at("compare").firstElementChild.replaceWith(part);
};

at("compare").querySelector("button").addEventListener("click", () => {
  const were = [...chosen];
  chosen.clear();
  for (const key of were) fillRow(rows.get(key), runs.get(key));
  drawCompare();
  at("count").scrollIntoView({ block: "nearest" });
});

at("choices").addEventListener("input", () => { most = FIRST; drawRuns(); });
at("choices").addEventListener("submit", (event) => event.preventDefault());
at("more").addEventListener("click", () => { most += STEP; drawRuns(); });
