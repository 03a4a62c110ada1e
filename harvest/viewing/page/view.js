// The page: it follows the news, and shows what its address names.

import { refreshReading, showReading } from "./conversation.js";
import { at, clean, link, made } from "./elements.js";
import { ask, complete, newest, numbers, opened, runLink, runs, takeToken, tell, update, wanted } from "./folder.js";
import { drawRow, drawRuns } from "./list.js";
import { drawPlaying } from "./playing.js";
import { refreshRun, showRun } from "./run.js";
import { drawHistories } from "./watches.js";

let wait = 500;

const follow = async () => {
  try {
    const reply = await ask("/api/news");
    if (reply.status === 401) {
      tell("This link is not valid any more: open the link that harvest view printed when it was started.", true);
      return;
    }
    if (!reply.ok) throw new Error("refused");
    const words = new TextDecoder();
    const reader = reply.body.getReader();
    let begun = "";
    let first = true;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (begun + words.decode(value, { stream: true })).split("\n");
      begun = lines.pop();
      for (const line of lines) {
        take(JSON.parse(line), first);
        first = false;
        wait = 500;
      }
    }
  } catch { /* told below */ }
  tell("The page is not connected: harvest view was stopped, or is busy. What you see may be old.", true);
  wait = Math.min(2 * wait, 8000);
  setTimeout(follow, wait);
};

const take = (news, first) => {
  const sorted = update(news, first);
  if (first) at("folder").textContent = clean(news.folder);
  if (sorted) drawRuns(); else for (const one of news.runs || []) drawRow(one);
  if (news.histories) drawHistories();
  if (first || news.live || news.runs) drawPlaying();
  const shown = opened();
  if (first) route();
  else if (shown && (news.live || []).some((one) => one.key === shown.key)) {
    if (wanted().has("trial")) refreshReading(shown); else refreshRun(shown);
  }
  if (first || sorted) tell((complete ? "" : "Only a part of this folder is listed: it has too many subfolders. ") + "Connected: what happens in this folder appears here.", !complete);
  if (first) document.documentElement.dataset.ready = String(Math.round(performance.now()));
};

const shows = (name) => { for (const id of ["home", "one", "reading"]) at(id).hidden = id !== name; };

let before = ""; // the address that was shown before

const route = () => {
  if (takeToken()) { follow(); return; }
  const given = wanted();
  const left = wanted(before);
  before = location.hash;
  if (!given.get("run")) {
    const came = at("home").hidden;
    shows("home");
    document.title = "Runs – Harvest";
    if (came) at("main").focus();
    return;
  }
  const run = opened();
  if (!run) {
    shows("one");
    at("one").replaceChildren(made("p", "", link("← All runs", "#")), Object.assign(made("h2", "", "This run is not in the folder"), { tabIndex: -1 }), made("p", "", clean(given.get("run"))));
    at("one").querySelector("h2").focus();
    return;
  }
  document.title = clean(run.name) + " – Harvest";
  window.scrollTo(0, 0);
  if (given.has("trial")) { shows("reading"); showReading(run, true); return; }
  shows("one");
  const back = left.has("trial") && left.get("run") === given.get("run") ? left : null;
  if (!showRun(run, back)) at("one").querySelector("h2").focus();
};

// An address: what a report prints below a conversation, or the end of a report's own address.
const parse = (text) => {
  const found = new Map();
  const words = [...text.matchAll(/'((?:[^']|'"'"')*)'|(\S+)/g)].map((one) => (one[1] === undefined ? one[2] : one[1].replaceAll("'\"'\"'", "'")));
  for (let i = 0; i < words.length; i += 1) {
    if (/^--(system|topic|trial|attempt)$/.test(words[i])) { found.set(words[i].slice(2), words[i + 1] || ""); i += 1; }
    else if (words[i].includes("#")) {
      const [path, hash] = words[i].split("#");
      if (path && !path.endsWith(".html")) found.set("run", path);
      for (const part of hash.split("&")) { const [name, value] = part.split("="); try { found.set(name, decodeURIComponent(value || "")); } catch { /* not ours */ } }
    }
    else if (!["harvest", "show"].includes(words[i]) && !found.has("run")) found.set("run", words[i]);
  }
  return found;
};

at("finder").addEventListener("submit", (event) => {
  event.preventDefault();
  const found = parse(at("wanted").value.trim());
  const given = (found.get("run") || "").replace(/^\.\//, "").replace(/\/$/, "");
  const matches = newest.map((key) => runs.get(key)).filter((one) => !given || one.path === given || given.endsWith("/" + one.path) || one.path.endsWith("/" + given) || one.name === given.slice(given.lastIndexOf("/") + 1));
  const run = matches.find((one) => one.path === given) || (given ? matches[0] : opened());
  const missing = ["system", "topic", "trial"].filter((name) => !found.get(name));
  if (!run) tell("There is no such run in this folder: " + clean(given || "name a run"), true);
  else if (missing.length === 3) location.hash = runLink(run);
  else if (missing.length) tell("The address of a conversation needs " + missing.map((name) => "--" + name).join(" and ") + ", as in harvest show run-1 --system A --topic M001 --trial 2", true);
  else location.hash = runLink(run, numbers.filter((name) => found.has(name)).map((name) => [name, found.get(name)]));
});

window.addEventListener("hashchange", route);
if (!takeToken() && !sessionStorage.getItem("view")) tell("Open the link that harvest view printed when it was started.", true);
else follow();
