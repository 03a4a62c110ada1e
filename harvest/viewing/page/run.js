// One run: its figures so far, all its attempts, and the way to the page on which it is judged.

import { at, clean, counted, link, made, minute, number, pill, redraw } from "./elements.js";
import { ask, live, load, numbers, opened, report, runs, wanted } from "./folder.js";
import { attemptItem, ending, summary, systemTable } from "./playing.js";

const STEP = 200; // attempts that are listed at once
let details = null; // of the run that is shown: what the server knew when it was asked
let listed = STEP;
let looked = ""; // the words by which they are chosen
let asked = 0;

export const refreshRun = (run) => {
  if (!details || details.key !== run.key) return;
  drawHead(run, live.get(run.key));
  if (Date.now() - asked > 4000 || !run.playing) fetchRun(run);
};

export const attemptsOf = async (run) => {
  if (!details || details.key !== run.key) details = await load("/api/runs/" + run.key);
  return details.attempts;
};

const fetchRun = async (run) => {
  asked = Date.now();
  try {
    const found = await load("/api/runs/" + run.key);
    if (opened() !== runs.get(run.key)) return;
    details = found;
    if (wanted().has("trial")) return;
    drawHead(runs.get(run.key), found);
    drawAttempts(runs.get(run.key));
  } catch (fault) {
    if (at("one").querySelector(".attempts")) at("one").querySelector(".attempts").replaceChildren(made("li", "warn", clean(fault.message)));
  }
};

// `left` is the address of the conversation that was left for it, whose row then has the focus again; returns whether
// there is one.
export const showRun = (run, left) => {
  if (!left) { listed = STEP; looked = ""; }
  details = details && details.key === run.key ? details : null;
  const words = Object.assign(made("input"), { type: "search", name: "words", maxLength: 200, value: looked });
  const form = made("form", "choices", made("label", "", "Words ", words));
  form.setAttribute("aria-label", "Which trials");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { listed = STEP; looked = words.value; drawAttempts(run); });
  const more = Object.assign(made("button", "more", "Show more"), { type: "button", hidden: true });
  more.addEventListener("click", () => { listed += STEP; drawAttempts(run); });
  const count = made("p", "count");
  count.setAttribute("role", "status");
  at("one").replaceChildren(made("p", "", link("← All runs", "#")), Object.assign(made("h2", "", clean(run.name)), { tabIndex: -1 }), made("div", "head"), judging(run),
    made("h3", "", "Trials"), form, count, made("ol", "attempts", made("li", "dim", "Loading…")), more);
  drawHead(run, details || live.get(run.key));
  if (details) drawAttempts(run);
  const row = details && left ? rowOf(run, left) : null;
  if (row) row.focus({ preventScroll: true });
  const centre = () => { if (row) centreFocus(3); };
  centre();
  fetchRun(run).then(centre);
  return row !== null;
};

// Several times, as rows that were never on the screen have the height that was guessed for them.
const centreFocus = (frames) => {
  const row = at("one").querySelector(".attempts a:focus");
  if (!row) return;
  row.scrollIntoView({ block: "center", behavior: "instant" });
  if (frames) requestAnimationFrame(() => centreFocus(frames - 1));
};

const rowOf = (run, left) => {
  const place = keptAttempts(run).findIndex((one) => numbers.every((name, i) => !left.has(name) || String(one[i]) === left.get(name)));
  if (place >= listed) { listed = place + STEP; drawAttempts(run); }
  return place < 0 ? null : at("one").querySelectorAll(".attempts a")[place];
};

const drawHead = (run, one) => {
  const known = [run.path === run.name ? "" : clean(run.path), clean(run.audit), run.at ? made("span", "whole", minute(run.at), " UTC") : "", counted(run.topics, "topic"), counted(run.systems.length, "system")];
  const facts = made("p", "dim", ...known.filter((part) => part).flatMap((part, i) => (i ? [" · ", part] : [part])));
  const state = run.playing ? made("span", "now", "being played") : run.counts && run.counts.left ? made("span", "cut", "incomplete: the command that played it resumes it") : "";
  redraw(at("one").querySelector(".head"), facts, made("p", "", state, state ? " " : "", pill(run.verdict), run.verdict ? " " : "", run.fault ? made("span", "cut", clean(run.fault)) : report([run.key], run.playing ? "Report so far" : "Report")),
    ...(one ? [summary(run, one), systemTable(one)] : []));
};

const keptAttempts = (run) => {
  const words = looked.trim().toLocaleLowerCase();
  return details.attempts.filter((one) => !words || [one[1], one[0], "trial " + one[2], one[4].join(" "), one[4].join(""), ending(one, run.playing)].join("\n").toLocaleLowerCase().includes(words));
};

const drawAttempts = (run) => {
  const kept = keptAttempts(run);
  redraw(at("one").querySelector(".attempts"), ...kept.slice(0, listed).map((one) => attemptItem(run, one, run.playing)));
  at("one").querySelector(".count").textContent = (kept.length === details.attempts.length ? "" : number(kept.length) + " of ") + counted(details.attempts.length, "attempt") + ", the latest first; completed unless marked otherwise"
    + (details.unlisted ? "; " + number(details.unlisted) + " earlier ones are not listed" : "") + (details.unreadable ? "; " + counted(details.unreadable, "line") + " of the recording cannot be read: harvest data verify says more" : "");
  const more = at("one").querySelector("button.more");
  more.hidden = kept.length <= listed;
  more.textContent = "Show " + number(Math.min(STEP, kept.length - listed)) + " more";
};

// ---- judging: a page of its own, which harvest judge page serves ----

const judging = (run) => {
  const found = made("details", "card judge", made("summary", "", "Judge this run"), made("div"));
  found.addEventListener("toggle", async () => {
    if (!found.open) return;
    try {
      const { schemas, open } = await load("/api/runs/" + run.key + "/judging");
      drawJudging(run, found.lastElementChild, schemas, open);
    } catch (fault) {
      found.lastElementChild.replaceChildren(made("p", "warn", clean(fault.message)));
    }
  });
  return found;
};

const drawJudging = (run, into, schemas, open) => {
  const told = made("p", "told");
  told.setAttribute("role", "status");
  const send = async (body) => {
    told.className = "told dim";
    told.textContent = body.close ? "Closing…" : "The questions are being prepared…";
    const reply = await ask("/api/runs/" + run.key + "/judge", { method: "POST", body: JSON.stringify(body) });
    const found = await reply.json();
    if (!found.error) { drawJudging(run, into, schemas, found.open); const next = into.querySelector("a, input"); if (next) next.focus(); return; }
    told.className = "told warn";
    told.textContent = clean(found.error);
  };
  const safely = (body) => send(body).catch(() => { told.className = "told warn"; told.textContent = "The server cannot be reached."; });
  if (open) {
    const way = Object.assign(link("Open the page of " + clean(open.author) + " on " + clean(open.criterion), open.link), { target: "_blank", rel: "noopener" });
    const close = Object.assign(made("button", "", "Close it"), { type: "button" });
    close.addEventListener("click", () => safely({ close: true }));
    into.replaceChildren(made("p", "", way, " ", close), made("p", "dim", "It is in a window of its own. Decisions are saved in the run at once; the page is closed with this one."), told);
    return;
  }
  const name = Object.assign(made("input"), { name: "author", required: true, maxLength: 100, autocomplete: "name" });
  const choice = made("select", "", ...schemas.map(([shown, schema, criteria]) => {
    const options = criteria.map((one) => Object.assign(made("option", "", clean(one)), { value: one }));
    for (const one of options) one.dataset.schema = schema;
    return Object.assign(made("optgroup", "", ...options), { label: clean(shown) });
  }));
  choice.name = "criterion";
  const sample = Object.assign(made("input"), { name: "sample", type: "number", min: 1, max: 1000000, placeholder: "all" });
  const form = made("form", "choices", made("label", "", "Your name ", name), made("label", "", "Criterion ", choice), made("label", "", "Rows drawn ", sample), made("button", "", "Begin"));
  form.setAttribute("aria-label", "Who judges what");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    safely({ author: name.value.trim(), schema: choice.selectedOptions[0].dataset.schema, criterion: choice.value, sample: Number(sample.value) || 0 });
  });
  into.replaceChildren(form, told);
};
