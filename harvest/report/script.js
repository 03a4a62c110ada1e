"use strict";
// Shows what lies in the page as JSON. Whatever a system wrote gets into the page as text (textContent) and in no other
// way; what is looked at stands in the address, so that a link leads to it.
(() => {
  const at = (id) => document.getElementById(id);
  const index = JSON.parse(at("index").textContent);
  const count = index.system.length;
  const counted = new Uint8Array(count);
  for (const place of index.counted) counted[place] = 1;
  const read = new Map();
  const waiting = new Map();
  const STEP = 100;
  let rows = [];
  let drawn = 0;
  let came = null;

  const made = (tag, name, ...inner) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    for (const one of inner) if (one !== "" && one !== null && one !== undefined) element.append(one);
    return element;
  };

  const state = () => {
    const hash = location.hash.slice(1);
    const found = new Map();
    if (!hash.includes("=")) return found;
    for (const part of hash.split("&")) {
      const [name, ...value] = part.split("=");
      try { found.set(name, decodeURIComponent(value.join("="))); } catch { /* not ours */ }
    }
    return found;
  };

  const link = (entries) =>
    "#" + [...entries].filter(([, value]) => value !== "").map(([name, value]) => name + "=" + encodeURIComponent(value)).join("&");

  const NAMES = { o: "o", x: "x", "!": "lost", "?": "open" };
  const mark = (label) => made("span", "mark " + (NAMES[label] || "none"), label);

  // ---- which conversations -----------------------------------------------------------------------------------------

  const inTree = (wanted) => {
    const tree = (index.trees || [])[Number(wanted.get("tree"))];
    if (!tree) return null;
    const from = Number(wanted.get("node"));
    const to = wanted.has("end") ? from + 1 : from + (tree.sizes[from] || 1);
    return (place) => tree.ends[place] >= from && tree.ends[place] < to;
  };

  const chosen = (wanted) => {
    const tests = [];
    const of = (name, list, column) => {
      if (!wanted.has(name)) return;
      const value = list.indexOf(wanted.get(name));
      tests.push((place) => column[place] === value);
    };
    of("system", index.systems, index.system);
    of("topic", index.topics, index.topic);
    if (wanted.has("outcome")) of("outcome", index.ends, index.end);
    if (wanted.has("labels")) tests.push((place) => index.labels[place] === wanted.get("labels"));
    if (wanted.has("tree")) {
      const test = inTree(wanted);
      if (test) tests.push(test);
    }
    if (wanted.has("words")) tests.push((place) => (held.get(fold(wanted.get("words"))) || counted)[place] === 1);
    const found = [];
    for (let place = 0; place < count; place++) if (tests.every((test) => test(place))) found.push(place);
    return found;
  };

  const fold = (text) => text.toLowerCase();

  // By words, in which conversations they stand; texts are read one chunk after the other, and only when asked for.
  const held = new Map();

  const search = async (words) => {
    const places = new Uint8Array(count);
    for (let number = 0; number < index.chunks.length; number++) {
      if (state().get("words") === undefined || fold(state().get("words")) !== words) return false;
      at("shown").textContent = "Searching: " + (number + 1) + " of " + index.chunks.length + " parts …";
      const bodies = await chunk(number);
      bodies.forEach((body, place) => {
        const has = (text) => text !== undefined && fold(text).includes(words);
        if ((body.turns || []).some((one) => has(one.said) || has(one.text))) places[index.chunks[number] + place] = 1;
      });
    }
    held.set(words, places);
    return true;
  };

  // The conversation that an address names, whether it is listed or not; the attempt that counts, if it names none.
  const opened = (wanted) => {
    if (!wanted.has("trial")) return -1;
    const own = new Map([...wanted].filter(([name]) => name === "system" || name === "topic"));
    const trial = Number(wanted.get("trial"));
    const fits = chosen(own).filter((place) => index.trial[place] === trial);
    if (wanted.has("attempt")) return fits.find((place) => index.attempt[place] === Number(wanted.get("attempt"))) ?? -1;
    return fits.find((place) => counted[place]) ?? fits[0] ?? -1;
  };

  const named = (place) =>
    index.systems[index.system[place]] + " · " + index.topics[index.topic[place]] + " · trial " + index.trial[place]
    + (index.attempt[place] > 1 || !counted[place] ? " · attempt " + index.attempt[place] : "");

  const to = (place) => {
    const entries = new Map();
    entries.set("topic", index.topics[index.topic[place]]);
    entries.set("system", index.systems[index.system[place]]);
    entries.set("trial", String(index.trial[place]));
    if (!counted[place]) entries.set("attempt", String(index.attempt[place]));
    return link(entries);
  };

  const row = (place) => {
    const marks = made("span", "", ...[...index.labels[place].slice(0, 60)].map(mark));
    const anchor = made("a", "", made("b", "", named(place)), marks, made("span", "dim", index.ends[index.end[place]]));
    anchor.href = to(place);
    return made("li", "", anchor);
  };

  const draw = (most) => {
    const list = at("list");
    const upTo = Math.min(rows.length, most);
    const part = document.createDocumentFragment();
    for (; drawn < upTo; drawn++) part.append(row(rows[drawn]));
    list.append(part);
    at("more").hidden = drawn >= rows.length;
    at("more").textContent = "Show " + Math.min(STEP, rows.length - drawn) + " more of " + (rows.length - drawn).toLocaleString("en");
  };

  const said = (wanted) => {
    const parts = [];
    if (wanted.has("tree")) parts.push("on this branch of tree " + (Number(wanted.get("tree")) + 1));
    for (const [name, word] of [["system", "of "], ["topic", "on "], ["labels", "with answers "], ["outcome", "that ended: "]]) {
      if (wanted.has(name)) parts.push(word + wanted.get(name));
    }
    if (wanted.has("words")) parts.push("with “" + wanted.get("words") + "”");
    const number = rows.length.toLocaleString("en") + (rows.length === 1 ? " attempt" : " attempts");
    return number + (parts.length ? " " + parts.join(", ") : "") + (rows.length < count ? ", of " + count.toLocaleString("en") : "");
  };

  // ---- one conversation ----------------------------------------------------------------------------------------------

  const chunkOf = (place) => {
    let low = 0;
    let high = index.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (index.chunks[middle] <= place) low = middle; else high = middle - 1;
    }
    return low;
  };

  // What a person can mend: a file that is not there, or is not the one that belongs to this page. Any other error is a
  // fault of this script, and is shown as what it is, so that nobody looks for a folder that is not missing.
  class Lost extends Error {}

  const MISSING = " is not beside this page, so the conversation cannot be shown. Copy that folder along with the page.";
  const BROKEN = " is beside this page but does not hold this conversation. It is damaged or belongs to another report: "
    + "copy page and folder again, or make the report again.";

  const failure = (fault) => made("p", "warn", fault instanceof Lost ? fault.message
    : "This page failed to show the conversation (" + fault + "). That is a bug in Harvest, and no file is missing; the command below prints the conversation.");

  window.harvestChunk = (number, text) => read.set(number, JSON.parse(text));

  const chunk = (number) => {
    if (read.has(number)) return Promise.resolve(read.get(number));
    const inside = at("chunk-" + number);
    if (inside) {
      read.set(number, JSON.parse(inside.textContent));
      return Promise.resolve(read.get(number));
    }
    if (!waiting.has(number)) {
      waiting.set(number, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = index.files[number];
        script.onload = () => (read.has(number) ? resolve(read.get(number)) : reject(new Lost(index.files[number] + BROKEN)));
        script.onerror = () => { waiting.delete(number); reject(new Lost(index.files[number] + MISSING)); };
        document.head.append(script);
      }));
    }
    return waiting.get(number);
  };

  const bubble = (side, text, label) => {
    const found = made("div", "said " + side + (label ? " " + (NAMES[label] || "none") : ""), text);
    found.dir = "auto";
    return found;
  };

  const left = (number, command) =>
    made("p", "cut", number.toLocaleString("en") + " more characters are not in this report: " + command + " --text");

  const items = (title, texts, more) => {
    const list = made("ul", "");
    for (const one of texts) {
      const item = one instanceof Node ? made("li", "", one) : made("li", "", one);
      item.dir = "auto";
      list.append(item);
    }
    if (more) list.append(made("li", "", "… and " + more.toLocaleString("en") + " more"));
    return made("div", "small", title, list);
  };

  // A screenshot that was kept, loaded where somebody asks to see it.
  const shot = (name, href) => {
    const found = made("details", "", made("summary", "", name));
    const anchor = made("a", "", "open " + name);
    anchor.href = href;
    found.append(anchor);
    found.addEventListener("toggle", () => {
      if (!found.open || found.querySelector("img")) return;
      const image = made("img", "shot");
      image.alt = name + " of this turn, as it was kept";
      image.src = href;
      image.addEventListener("error", () => found.append(made("p", "cut", href + " is not beside this page.")));
      found.append(image);
    });
    return found;
  };

  const turn = (one, command) => {
    const found = document.createDocumentFragment();
    found.append(made("p", "who", "U" + one.n + (one.state ? " (" + one.state + ")" : "")), bubble("user", one.said));
    if (one.saidCut) found.append(left(one.saidCut, command));
    if (one.text === undefined) {
      found.append(made("p", "cut", "No reply was recorded."));
      return found;
    }
    if (one.sentAs) found.append(made("p", "who", "the page sent this instead:"), bubble("user", one.sentAs));
    const who = made("p", "who", "S" + one.n + " ", mark(one.label));
    who.append((one.seconds === undefined ? "" : " " + one.seconds.toFixed(1) + " s") + (one.finish ? " finish=" + one.finish : "")
      + (one.model ? " model=" + one.model : ""));
    found.append(who, bubble("system", one.text, one.label));
    if (one.cut) found.append(left(one.cut, command));
    if (one.route) found.append(made("p", "small", "Labelled by " + one.route));
    if (one.why) found.append(items("because of:", one.why, one.moreWhy));
    if (one.nuggets) found.append(items("entities it names:", one.nuggets, one.nuggetsMore));
    if (one.groups) found.append(items("groups of the relevant ones:", one.groups, one.groupsMore));
    if (one.judged) found.append(items("judged (score × weight):", one.judged, one.judgedMore));
    if (one.parts) found.append(items("came with it:", one.parts, one.moreParts));
    if (one.links) {
      found.append(items("links:", one.links.map(([words, href]) => (words === href ? href : words + " – " + href)), one.moreLinks));
    }
    if (one.files) {
      found.append(items("kept:", one.files.map(([name, address, href]) => {
        return href ? shot(name, href) : name + ": " + address;
      }), 0));
    }
    return found;
  };

  const commandOf = (place) =>
    index.shown[index.system[place]] + " --topic " + index.topics[index.topic[place]] + " --trial " + index.trial[place];

  const inTerminal = (command) => [made("p", "who", "The same in a terminal:"), made("pre", "command", command)];

  const show = (place, body) => {
    const command = commandOf(place);
    const found = document.createDocumentFragment();
    const scores = Object.entries(body.scores || {}).map(([name, value]) => name + " " + value);
    found.append(made("p", "small", "Ended: " + index.ends[index.end[place]] + (body.detail ? ": " + body.detail : "")
      + (counted[place] ? "" : " (in no figure)")));
    if (body.started) found.append(made("p", "small", "From " + body.started.slice(0, 19).replace("T", " ") + (body.ended ? " to " + body.ended.slice(0, 19).replace("T", " ") : "") + " UTC"));
    if (body.session) found.append(made("p", "small", "Session " + body.session));
    if (scores.length) found.append(made("p", "small", scores.join(" · ")));
    if (body.judged) found.append(items("judged as a whole (score × weight):", body.judged, body.judgedMore));
    for (const one of body.turns || []) found.append(turn(one, command));
    if (body.left) found.append(made("p", "cut", body.left + " more turns are not in this report."));
    found.append(...inTerminal(command));
    at("text").replaceChildren(found);
  };

  const open = async (place) => {
    const reader = at("reader");
    if (reader.hidden) came = document.activeElement;
    at("reader-title").textContent = named(place);
    reader.hidden = false;
    reader.dataset.place = String(place);
    at("text").replaceChildren();
    reader.scrollTop = 0;
    const number = chunkOf(place);
    try {
      const held = await chunk(number);
      if (reader.dataset.place !== String(place)) return;
      const body = held[place - index.chunks[number]];
      if (!body) throw new Lost((index.files[number] || "The page") + BROKEN);
      show(place, body);
    } catch (fault) {
      if (reader.dataset.place !== String(place)) return;
      at("text").replaceChildren(failure(fault), ...inTerminal(commandOf(place)));
    }
    at("reader-title").focus();
    const here = rows.indexOf(place);
    at("before").disabled = here <= 0;
    at("after").disabled = here < 0 || here >= rows.length - 1;
    for (const one of at("list").querySelectorAll("a")) {
      if (one.getAttribute("href") === to(place)) one.setAttribute("aria-current", "true"); else one.removeAttribute("aria-current");
    }
  };

  const shut = () => {
    if (at("reader").hidden) return;
    at("reader").hidden = true;
    delete at("reader").dataset.place;
    if (came && came !== document.body) came.focus();
    came = null;
  };

  const go = (step) => {
    const here = rows.indexOf(Number(at("reader").dataset.place));
    const next = rows[here + step];
    if (here < 0 || next === undefined) return;
    if (here + step >= drawn) draw(drawn + STEP);
    history.replaceState(null, "", to(next));
    open(next);
  };

  // ---- what the address says ---------------------------------------------------------------------------------------

  const fill = (name, values) => {
    const select = at("filters").elements[name];
    for (const value of values) {
      const option = made("option", "", value);
      option.value = value;
      select.append(option);
    }
  };

  const CHOICES = { system: "system", topic: "topic", labels: "labels", end: "outcome", words: "words" };

  let listed = null;

  const list = (wanted) => {
    listed = link(wanted);
    const words = fold(wanted.get("words") || "");
    const known = !words || held.has(words);
    rows = known ? chosen(wanted) : [];
    drawn = 0;
    at("list").replaceChildren();
    draw(STEP);
    at("shown").textContent = known ? said(wanted) + "." : "Searching …";
    if (!known) {
      search(words).then(
        (done) => { if (done && listed === link(wanted)) list(wanted); },
        (fault) => {
          at("shown").textContent = "The texts cannot be searched: "
            + (fault instanceof Lost ? fault.message : "this page failed (" + fault + "), which is a bug in Harvest.");
        },
      );
    }
    for (const [name, key] of Object.entries(CHOICES)) at("filters").elements[name].value = wanted.get(key) || "";
  };

  const follow = (first) => {
    const wanted = state();
    const place = opened(wanted);
    const filter = new Map([...wanted].filter(([name]) => name !== "trial" && name !== "attempt"));
    // Who opens one conversation of a list goes on with that list.
    if (first || place < 0 || !rows.includes(place)) {
      if (link(filter) !== listed) list(filter);
    }
    if (place >= 0) { open(place); return; }
    shut();
    if (wanted.has("trial")) at("shown").textContent = "There is no such conversation in this report.";
    if (!wanted.size) return;
    at("conversations").scrollIntoView();
    if (!first && !at("filters").contains(document.activeElement)) {
      (at("list").querySelector("a") || at("more")).focus({ preventScroll: true });
    }
  };

  const close = () => {
    const before = came;
    shut();
    history.replaceState(null, "", listed && listed !== "#" ? listed : location.pathname + location.search);
    if (before && before.isConnected) before.focus();
  };

  fill("system", index.systems);
  fill("topic", index.topics);
  fill("labels", [...new Set(index.labels)].filter((one) => one).sort().slice(0, 60));
  fill("end", index.ends);
  at("filters").addEventListener("change", () => {
    const entries = new Map();
    for (const [name, key] of Object.entries(CHOICES)) entries.set(key, at("filters").elements[name].value);
    if (link(entries) === "#") {
      history.replaceState(null, "", location.pathname + location.search);
      list(new Map());
    } else location.hash = link(entries);
  });
  at("filters").addEventListener("submit", (event) => event.preventDefault());  // Enter has already changed the words
  at("filters").addEventListener("reset", () => {
    history.replaceState(null, "", location.pathname + location.search);
    setTimeout(() => list(new Map()), 0);
  });
  at("more").addEventListener("click", () => draw(drawn + STEP));
  at("close").addEventListener("click", close);
  at("before").addEventListener("click", () => go(-1));
  at("after").addEventListener("click", () => go(1));
  document.addEventListener("keydown", (event) => {
    if (at("reader").hidden || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowLeft") go(-1);
    else if (event.key === "ArrowRight") go(1);
  });
  // The blocks of a picture lead where the links of the list beside it lead.
  document.addEventListener("click", (event) => {
    const to = event.target instanceof Element && event.target.closest("[data-go]");
    if (to) location.hash = to.dataset.go;
  });
  // A table that is wider than the screen says so.
  const sizes = new ResizeObserver((all) => {
    for (const { target } of all) target.classList.toggle("cut", target.scrollWidth > target.clientWidth + 1);
  });
  for (const one of document.querySelectorAll(".wide")) sizes.observe(one);
  window.addEventListener("hashchange", () => follow(false));
  follow(true);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
