// The list of conversations and the address: what is looked at stands in it, so that a link leads to it.
(() => {
  const index = JSON.parse(document.getElementById("index").textContent);
  const reading = harvestReading(index);
  const { at, made, mark, counted, named } = reading;
  const count = index.system.length;
  const STEP = 100;
  let rows = [];
  let drawn = 0;
  let came = null;

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
    of("outcome", index.ends, index.end);
    if (wanted.has("labels")) {
      const labels = wanted.get("labels");
      tests.push((place) => index.labels[place] === labels);
    }
    if (wanted.has("tree")) {
      const test = inTree(wanted);
      if (test) tests.push(test);
    }
    if (wanted.has("words")) {
      const places = held.get(fold(wanted.get("words"))) || counted;
      tests.push((place) => places[place] === 1);
    }
    const found = [];
    for (let place = 0; place < count; place++) if (tests.every((test) => test(place))) found.push(place);
    return found;
  };

  const fold = (text) => text.toLowerCase();

  // By words, in which conversations they stand. Once somebody comes to the filters, the texts of each chunk are folded
  // while the page is idle, so that also a first search is quick; of the chunk, nothing else is kept.
  const held = new Map();
  const folded = [];
  const textOf = (body) => fold((body.turns || []).map((one) => one.said + "\n" + (one.text || "")).join("\n"));

  const texts = async (number) => {
    if (!folded[number]) {
      const bodies = await reading.chunk(number);
      folded[number] = bodies.map(textOf);
      reading.forget(number);
    }
    return folded[number];
  };

  const whenIdle = window.requestIdleCallback || ((then) => setTimeout(then, 20));
  const prepare = (number) => {
    if (number === index.chunks.length) document.documentElement.dataset.searchable = String(Math.round(performance.now()));
    // A file that is missing is named to those who search or read.
    else whenIdle(() => texts(number).then(() => prepare(number + 1), () => {}));
  };

  const search = async (words) => {
    const places = new Uint8Array(count);
    for (let number = 0; number < index.chunks.length; number++) {
      if (state().get("words") === undefined || fold(state().get("words")) !== words) return false;
      if (!folded[number]) at("shown").textContent = "Searching: " + (number + 1) + " of " + index.chunks.length + " parts …";
      (await texts(number)).forEach((text, place) => {
        if (text.includes(words)) places[index.chunks[number] + place] = 1;
      });
    }
    held.set(words, places);
    return true;
  };

  // The conversation that an address names, whether it is listed or not; the attempt that counts, if it names none.
  const opened = (wanted) => {
    const own = new Map([...wanted].filter(([name]) => name === "system" || name === "topic"));
    if (!wanted.has("trial")) {
      // Of two systems on a topic, the first trial that they answered differently.
      if (!wanted.get("beside")) return -1;
      const all = chosen(own).filter((place) => counted[place]);
      const unlike = all.find((place) => {
        const other = partner(wanted, place);
        return other >= 0 && index.labels[other] !== index.labels[place];
      });
      return unlike ?? all[0] ?? -1;
    }
    const trial = Number(wanted.get("trial"));
    const fits = chosen(own).filter((place) => index.trial[place] === trial);
    if (wanted.has("attempt")) return fits.find((place) => index.attempt[place] === Number(wanted.get("attempt"))) ?? -1;
    return fits.find((place) => counted[place]) ?? fits[0] ?? -1;
  };

  // The conversation beside it: of another system, on the same topic; its trial has the same number, if none is given.
  const partner = (wanted, place) => {
    if (place < 0 || !wanted.get("beside")) return -1;
    const trial = wanted.get("other") || String(index.trial[place]);
    return opened(new Map([["topic", index.topics[index.topic[place]]], ["system", wanted.get("beside")], ["trial", trial]]));
  };

  const to = (place, beside) => {
    const entries = new Map();
    entries.set("topic", index.topics[index.topic[place]]);
    entries.set("system", index.systems[index.system[place]]);
    entries.set("trial", String(index.trial[place]));
    if (!counted[place]) entries.set("attempt", String(index.attempt[place]));
    if (beside && beside !== entries.get("system")) entries.set("beside", beside);
    return link(entries);
  };

  // An end that most conversations have is not named with each of them.
  const usual = (() => {
    const counts = new Map();
    for (const end of index.end) counts.set(end, (counts.get(end) || 0) + 1);
    const most = [...counts].sort((one, other) => other[1] - one[1])[0];
    return most && most[1] > count / 2 ? most[0] : -1;
  })();

  const row = (place) => {
    const marks = made("span", "marks", ...[...index.labels[place].slice(0, 60)].map(mark));
    const end = index.end[place] === usual ? "" : made("span", "dim", index.ends[index.end[place]]);
    const anchor = made("a", "", made("b", "", named(place)), marks, end);
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

  // ---- what is read ------------------------------------------------------------------------------------------------

  const open = async (place, other) => {
    const reader = at("reader");
    if (reader.hidden) came = document.activeElement;
    const key = place + " " + other;
    at("reader-title").textContent = named(place) + (other < 0 ? "" : " beside " + index.systems[index.system[other]] + " · " + reading.trialOf(other));
    reader.hidden = false;
    reader.dataset.place = String(place);
    reader.dataset.shown = key;
    reader.classList.toggle("two", other >= 0);
    at("beside").value = other < 0 ? "" : index.systems[index.system[other]];
    for (const option of at("beside").options) option.disabled = option.value === index.systems[index.system[place]];
    at("text").replaceChildren();
    reader.scrollTop = 0;
    try {
      const bodies = await Promise.all((other < 0 ? [place] : [place, other]).map(reading.bodyOf));
      if (reader.dataset.shown !== key) return;
      at("text").replaceChildren(other < 0 ? reading.conversation(place, bodies[0]) : reading.pair([place, other], bodies));
    } catch (fault) {
      if (reader.dataset.shown !== key) return;
      const command = reading.inTerminal(place);
      command.open = true;
      at("text").replaceChildren(reading.failure(fault), command);
    }
    at("reader-title").focus({ preventScroll: true });
    // At once: over a long page, a smooth scroll shows the sections between for seconds.
    reader.scrollIntoView({ block: "nearest", behavior: "instant" });
    const here = rows.indexOf(place);
    if (here >= drawn) draw(here + STEP);
    at("before").disabled = here <= 0;
    at("after").disabled = here < 0 || here >= rows.length - 1;
    for (const one of at("list").querySelectorAll("a")) {
      if (one.getAttribute("href") === to(place)) one.setAttribute("aria-current", "true"); else one.removeAttribute("aria-current");
    }
    const current = at("list").querySelector("[aria-current]");
    if (current) {
      const box = at("list").getBoundingClientRect();
      at("list").scrollTop += current.getBoundingClientRect().top - box.top - box.height / 2;
    }
  };

  const shut = () => {
    if (at("reader").hidden) return;
    at("reader").hidden = true;
    delete at("reader").dataset.place;
    delete at("reader").dataset.shown;
    if (came && came !== document.body) came.focus();
    came = null;
  };

  const go = (step) => {
    const here = rows.indexOf(Number(at("reader").dataset.place));
    const next = rows[here + step];
    if (here < 0 || next === undefined) return;
    if (here + step >= drawn) draw(drawn + STEP);
    const address = to(next, at("beside").value);
    history.replaceState(null, "", address);
    open(next, partner(state(), next));
  };

  // ---- what the address says ---------------------------------------------------------------------------------------

  const fill = (select, values) => {
    for (const value of values) {
      const option = made("option", "", value);
      option.value = value;
      select.append(option);
    }
  };

  const CHOICES = { system: "system", topic: "topic", labels: "labels", end: "outcome", words: "words" };
  const READ = new Set(["trial", "attempt", "beside", "other"]);
  const filters = at("filters");

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
            + (fault instanceof reading.Lost ? fault.message : "this page failed (" + fault + "), which is a bug in Harvest.");
        },
      );
    }
    for (const [name, key] of Object.entries(CHOICES)) filters.elements[name].value = wanted.get(key) || "";
  };

  // Whether the last link was one of the list, or of what is read. The focus does not say so: not every browser gives it to
  // a link that is clicked.
  let stays = false;
  document.addEventListener("click", (event) => {
    stays = at("list").contains(event.target) || at("reader").contains(event.target);
  }, true);

  const follow = (first) => {
    const wanted = state();
    const place = opened(wanted);
    const filter = new Map([...wanted].filter(([name]) => !READ.has(name)));
    // Who opens one conversation of a list goes on with that list; two beside each other, with all of their topic. A link
    // from elsewhere on the page lists what it leads to.
    if (wanted.has("beside")) filter.delete("system");
    if ((first || place < 0 || !stays || !rows.includes(place)) && link(filter) !== listed) list(filter);
    if (place >= 0) { open(place, partner(wanted, place)); return; }
    const section = wanted.size ? null : document.getElementById(location.hash.slice(1));
    if (section) came = null;
    shut();
    // The page is shorter without the conversation, and the browser has gone to where the section was.
    if (section) section.scrollIntoView();
    if (wanted.has("trial") || wanted.has("beside")) at("shown").textContent = "There is no such conversation in this report.";
    if (!wanted.size) return;
    at("conversations").scrollIntoView({ behavior: "instant" });
    if (!first && !filters.contains(document.activeElement)) {
      (at("list").querySelector("a") || at("more")).focus({ preventScroll: true });
    }
  };

  const close = () => {
    const before = came;
    shut();
    history.replaceState(null, "", listed && listed !== "#" ? listed : location.pathname + location.search);
    if (before && before.isConnected) before.focus();
  };

  fill(filters.elements.system, index.systems);
  fill(filters.elements.topic, index.topics);
  fill(filters.elements.labels, [...new Set(index.labels)].filter((one) => one).sort().slice(0, 60));
  fill(filters.elements.end, index.ends);
  fill(at("beside"), index.systems);
  at("beside").parentElement.hidden = index.systems.length < 2;
  at("usual").textContent = usual < 0 ? "" : "Conversations whose end is not named ended “" + index.ends[usual] + "”.";
  filters.addEventListener("change", () => {
    const entries = new Map();
    for (const [name, key] of Object.entries(CHOICES)) entries.set(key, filters.elements[name].value);
    if (link(entries) === "#") {
      history.replaceState(null, "", location.pathname + location.search);
      list(new Map());
    } else location.hash = link(entries);
  });
  filters.addEventListener("submit", (event) => event.preventDefault());  // Enter has already changed the words
  filters.addEventListener("reset", () => {
    history.replaceState(null, "", location.pathname + location.search);
    setTimeout(() => list(new Map()), 0);
  });
  at("beside").addEventListener("change", () => {
    stays = true;
    location.hash = to(Number(at("reader").dataset.place), at("beside").value);
  });
  at("more").addEventListener("click", () => draw(drawn + STEP));
  at("close").addEventListener("click", close);
  at("before").addEventListener("click", () => go(-1));
  at("after").addEventListener("click", () => go(1));
  document.addEventListener("keydown", (event) => {
    if (at("reader").hidden || event.ctrlKey || event.altKey || event.metaKey || event.target === at("beside")) return;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowLeft") go(-1);
    else if (event.key === "ArrowRight") go(1);
  });
  // The blocks of a picture lead where the links of the list beside it lead.
  document.addEventListener("click", (event) => {
    const block = event.target instanceof Element && event.target.closest("[data-go]");
    if (block) location.hash = block.dataset.go;
  });
  // A table that is wider than the screen says so.
  const sizes = new ResizeObserver((all) => {
    for (const { target } of all) target.classList.toggle("cut", target.scrollWidth > target.clientWidth + 1);
  });
  for (const one of document.querySelectorAll(".wide")) sizes.observe(one);
  window.addEventListener("hashchange", () => follow(false));
  follow(true);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
  const near = new IntersectionObserver((seen) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    near.disconnect();
    prepare(0);
  });
  near.observe(filters);
})();
