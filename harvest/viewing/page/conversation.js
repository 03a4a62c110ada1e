// One conversation, as the report shows it, also while it is being played.

import { at, clean, link, made, redraw } from "./elements.js";
import { live, load, numbers, ofTrial, report, runLink, wanted } from "./folder.js";
import { attemptsOf } from "./run.js";

let read = ""; // what of the conversation was there when it was read

const seen = (run) => {
  const given = wanted();
  const of = (live.get(run.key) || { attempts: [] }).attempts.find((one) => numbers.every((name, i) => String(one[i]) === given.get(name)));
  return of ? JSON.stringify(of.slice(4)) : null;
};

export const refreshReading = (run) => {
  const now = seen(run);
  if (now !== null && now !== read) showReading(run, false);
};

const neighbours = (every, found) => {
  const here = every.findIndex((one) => numbers.every((name, i) => one[i] === found[name]));
  return here < 0 ? [undefined, undefined] : [every[here - 1], every[here + 1]];
};

export const showReading = async (run, moved) => {
  const given = wanted();
  const hash = location.hash;
  read = seen(run) || "";
  if (moved) at("reading").replaceChildren(made("p", "", link("← " + clean(run.name), runLink(run))), Object.assign(made("h2", "", "Loading…"), { tabIndex: -1 }));
  try {
    const every = await attemptsOf(run);
    const query = new URLSearchParams(numbers.filter((name) => given.has(name)).map((name) => [name, given.get(name)]));
    const found = await load("/api/runs/" + run.key + "/conversation?" + query);
    if (location.hash !== hash) return;
    const reading = harvestReading(found.index);
    const title = reading.named(0);
    const [before, after] = neighbours(every, found);
    const ways = made("p", "ways", link("← " + clean(run.name), runLink(run)));
    for (const [one, words, name] of [[before, "Later one (←)", "later"], [after, "Earlier one (→)", "earlier"]]) {
      if (!one) continue;
      const way = link(words, ofTrial(run, one));
      way.dataset.name = name;
      way.dataset.way = name;
      ways.append(" ", way);
    }
    const others = found.attempts.filter((one) => one !== found.attempt).map((one) => link("attempt " + one, ofTrial(run, [found.system, found.topic, found.trial, one])));
    const inReport = report([run.key], "In the report");
    inReport.href += "#" + numbers.map((name) => name + "=" + encodeURIComponent(found[name])).join("&");
    redraw(at("reading"), ways, Object.assign(made("h2", "", title), { tabIndex: -1 }),
      made("p", "", inReport, ...others.flatMap((one) => [" · ", one])), reading.conversation(0, found.body));
  } catch (fault) {
    if (location.hash !== hash) return;
    at("reading").replaceChildren(made("p", "", link("← " + clean(run.name), runLink(run))), Object.assign(made("h2", "", "This conversation cannot be shown"), { tabIndex: -1 }), made("p", "warn", clean(fault.message)));
  }
  if (moved && location.hash === hash) { const title = at("reading").querySelector("h2"); if (title) title.focus(); }
  document.documentElement.dataset.read = String(Date.now());
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName) || at("reading").hidden) return;
  const ways = { ArrowLeft: "[data-way=later]", ArrowRight: "[data-way=earlier]", Escape: ".ways a" };
  const way = ways[event.key] && at("reading").querySelector(ways[event.key]);
  if (way) { event.preventDefault(); location.hash = way.getAttribute("href"); }
});
