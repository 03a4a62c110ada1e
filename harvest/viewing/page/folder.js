// What the server says of the folder: its answers, the runs and histories by the last news, and their addresses.

import { at, link } from "./elements.js";

export const takeToken = () => {
  const given = location.hash.slice(1);
  if (given.length < 20 || given.includes("=")) return false;
  sessionStorage.setItem("view", given);
  history.replaceState(null, "", location.pathname);
  return true;
};

export const ask = (path, more = {}) =>
  fetch(path, { cache: "no-store", headers: { "Harvest-Token": sessionStorage.getItem("view") || "", ...(more.body ? { "Content-Type": "application/json" } : {}) }, ...more });

export const load = async (path) => {
  const reply = await ask(path);
  const found = await reply.json();
  if (!reply.ok) throw new Error(found.error);
  return found;
};

export const tell = (words, bad) => {
  if (at("state").textContent !== words) at("state").textContent = words;
  at("state").className = bad ? "warn" : "dim";
};

export const runs = new Map();
export const live = new Map(); // by key, what is told of runs that are being played
export let histories = [];
export let complete = true;
export let newest = []; // keys of runs, the latest first

// Takes in a piece of news, and returns whether the list has other runs than before.
export const update = (news, first) => {
  if (first) { runs.clear(); live.clear(); }
  if ("complete" in news) complete = news.complete;
  if (news.histories) histories = news.histories;
  const sorted = first || (news.gone && news.gone.length > 0) || (news.runs || []).some((one) => !runs.has(one.key));
  for (const one of news.runs || []) runs.set(one.key, one);
  for (const key of news.gone || []) { runs.delete(key); live.delete(key); }
  for (const one of news.live || []) live.set(one.key, one);
  for (const key of [...live.keys()]) if (!runs.has(key)) live.delete(key);
  if (sorted) newest = [...runs.values()].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.path < b.path ? -1 : 1)).map((one) => one.key);
  return sorted;
};

export const runLink = (run, more) =>
  "#" + [["run", run.path], ...(more || [])].map(([name, value]) => name + "=" + encodeURIComponent(String(value).toWellFormed?.() ?? value)).join("&");

export const ofTrial = (run, [system, topic, trial, attempt]) =>
  runLink(run, [["system", system], ["topic", topic], ["trial", trial], ["attempt", attempt]]);

export const numbers = ["system", "topic", "trial", "attempt"];

export const wanted = (hash = location.hash) => {
  const found = new Map();
  for (const part of hash.slice(1).split("&")) {
    const [name, ...value] = part.split("=");
    try { found.set(name, decodeURIComponent(value.join("="))); } catch { /* not ours */ }
  }
  return found;
};

export const opened = () => {
  const path = wanted().get("run");
  return path === undefined ? undefined : [...runs.values()].find((one) => one.path === path);
};

export const report = (keys, words) => {
  const found = link(words, "/reports/" + keys.join("+") + "/report.html");
  found.addEventListener("click", () => tell("The report is being made, which takes a moment for a large run…", false));
  return found;
};
