"use strict";
/* What was said is only ever put in as text. An answer is shown as saved when the server says that it is on disk; until
   then it waits in this browser and is sent again under the same id, so that sending it twice changes nothing. */
(() => {
  const AHEAD = 6;
  const KEPT = 60;
  const at = (id) => document.getElementById(id);

  const made = (tag, kind, ...parts) => {
    const found = document.createElement(tag);
    if (kind) found.className = kind;
    found.append(...parts);
    return found;
  };

  // ---- words, in the language of those who judge ---------------------------------------------------------------------

  const words = JSON.parse(at("words").textContent);

  const say = (name, filled = {}) => words.words[name].replace(/\{(\w+)\}/g, (whole, key) => (key in filled ? String(filled[key]) : whole));

  const sayAll = () => {
    document.documentElement.lang = words.language;
    document.documentElement.dir = words.direction;
    document.title = say("title") + " – Harvest";
    for (const one of document.querySelectorAll("[data-word]")) one.textContent = say(one.dataset.word);
    for (const one of document.querySelectorAll("[data-label]")) one.setAttribute("aria-label", say(one.dataset.label));
    const [before, after] = words.direction === "rtl" ? ["→ ", " ←"] : ["← ", " →"];
    at("back").textContent = before + at("back").textContent;
    at("forth").textContent += after;
  };

  // ---- who asks ------------------------------------------------------------------------------------------------------

  const takeToken = () => {
    if (location.hash.length < 20) return;
    sessionStorage.setItem("token", location.hash.slice(1));
    history.replaceState(null, "", location.pathname);
  };

  const call = (method, path, body) =>
    fetch(path, {
      method,
      headers: { "Harvest-Token": sessionStorage.getItem("token") || "", ...(body ? { "Content-Type": "application/json" } : {}) },
      body,
      signal: AbortSignal.timeout(10000),
    });

  let trouble = "";

  const tellTrouble = (text) => {
    trouble = text;
    at("trouble").textContent = text;
    at("trouble").hidden = !text;
  };

  // ---- what waits to be sent: an entry of the browser's store each, so that two windows do not undo each other's -------

  let work = null;
  let sending = false;
  let pause = 0;
  let timer = 0;
  let counted = 0;

  const prefix = () => "harvest:" + work.key + ":";

  const unkept = new Map(); // what a browser that keeps nothing, or is full, would not take

  const waiting = () =>
    [...Object.keys(localStorage).filter((name) => name.startsWith(prefix())), ...unkept.keys()].sort();

  const waits = (name) => localStorage.getItem(name) || unkept.get(name);

  const drop = (name) => {
    localStorage.removeItem(name);
    unkept.delete(name);
  };

  const put = (entry) => {
    counted += 1;
    const place = String(Date.now()).padStart(15, "0") + String(counted).padStart(6, "0");
    const name = prefix() + place + ":" + entry.id;
    try {
      localStorage.setItem(name, JSON.stringify(entry));
    } catch {
      unkept.set(name, JSON.stringify(entry));
    }
    send();
  };

  const tellSaved = () => {
    const count = waiting().length;
    const said = at("saved");
    const text = count === 0 ? (work.done || "") : trouble ? say("waits", { n: count }) : say("saving");
    if (said.textContent !== text) said.textContent = text;
    said.className = count && trouble ? "waits" : "";
  };

  const later = (text) => {
    tellTrouble(text);
    pause = Math.min(pause * 2 || 500, 8000);
    clearTimeout(timer);
    timer = setTimeout(send, pause);
  };

  const send = async () => {
    if (sending || !work) return;
    sending = true;
    clearTimeout(timer);
    try {
      for (;;) {
        const [name] = waiting();
        if (name === undefined) break;
        tellSaved();
        const body = waits(name);
        if (!body) continue; // another window of the same person has sent it meanwhile
        let reply;
        let told;
        try {
          reply = await call("POST", "/api/answers", body);
          told = await reply.json();
        } catch {
          later(say("kept_here"));
          return;
        }
        if (reply.status === 401) {
          tellTrouble(say("new_link"));
          return;
        }
        if (reply.status >= 500 || reply.status === 408 || reply.status === 429) {
          later(say("not_saved", { why: told.error || say("server_failed") }));
          return;
        }
        pause = 0;
        if (reply.ok) {
          drop(name);
          tellTrouble("");
          work.done = say(JSON.parse(body).undo ? "undone" : "saved");
          work.progress = told.progress;
          if (told.question) {
            if (told.state) work.states[told.question] = told.state; else delete work.states[told.question];
            if (here() === told.question) show(false);
          }
        } else {
          const entry = JSON.parse(body);
          drop(name);
          if (entry.question) delete work.states[entry.question];
          tellTrouble(say("refused", { why: told.error }));
        }
        tellProgress();
      }
    } finally {
      sending = false;
      if (work) tellSaved();
    }
  };

  // ---- what is asked --------------------------------------------------------------------------------------------------

  let place = 0;
  const loaded = new Map();
  const lifted = new Set();

  const here = () => work.questions[place][0];
  const isOpen = (i) => !(work.questions[i][0] in work.states);

  const load = async (id) => {
    if (!loaded.has(id)) {
      const asked = call("GET", "/api/questions/" + id).then(async (reply) => {
        if (!reply.ok) throw new Error("not loaded");
        return reply.json();
      });
      loaded.set(id, asked);
      asked.catch(() => loaded.delete(id));
      if (loaded.size > KEPT) loaded.delete(loaded.keys().next().value);
    }
    return loaded.get(id);
  };

  const loadAhead = () => {
    for (let i = place, found = 0; i < work.questions.length && found < AHEAD; i += 1) {
      if (isOpen(i) || i === place + 1) {
        found += 1;
        load(work.questions[i][0]).catch(() => {});
      }
    }
  };

  const nextOpen = (from) => {
    for (let step = 0; step < work.questions.length; step += 1) {
      const i = (from + step) % work.questions.length;
      if (isOpen(i)) return i;
    }
    return -1;
  };

  const minutes = (seconds) => {
    if (seconds === null) return "";
    if (seconds < 90) return " · " + say("minutes_left", { n: Math.max(1, Math.round(seconds / 60)) });
    const whole = Math.round(seconds / 60);
    return " · " + (whole < 90 ? say("minutes_left", { n: whole }) : say("hours_left", { n: (whole / 60).toFixed(1) }));
  };

  const tellProgress = () => {
    const told = work.progress;
    const done = Object.keys(work.states).length;
    at("bar").max = told.of;
    at("bar").value = done;
    const all = told.people > 1 ? " · " + say("progress_of_all", { people: told.people, done: told.all_done, of: told.all_of }) : "";
    at("counts").textContent = say("progress", { done, of: told.of }) + all + (done < told.of ? minutes(told.seconds_left) : "");
    at("undo").disabled = work.made.length === 0;
    document.documentElement.dataset.done = String(done);
  };

  const choices = () => work.choices[work.questions[place][1]];

  const drawChoices = (state) => {
    const found = choices().map(([key, value, words]) => {
      const input = made("input", "");
      input.type = "radio";
      input.name = "value";
      input.dataset.key = key;
      input.value = JSON.stringify(value);
      input.checked = state !== undefined && state[0] === value;
      return made("label", "", input, made("kbd", "", key), made("span", "", words));
    });
    at("choices").replaceChildren(at("choices").firstElementChild, ...found);
  };

  const bubble = (one) => {
    const found = made("p", "said " + one.speaker + (one.asked ? " asked" : ""));
    found.dir = "auto";
    for (const [kind, words] of one.pieces) found.append(kind ? made("mark", "", words) : document.createTextNode(words));
    return found;
  };

  const documents = (sources) => {
    const found = made("div", "sources", made("p", "who", say("sources")));
    for (const [name, words] of sources) {
      const one = words ? made("details", "", made("summary", "", name), made("p", "said", words)) : made("p", "", name);
      one.dir = "auto";
      found.append(one);
    }
    return found;
  };

  const covered = (one, id) => {
    if (!one.cover || lifted.has(id)) return bubble(one);
    const button = made("button", "", say("view") + " (V)");
    button.type = "button";
    button.addEventListener("click", lift);
    return made("div", "cover" + (one.asked ? " asked" : ""), made("p", "", say("covered", { what: one.cover })), button);
  };

  const lift = () => {
    if (lifted.has(here())) return;
    lifted.add(here());
    show(false);
    at("conversation").focus();
  };

  const drawConversation = (told) => {
    const found = [];
    told.conversations.forEach((turns, i) => {
      const whole = made("div", "whole");
      const count = told.conversations.length;
      if (count > 1) whole.append(made("p", "part", told.titles[i] || say("part", { n: i + 1, of: count })));
      for (const one of turns) {
        whole.append(made("p", "who", say(one.speaker === "user" ? "user_turn" : "system_turn", { n: one.turn }) + (one.asked ? " – " + say("asked_about") : "")));
        whole.append(covered(one, told.id));
        if (one.sources) whole.append(documents(one.sources));
      }
      found.push(whole);
    });
    at("conversation").className = told.titles.length ? "pair" : "";
    at("conversation").replaceChildren(...found);
    at("votes").hidden = !told.votes.length;
    at("votes").replaceChildren(...(told.votes.length ? [made("p", "", say("votes")), ...told.votes.map((one) => made("p", "vote", one))] : []));
    at("wanted").textContent = told.wanted ? say("wanted", { text: told.wanted }) : "";
    const asked = at("conversation").querySelector("mark") || at("conversation").querySelector(".asked");
    const top = asked ? asked.getBoundingClientRect().top - at("conversation").getBoundingClientRect().top : 0;
    at("conversation").scrollTop += top - 60;
  };

  let over = false; // all are decided; nothing more is chosen before one of them is gone to

  const closeForm = (whether) => {
    over = whether;
    for (const part of ["choices", "note", "save"]) at(part).disabled = whether;
  };

  const show = async (moved) => {
    const id = here();
    const criterion = work.questions[place][1];
    const state = work.states[id];
    if (moved) {
      closeForm(false);
      tellSaved();
      drawChoices(state);
      at("note").value = state ? state[1] : "";
      at("asked").textContent = work.criteria[criterion] || criterion;
      at("place").textContent = say("place", { n: place + 1, of: work.questions.length }) + " · " + criterion + (state ? " · " + say("decided") : "");
      at("asked").focus();
    }
    document.documentElement.dataset.question = id;
    delete document.documentElement.dataset.shown;
    try {
      const told = await load(id);
      if (here() !== id) return;
      drawConversation(told);
      document.documentElement.dataset.shown = id;
      loadAhead();
    } catch {
      if (here() !== id) return;
      at("conversation").replaceChildren(made("p", "who", say("not_loaded")));
      clearTimeout(timer);
      timer = setTimeout(() => { send(); if (here() === id) show(false); }, 1000);
    }
  };

  const go = (i) => {
    if (i < 0 || i >= work.questions.length) return;
    place = i;
    show(true);
  };

  const back = () => go(over ? place : place - 1);

  const goOpen = (from) => {
    const i = nextOpen(from);
    if (i >= 0) go(i);
    else {
      go(Math.min(place, work.questions.length - 1));
      closeForm(true);
      at("asked").textContent = say("all_decided", { n: work.questions.length });
    }
  };

  // ---- deciding -------------------------------------------------------------------------------------------------------

  const save = () => {
    if (over) return;
    const chosen = at("choices").querySelector("input:checked");
    const id = here();
    if (!chosen) {
      at("saved").textContent = say("choose_first");
      return;
    }
    if (document.documentElement.dataset.shown !== id) {
      at("saved").textContent = say("not_shown");
      return;
    }
    const value = JSON.parse(chosen.value);
    const note = at("note").value;
    if (work.adjudicating && !note.trim()) {
      at("saved").textContent = say("say_why");
      at("saved").className = "waits";
      at("note").focus();
      return;
    }
    const before = work.states[id];
    if (!before || before[0] !== value || before[1] !== note) {
      const entry = { id: crypto.randomUUID(), question: id, value, note };
      work.states[id] = [value, note];
      work.made.push([entry.id, id]);
      put(entry);
    }
    tellProgress();
    goOpen(place + 1);
  };

  const undo = () => {
    const last = work.made.pop();
    if (!last) return;
    const [decision, id] = last;
    delete work.states[id];
    put({ id: crypto.randomUUID(), undo: decision });
    tellProgress();
    go(work.questions.findIndex((one) => one[0] === id));
  };

  const jump = () => {
    at("number").max = String(work.questions.length);
    at("number").value = String(place + 1);
    const listed = work.questions.map((one, i) => [work.states[one[0]], i]).filter(([state]) => state && state[0] === "unsure").slice(0, 30);
    at("unsure-list").replaceChildren(
      listed.length ? say("unsure_ones") + " " : "",
      ...listed.map(([, i]) => {
        const button = made("button", "", String(i + 1));
        button.type = "button";
        button.addEventListener("click", () => { at("jumper").close(); go(i); });
        return button;
      }),
    );
    at("jumper").showModal();
    at("number").select();
  };

  const KEYS = {
    n: [say("key_note"), () => at("note").focus()],
    s: [say("key_skip"), () => goOpen(place + 1)],
    z: [say("key_undo"), undo],
    j: [say("key_jump"), jump],
    v: [say("key_view"), lift],
    "?": [say("key_list"), () => openKeys()],
  };

  const choose = (key) => {
    const input = at("choices").querySelector('input[data-key="' + key + '"]');
    if (!input || over) return;
    input.checked = true;
    input.focus();
  };

  const listKeys = () => {
    const rows = [
      ...choices().map(([key, , words]) => [key, words]),
      ["Enter", say("key_enter")],
      ["← →", say("key_arrows")],
      ...Object.entries(KEYS).map(([key, [words]]) => [key.toUpperCase(), words]),
    ];
    at("list").replaceChildren(...rows.flatMap(([key, words]) => [made("dt", "", made("kbd", "", key)), made("dd", "", words)]));
  };

  const openKeys = () => {
    listKeys();
    at("keys").showModal();
  };

  const single = () => localStorage.getItem("harvest-single-keys") !== "off";

  const onKey = (event) => {
    if (!work || event.altKey || event.metaKey || document.querySelector("dialog[open]") || event.isComposing) return;
    const target = event.target;
    const writes = target === at("note");
    if (event.key === "Enter" && event.ctrlKey) { event.preventDefault(); save(); return; }
    if (event.ctrlKey) return;
    if (writes) {
      if (event.key === "Escape") at("asked").focus();
      return;
    }
    if (event.key === "Enter") {
      if (target.closest("button, a, summary")) return;
      event.preventDefault();
      if (!event.repeat) save();
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      event.preventDefault();
      if (event.key === "ArrowLeft") back(); else go(place + 1);
    } else if (single()) {
      const key = event.key.toLowerCase();
      if (choices().some(([one]) => one === key.toUpperCase())) { event.preventDefault(); choose(key.toUpperCase()); }
      else if (/^[0-9]$/.test(key)) at("saved").textContent = say("no_digits");
      else if (key in KEYS) { event.preventDefault(); if (!event.repeat || key === "s") KEYS[key][1](); }
    }
  };

  // ---- beginning ------------------------------------------------------------------------------------------------------

  const begin = async () => {
    takeToken();
    if (sending) {
      setTimeout(begin, 50);
      return;
    }
    sending = true; // what is saved while the work is asked for would be missing in it
    let reply;
    let told;
    try {
      reply = await call("GET", "/api/work");
      told = await reply.json();
    } catch {
      tellTrouble(say("unreachable"));
      setTimeout(begin, 1000);
      return;
    } finally {
      sending = false;
    }
    if (!reply.ok) {
      if (!work) at("asked").textContent = say("not_open");
      tellTrouble(told.error || say("server_failed"));
      return;
    }
    tellTrouble("");
    const known = work === null ? "" : here();
    work = told;
    for (const name of waiting()) {
      const entry = JSON.parse(waits(name));
      if (entry.undo) {
        work.made = work.made.filter(([decision, id]) => { if (decision === entry.undo) delete work.states[id]; return decision !== entry.undo; });
      } else {
        work.states[entry.question] = [entry.value, entry.note];
        if (!work.made.some(([decision]) => decision === entry.id)) work.made.push([entry.id, entry.question]);
      }
    }
    at("who").textContent = work.adjudicating ? say("deciding", { person: work.person }) : work.person;
    at("note-label").textContent = say(work.adjudicating ? "reason" : "note");
    at("note").required = work.adjudicating;
    tellProgress();
    const again = work.questions.findIndex((one) => one[0] === known);
    if (again < 0) goOpen(0); else { place = again; show(false); }
    document.documentElement.dataset.ready = "yes";
    pause = 0;
    send();
  };

  at("form").addEventListener("submit", (event) => { event.preventDefault(); save(); });
  at("back").addEventListener("click", back);
  at("forth").addEventListener("click", () => go(place + 1));
  at("open").addEventListener("click", () => goOpen(place + 1));
  at("undo").addEventListener("click", undo);
  at("jump").addEventListener("click", jump);
  at("help").addEventListener("click", openKeys);
  at("jump-form").addEventListener("submit", (event) => {
    event.preventDefault();
    at("jumper").close();
    go(Math.min(work.questions.length, Math.max(1, Math.round(Number(at("number").value)))) - 1);
  });
  at("jump-close").addEventListener("click", () => at("jumper").close());
  at("single").checked = single();
  at("single").addEventListener("change", () => localStorage.setItem("harvest-single-keys", at("single").checked ? "on" : "off"));
  document.addEventListener("keydown", onKey);
  window.addEventListener("online", send);
  window.addEventListener("hashchange", begin);
  window.addEventListener("beforeunload", (event) => { if (unkept.size || (trouble && work && waiting().length)) event.preventDefault(); });
  sayAll();
  begin();
})();
