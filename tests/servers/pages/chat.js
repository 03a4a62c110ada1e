// A small chat. Each page of this folder says in `chat({…})` what it does in its own way; functions get the chat as `it`.
"use strict";
const page = location.pathname.slice(1);
let session = crypto.randomUUID();
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

class Failure extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

function element(tag, attributes = {}, html = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.innerHTML = html;
  return made;
}

async function post(path, text) {
  const response = await fetch(`${path}/${page}`, {method: "POST", body: JSON.stringify({session, text})});
  if (!response.ok) throw new Failure(response.status, (await response.text()).trim());
  return response;
}

// The reply as it grows: {bubble: its number, html: all of that bubble so far}.
async function* streamed(text) {
  const reader = (await post("/stream", text)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", html = "", bubble = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const event = JSON.parse(line);
      if (event.bubble !== bubble) { bubble = event.bubble; html = ""; }
      html += event.html;
      yield {bubble, html};
    }
  }
}

async function* whole(text) {
  const answer = await (await post("/say", text)).json();
  for (const [bubble, html] of answer.bubbles.entries()) yield {bubble, html};
}

function chat(changes = {}) {
  const root = changes.root || document;
  const it = {
    log: root.querySelector(".log"), form: root.querySelector("form"), box: root.querySelector(".box"),
    send: root.querySelector("form button"), eager: false, ask: streamed, turns: 0,
    read: () => it.box.value.trim(),
    clear: () => { it.box.value = ""; },
    add: (node) => { it.log.append(node); node.scrollIntoView({block: "nearest"}); return node; },
    user(text) {
      const bubble = element("div", {class: "bubble user"});
      bubble.innerText = text;
      return it.add(bubble);
    },
    // Makes a bubble for a reply; gives the element that its HTML is written into.
    begin: () => it.add(element("div", {class: "bubble bot"})),
    write(target, html) { target.innerHTML = html; },
    done(targets) {},
    busy(on) { if (it.send) it.send.disabled = on; },
    fail(failure) {
      it.add(element("div", {class: "bubble bot"}, `<p>${failure.message}</p>`));
    },
    async turn(text) {
      it.turns += 1;
      it.user(text);
      it.busy(true);
      const targets = [];
      try {
        if (it.eager) targets.push(await it.begin(0));
        for await (const {bubble, html} of it.ask(text)) {
          if (!targets[bubble]) targets[bubble] = await it.begin(bubble);
          await it.write(targets[bubble], html);
        }
        await it.done(targets);
      } catch (failure) {
        await it.fail(failure, targets);
      }
      it.busy(false);
    },
    submit() {
      const text = it.read();
      if (!text || it.send?.disabled) return;
      it.clear();
      return it.turn(text);
    },
    key(event) {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); it.submit(); }
    },
    ...Object.fromEntries(Object.entries(changes).map(([name, change]) =>
      [name, typeof change === "function" && name !== "ask" ? (...given) => change(it, ...given) : change])),
  };
  it.form?.addEventListener("submit", (event) => { event.preventDefault(); it.submit(); });
  it.box?.addEventListener("keydown", (event) => it.key(event));
  return it;
}
