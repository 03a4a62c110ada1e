"use strict";
/* The server sends what is in the files; it is only ever put in as text. What is looked at stands in the address. */
(() => {
  const FIRST = 1500; // rows that are drawn at once
  const STEP = 200;
  const at = (id) => document.getElementById(id);

  const { made } = harvestReading({ system: [], counted: [] });

  // Characters that steer a terminal or turn the direction of text are shown by their code.
  const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;
  const clean = (text) => String(text).replace(UNSEEN, (one) => "<U+" + one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + ">");
  const number = (value) => value.toLocaleString("en");
  const counted = (count, one) => number(count) + " " + one + (count === 1 ? "" : "s");
  const minute = (stamp) => clean(stamp).slice(0, 16).replace("T", " ");

  const NAMES = { o: "o", x: "x", "!": "lost", "?": "open" };
  const mark = (label) => made("span", "mark " + (NAMES[label] || "none"), clean(label));
  const WORSE = ["changed", "alarm", "fell", "rose", "could not be measured"];
  const pill = (verdict) => {
    if (!verdict) return "";
    const kind = verdict === "could not be measured" ? "nothing" : verdict.replace(" ", "-");
    return made("span", "verdict " + kind, verdict);
  };

  const link = (words, href, kind) => {
    const found = made("a", kind, words);
    found.href = href;
    return found;
  };

  // ---- who asks ------------------------------------------------------------------------------------------------------

  const takeToken = () => {
    const given = location.hash.slice(1);
    if (given.length < 20 || given.includes("=")) return false;
    sessionStorage.setItem("view", given);
    history.replaceState(null, "", location.pathname);
    return true;
  };

  const ask = (path, more = {}) =>
    fetch(path, { cache: "no-store", headers: { "Harvest-Token": sessionStorage.getItem("view") || "", ...(more.body ? { "Content-Type": "application/json" } : {}) }, ...more });

  const load = async (path) => {
    const reply = await ask(path);
    const found = await reply.json();
    if (!reply.ok) throw new Error(found.error);
    return found;
  };

  const tell = (words, bad) => {
    if (at("state").textContent !== words) at("state").textContent = words;
    at("state").className = bad ? "warn" : "dim";
  };

  // ---- the news ------------------------------------------------------------------------------------------------------

  const runs = new Map();
  const live = new Map();
  let histories = [];
  let complete = true;
  let newest = []; // runs, the latest first
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
    if (first) { runs.clear(); live.clear(); at("folder").textContent = clean(news.folder); }
    if ("complete" in news) complete = news.complete;
    const sorted = first || (news.gone && news.gone.length > 0) || (news.runs || []).some((one) => !runs.has(one.key));
    for (const one of news.runs || []) runs.set(one.key, one);
    for (const key of news.gone || []) { runs.delete(key); live.delete(key); }
    for (const one of news.live || []) live.set(one.key, one);
    for (const key of [...live.keys()]) if (!runs.has(key)) live.delete(key);
    if (sorted) newest = [...runs.values()].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.path < b.path ? -1 : 1)).map((one) => one.key);
    if (sorted) drawRuns(); else for (const one of news.runs || []) drawRow(one);
    if (news.histories) { histories = news.histories; drawHistories(); }
    if (first || news.live || news.runs) drawPlaying();
    const shown = opened();
    if (first) route();
    else if (shown && (news.live || []).some((one) => one.key === shown.key)) refresh(shown);
    if (first || sorted) tell((complete ? "" : "Only a part of this folder is listed: it has too many subfolders. ") + "Connected: what happens in this folder appears here.", !complete);
    if (first) document.documentElement.dataset.ready = String(Math.round(performance.now()));
  };

  // ---- runs that are being played --------------------------------------------------------------------------------------

  // Draws an element anew; what had the focus in it keeps it.
  const redraw = (element, ...parts) => {
    const held = element.contains(document.activeElement) ? document.activeElement.getAttribute("href") || document.activeElement.dataset.name : null;
    element.replaceChildren(...parts.filter((one) => one !== ""));
    if (held === null) return;
    const again = [...element.querySelectorAll("a, button, input, select, [tabindex]")].find((one) => (one.getAttribute("href") || one.dataset.name) === held);
    if (again) again.focus({ preventScroll: true });
  };

  const remaining = (due) => {
    const seconds = due - Date.now() / 1000;
    if (seconds < -30) return "slower than before";
    const minutes = Math.max(1, Math.round(seconds / 60));
    return "about " + (minutes < 90 ? minutes + " min" : (minutes / 60).toFixed(1) + " h") + " left";
  };

  const labels = (counts) => {
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

  const runLink = (run, more) =>
    "#" + [["run", run.path], ...(more || [])].map(([name, value]) => name + "=" + encodeURIComponent(String(value).toWellFormed?.() ?? value)).join("&");

  const ofTrial = (run, [system, topic, trial, attempt]) =>
    runLink(run, [["system", system], ["topic", topic], ["trial", trial], ["attempt", attempt]]);

  const ending = ([, , , , , outcome, reason], playing) =>
    outcome ? outcome + (outcome === "invalid" && reason ? " (" + reason + ")" : "") : playing ? "being played" : "interrupted";

  const attemptItem = (run, one, playing) => {
    const [system, topic, trial, attempt, own] = one;
    const item = link("", ofTrial(run, one));
    item.append(
      made("b", "", clean(topic) + " · " + clean(system) + " · trial " + number(trial) + (attempt > 1 ? ", attempt " + attempt : "")),
      made("span", "", ...own.slice(0, 60).map(mark)),
      made("span", one[5] === "invalid" ? "cut" : "dim", clean(ending(one, playing))),
    );
    return made("li", "", item);
  };

  const systemTable = (one) => {
    const body = made("tbody");
    for (const [name, planned, done, invalid, own] of one.systems) {
      const bar = made("progress");
      bar.max = Math.max(1, planned);
      bar.value = Math.min(done, planned);
      bar.setAttribute("aria-label", "Trials of " + clean(name));
      body.append(made("tr", "", Object.assign(made("th", "", clean(name)), { scope: "row" }), made("td", "", planned ? bar : ""),
        made("td", "number", number(done) + (planned ? " of " + number(planned) : "")), made("td", "", invalid ? counted(invalid, "invalid attempt") : ""),
        made("td", "", labels(own))));
    }
    return made("div", "wide", made("table", "systems", body));
  };

  const summary = (run, one) => {
    const done = one.systems.reduce((sum, [, , count]) => sum + count, 0);
    const planned = one.systems.reduce((sum, [, count]) => sum + count, 0);
    const left = made("span", "left", one.due !== null && one.left ? remaining(one.due) : "");
    if (one.due !== null && one.left) left.dataset.due = String(one.due);
    const parts = [made("b", "", planned ? number(done) + " of " + counted(planned, "trial") : counted(done, "trial")), left];
    for (const [reason, count] of one.failures) parts.push(made("span", "cut", counted(count, "invalid attempt") + ": " + clean(reason)));
    return made("p", "summary", ...parts.flatMap((part) => [part, " "]));
  };

  const drawPlaying = () => {
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

  // ---- all runs --------------------------------------------------------------------------------------------------------

  const rows = new Map();
  const chosen = new Set();
  let most = FIRST;

  const stateOf = (run) => {
    if (run.playing) return "playing";
    if (run.fault) return "faulty";
    if (!run.counts) return "";
    return run.counts.left ? "incomplete" : "complete";
  };

  const report = (keys, words) => {
    const found = link(words, "/reports/" + keys.join("+") + "/report.html");
    found.addEventListener("click", () => tell("The report is being made, which takes a moment for a large run…", false));
    return found;
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

  const drawRuns = () => {
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
    const select = at("choices").elements.verdict;
    for (const one of verdicts) if (![...select.options].some((option) => option.value === one)) select.append(Object.assign(made("option", "", one), { value: one }));
  };

  const drawRow = (run) => {
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

  // ---- watched audits --------------------------------------------------------------------------------------------------

  const table = ({ head, rows: lines, right, caption }) => {
    const top = made("thead", "", made("tr", "", ...head.map((one, i) => Object.assign(made("th", right[i] ? "number" : "", clean(one)), { scope: "col" }))));
    const body = made("tbody", "", ...lines.map((line) => made("tr", "", ...line.map((one, i) => (i ? made("td", right[i] ? "number" : "", clean(one)) : Object.assign(made("th", "", clean(one)), { scope: "row" }))))));
    return scrolled(made("table", "", top, body), caption);
  };

  // What may be wider than the screen is scrolled by itself, also by keys.
  const scrolled = (inner, name) => {
    const found = made("div", "wide", inner);
    found.tabIndex = 0;
    found.setAttribute("role", "group");
    found.setAttribute("aria-label", clean(name));
    return found;
  };

  const picture = (svg, words) => {
    const image = made("img", "chart");
    image.alt = clean(words);
    image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    image.addEventListener("load", () => URL.revokeObjectURL(image.src), { once: true });
    return image;
  };

  const openHistory = async (one, into) => {
    into.replaceChildren(made("p", "dim", "Loading…"));
    try {
      const found = await load("/api/histories/" + one.key);
      const parts = found.series.flatMap((each) => [made("h3", "", clean(each.name)), scrolled(picture(each.svg, each.words), "Chart of " + each.name),
        ...each.blocks.map((block) => ("table" in block ? table(block.table) : made("p", block.tone || "", clean(block.text || ""))))]);
      const list = made("ol", "looks", ...[...one.looks].reverse().map(([verdict, when, name, path]) => {
        const run = [...runs.values()].find((each) => each.path === path);
        return made("li", "", pill(verdict), " " + minute(when) + " ", run ? link(clean(name), runLink(run)) : clean(name), " ", run ? report([run.key], "report of " + clean(name)) : made("span", "dim", "this run is not in the folder"));
      }));
      into.replaceChildren(...parts, made("h3", "", "Its audits, the latest first"), list,
        one.earlier ? made("p", "dim", counted(one.earlier, "earlier audit") + " not listed; harvest watch history prints them") : "");
      for (const part of into.querySelectorAll(".wide")) part.classList.toggle("cut", part.scrollWidth > part.clientWidth + 1);
    } catch (fault) {
      into.replaceChildren(made("p", "warn", "It cannot be shown: " + clean(fault.message)));
    }
  };

  const drawHistories = () => {
    at("watches").hidden = !histories.length;
    const there = new Map([...at("histories").children].map((one) => [one.dataset.key, one]));
    for (const one of histories) {
      let found = there.get(one.key);
      there.delete(one.key);
      if (!found) {
        found = made("details", "card", made("summary"), made("div"));
        found.dataset.key = one.key;
        found.addEventListener("toggle", () => { if (found.open) openHistory(histories.find((each) => each.key === one.key), found.lastElementChild); });
        at("histories").append(found);
      }
      const last = one.looks[one.looks.length - 1];
      const strip = made("span", "strip", ...one.looks.map(([verdict]) => made("i", WORSE.includes(verdict) ? "bad" : verdict === "same" || verdict === "back" ? "good" : "")));
      strip.setAttribute("aria-hidden", "true");
      found.firstElementChild.replaceChildren(made("b", "", clean(one.path)), " ", last ? pill(last[0]) : "", " ", last ? minute(last[1]) : "", " ",
        one.fault ? made("span", "cut", clean(one.fault)) : made("span", "dim", counted(one.looks.length + one.earlier, "audit")), " ", strip);
      if (found.open) openHistory(one, found.lastElementChild);
    }
    for (const gone of there.values()) gone.remove();
  };

  // ---- one run ---------------------------------------------------------------------------------------------------------

  const wanted = () => {
    const found = new Map();
    for (const part of location.hash.slice(1).split("&")) {
      const [name, ...value] = part.split("=");
      try { found.set(name, decodeURIComponent(value.join("="))); } catch { /* not ours */ }
    }
    return found;
  };

  const opened = () => {
    const path = wanted().get("run");
    return path === undefined ? undefined : [...runs.values()].find((one) => one.path === path);
  };

  let details = null; // of the run that is shown: what the server knew when it was asked
  let listed = STEP;
  let asked = 0;

  const refresh = (run) => {
    if (wanted().has("trial")) refreshReading(run);
    else if (details && details.key === run.key) {
      drawHead(run, live.get(run.key));
      if (Date.now() - asked > 4000 || !run.playing) fetchRun(run);
    }
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

  const showRun = (run) => {
    listed = STEP;
    details = details && details.key === run.key ? details : null;
    const words = Object.assign(made("input"), { type: "search", name: "words", maxLength: 200 });
    const form = made("form", "choices", made("label", "", "Words ", words));
    form.setAttribute("aria-label", "Which trials");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => { listed = STEP; drawAttempts(run); });
    const more = Object.assign(made("button", "more", "Show more"), { type: "button", hidden: true });
    more.addEventListener("click", () => { listed += STEP; drawAttempts(run); });
    const count = made("p", "count");
    count.setAttribute("role", "status");
    at("one").replaceChildren(made("p", "", link("← All runs", "#")), Object.assign(made("h2", "", clean(run.name)), { tabIndex: -1 }), made("div", "head"), judging(run),
      made("h3", "", "Trials"), form, count, made("ol", "attempts", made("li", "dim", "Loading…")), more);
    drawHead(run, details || live.get(run.key));
    if (details) drawAttempts(run);
    fetchRun(run);
  };

  // ---- judging: a page of its own, which harvest judge page serves --------------------------------------------------------

  const judging = (run) => {
    const found = made("details", "card judge", made("summary", "", "Judge this run"), made("div"));
    found.addEventListener("toggle", async () => {
      if (!found.open) return;
      try {
        const { criteria, open } = await load("/api/runs/" + run.key + "/judging");
        drawJudging(run, found.lastElementChild, criteria, open);
      } catch (fault) {
        found.lastElementChild.replaceChildren(made("p", "warn", clean(fault.message)));
      }
    });
    return found;
  };

  const drawJudging = (run, into, criteria, open) => {
    const told = made("p", "told");
    told.setAttribute("role", "status");
    const send = async (body) => {
      told.className = "told dim";
      told.textContent = body.close ? "Closing…" : "The questions are being prepared…";
      const reply = await ask("/api/runs/" + run.key + "/judge", { method: "POST", body: JSON.stringify(body) });
      const found = await reply.json();
      if (!found.error) { drawJudging(run, into, criteria, found.open); const next = into.querySelector("a, input"); if (next) next.focus(); return; }
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
    const choice = made("select", "", ...criteria.map((one) => Object.assign(made("option", "", clean(one)), { value: one })));
    choice.name = "criterion";
    const sample = Object.assign(made("input"), { name: "sample", type: "number", min: 1, max: 1000000, placeholder: "all" });
    const form = made("form", "choices", made("label", "", "Your name ", name), made("label", "", "Criterion ", choice), made("label", "", "Rows drawn ", sample), made("button", "", "Begin"));
    form.setAttribute("aria-label", "Who judges what");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      safely({ author: name.value.trim(), criterion: choice.value, sample: Number(sample.value) || 0 });
    });
    into.replaceChildren(form, told);
  };

  const drawHead = (run, one) => {
    const facts = made("p", "dim", [run.path === run.name ? "" : clean(run.path), clean(run.audit), minute(run.at) + " UTC", counted(run.topics, "topic"), counted(run.systems.length, "system")].filter((part) => part).join(" · "));
    const state = run.playing ? made("span", "now", "being played") : run.counts && run.counts.left ? made("span", "cut", "incomplete: the command that played it resumes it") : "";
    redraw(at("one").querySelector(".head"), facts, made("p", "", state, state ? " " : "", pill(run.verdict), run.verdict ? " " : "", run.fault ? made("span", "cut", clean(run.fault)) : report([run.key], run.playing ? "Report so far" : "Report")),
      ...(one ? [summary(run, one), systemTable(one)] : []));
  };

  const drawAttempts = (run) => {
    const words = at("one").querySelector("input[name=words]").value.trim().toLocaleLowerCase();
    const kept = details.attempts.filter((one) => !words || [one[1], one[0], "trial " + one[2], one[4].join(" "), one[4].join(""), ending(one, run.playing)].join("\n").toLocaleLowerCase().includes(words));
    redraw(at("one").querySelector(".attempts"), ...kept.slice(0, listed).map((one) => attemptItem(run, one, run.playing)));
    at("one").querySelector(".count").textContent = (kept.length === details.attempts.length ? "" : number(kept.length) + " of ") + counted(details.attempts.length, "attempt") + ", the latest first"
      + (details.unlisted ? "; " + number(details.unlisted) + " earlier ones are not listed" : "") + (details.unreadable ? "; " + counted(details.unreadable, "line") + " of the recording cannot be read: harvest data verify says more" : "");
    const more = at("one").querySelector("button.more");
    more.hidden = kept.length <= listed;
    more.textContent = "Show " + number(Math.min(STEP, kept.length - listed)) + " more";
  };

  // ---- one conversation ------------------------------------------------------------------------------------------------

  let read = ""; // what of the conversation was there when it was read

  const numbers = ["system", "topic", "trial", "attempt"];

  const seen = (run) => {
    const given = wanted();
    const of = (live.get(run.key) || { attempts: [] }).attempts.find((one) => numbers.every((name, i) => String(one[i]) === given.get(name)));
    return of ? JSON.stringify(of.slice(4)) : null;
  };

  const refreshReading = (run) => {
    const now = seen(run);
    if (now !== null && now !== read) showReading(run, false);
  };

  const neighbours = (found) => {
    const every = details && details.attempts ? details.attempts : [];
    const here = every.findIndex((one) => numbers.every((name, i) => one[i] === found[name]));
    return here < 0 ? [undefined, undefined] : [every[here - 1], every[here + 1]];
  };

  const showReading = async (run, moved) => {
    const given = wanted();
    const hash = location.hash;
    read = seen(run) || "";
    if (moved) at("reading").replaceChildren(made("p", "", link("← " + clean(run.name), runLink(run))), Object.assign(made("h2", "", "Loading…"), { tabIndex: -1 }));
    try {
      if (!details || details.key !== run.key) details = await load("/api/runs/" + run.key);
      const query = new URLSearchParams(numbers.filter((name) => given.has(name)).map((name) => [name, given.get(name)]));
      const found = await load("/api/runs/" + run.key + "/conversation?" + query);
      if (location.hash !== hash) return;
      const reading = harvestReading(found.index);
      const title = reading.named(0);
      const [before, after] = neighbours(found);
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

  // ---- addresses -------------------------------------------------------------------------------------------------------

  const shows = (name) => { for (const id of ["home", "one", "reading"]) at(id).hidden = id !== name; };

  const route = () => {
    if (takeToken()) { follow(); return; }
    const given = wanted();
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
    showRun(run);
    at("one").querySelector("h2").focus();
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
})();
