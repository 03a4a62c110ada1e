"use strict";
// One conversation, or two beside each other, as elements of the page. Whatever a system wrote gets into the page as
// text (textContent) and in no other way.
const harvestReading = (index) => {
  const counted = new Uint8Array(index.system.length);
  for (const place of index.counted) counted[place] = 1;
  const at = (id) => document.getElementById(id);

  const made = (tag, name, ...inner) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    for (const one of inner) if (one !== "" && one !== null && one !== undefined) element.append(one);
    return element;
  };

  const NAMES = { o: "o", x: "x", "!": "lost", "?": "open" };
  const mark = (label) => made("span", "mark " + (NAMES[label] || "none"), label);

  const trialOf = (place) => "trial " + index.trial[place]
    + (index.attempt[place] > 1 || !counted[place] ? " · attempt " + index.attempt[place] : "");
  const named = (place) =>
    index.systems[index.system[place]] + " · " + index.topics[index.topic[place]] + " · " + trialOf(place);

  // ---- texts, in the page or beside it -----------------------------------------------------------------------------

  const read = new Map();
  const waiting = new Map();

  // What a person can mend: a file that is not there, or is not the one that belongs to this page. Any other error is a
  // fault of this script, and is shown as what it is, so that nobody looks for a folder that is not missing.
  class Lost extends Error {}

  const MISSING = " is not beside this page, so the conversation cannot be shown. Copy that folder along with the page.";
  const BROKEN = " is beside this page but does not hold this conversation. It is damaged or belongs to another report: "
    + "copy page and folder again, or make the report again.";

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
        script.onload = () => (script.remove(), read.has(number) ? resolve(read.get(number)) : reject(new Lost(index.files[number] + BROKEN)));
        script.onerror = () => { waiting.delete(number); reject(new Lost(index.files[number] + MISSING)); };
        document.head.append(script);
      }));
    }
    return waiting.get(number);
  };

  // What is not shown is read again when somebody opens it: the conversations of a large run fill the memory.
  const forget = (number) => { read.delete(number); waiting.delete(number); };

  const bodyOf = async (place) => {
    let number = index.chunks.findIndex((start) => start > place) - 1;
    if (number < 0) number = index.chunks.length - 1;
    const body = (await chunk(number))[place - index.chunks[number]];
    if (!body) throw new Lost((index.files[number] || "The page") + BROKEN);
    return body;
  };

  // ---- turns -------------------------------------------------------------------------------------------------------

  const bubble = (side, text, label) => {
    const found = made("div", "said " + side + (label ? " " + (NAMES[label] || "none") : ""), text);
    found.dir = "auto";
    return found;
  };

  const left = (number, command) =>
    made("p", "cut", number.toLocaleString("en") + " more characters are not in this report: " + command + " --text");

  const list = (texts, more) => {
    const found = made("ul", "");
    for (const one of texts) {
      const item = made("li", "", one);
      item.dir = "auto";
      found.append(item);
    }
    if (more) found.append(made("li", "", "… and " + more.toLocaleString("en") + " more"));
    return found;
  };

  const items = (title, texts, more) => made("div", "small", title, list(texts, more));
  const folded = (title, ...inner) => made("details", "small", made("summary", "", title), ...inner);

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

  const asked = (one, command) => [
    made("p", "who", "U" + one.n + (one.state ? " (" + one.state + ")" : "")), bubble("user", one.said),
    one.saidCut ? left(one.saidCut, command) : "",
  ];

  // `name` is the system's, where answers of two stand beside each other, or, on a narrow page, below each other.
  const answered = (one, command, name) => {
    if (one.text === undefined) return [made("p", "cut", "No reply was recorded.")];
    const found = [];
    if (one.sentAs) found.push(made("p", "who", "the page sent this instead:"), bubble("user", one.sentAs));
    const who = made("p", "who", (name ? name + " · " : "") + "S" + one.n + " ", mark(one.label));
    who.append((one.seconds === undefined ? "" : " " + one.seconds.toFixed(1) + " s")
      + (one.finish && one.finish !== "stop" ? " finish=" + one.finish : "") + (one.model ? " model=" + one.model : ""));
    found.push(who, bubble("system", one.text, one.label));
    if (one.cut) found.push(left(one.cut, command));
    if (one.route || one.why) {
      found.push(folded("Why " + (one.label || "this label"), one.route ? made("p", "small", one.route) : "",
        one.why ? list(one.why, one.moreWhy) : ""));
    }
    if (one.nuggets) found.push(folded(one.nuggets.length + " entities it names", list(one.nuggets, one.nuggetsMore)));
    if (one.groups) found.push(folded("Groups of the relevant ones", list(one.groups, one.groupsMore)));
    if (one.judged) found.push(items("judged (score × weight):", one.judged, one.judgedMore));
    if (one.parts) found.push(items("came with it:", one.parts, one.moreParts));
    if (one.links) {
      found.push(items("links:", one.links.map(([words, href]) => (words === href ? href : words + " – " + href)), one.moreLinks));
    }
    if (one.files) {
      const kept = one.files.map(([name, address, href]) => (href ? shot(name, href) : name + ": " + address));
      found.push(one.files.some(([, , href]) => href) ? items("kept:", kept, 0) : folded("Files that were kept", list(kept, 0)));
    }
    return found;
  };

  const commandOf = (place) =>
    index.shown[index.system[place]] + " --topic " + index.topics[index.topic[place]] + " --trial " + index.trial[place];

  const inTerminal = (...places) => folded("The same in a terminal", ...places.map((place) => made("pre", "command", commandOf(place))));

  const about = (place, body) => {
    const scores = Object.entries(body.scores || {}).map(([name, value]) => name + " " + value);
    const day = (text) => text.slice(0, 19).replace("T", " ");
    return [
      made("p", "small", "Ended: " + index.ends[index.end[place]] + (body.detail ? ": " + body.detail : "")
        + (counted[place] ? "" : " (in no figure)")),
      scores.length ? made("p", "small", scores.join(" · ")) : "",
      body.started ? made("p", "small", "From " + day(body.started) + (body.ended ? " to " + day(body.ended) : "") + " UTC"
        + (body.session ? ", session " + body.session : "")) : "",
      body.judged ? items("judged as a whole (score × weight):", body.judged, body.judgedMore) : "",
    ];
  };

  const turnsLeft = (body) => (body.left ? made("p", "cut", body.left + " more turns are not in this report.") : "");

  const conversation = (place, body) => {
    const command = commandOf(place);
    const turns = (body.turns || []).flatMap((one) => [...asked(one, command), ...answered(one, command)]);
    return made("div", "", ...about(place, body), ...turns, turnsLeft(body), inTerminal(place));
  };

  // Two conversations, turn by turn. Turns whose labels differ are marked, and so is the first at which they part.
  const pair = (places, bodies) => {
    const found = made("div", "pair");
    const across = (name, ...cells) => found.append(...cells.map((inner) => made("div", name, ...inner)));
    across("", ...places.map((place, side) => [made("h3", "", index.systems[index.system[place]] + " · " + trialOf(place)),
      ...about(place, bodies[side])]));
    const turns = bodies.map((body) => body.turns || []);
    let parted = false;
    for (let number = 0; number < Math.max(...turns.map((each) => each.length)); number++) {
      const both = turns.map((each) => each[number]);
      const there = both.every((one) => one !== undefined);
      const unlike = there && both[0].said !== both[1].said;
      const differs = !there || both[0].label !== both[1].label;
      across(unlike ? "differs" : there ? "alike" : "", ...both.map((one, side) =>
        (one ? [unlike ? made("p", "parting", "The user said something else.") : "", ...asked(one, commandOf(places[side]))] : [])));
      const words = differs && !parted ? "Here they part." : differs ? "Another label." : "";
      across(differs ? "differs" : "", ...both.map((one, side) => [words ? made("p", "parting", words) : "",
        ...(one ? answered(one, commandOf(places[side]), index.systems[index.system[places[side]]]) : [made("p", "small", "The conversation had ended.")])]));
      parted = parted || differs;
    }
    across("", ...bodies.map((body) => [turnsLeft(body)]));
    return made("div", "", found, inTerminal(...places));
  };

  const failure = (fault) => made("p", "warn", fault instanceof Lost ? fault.message
    : "This page failed to show the conversation (" + fault + "). That is a bug in Harvest, and no file is missing; the command below prints the conversation.");

  return { at, made, mark, counted, named, trialOf, chunk, forget, Lost, bodyOf, conversation, pair, failure, inTerminal };
};
