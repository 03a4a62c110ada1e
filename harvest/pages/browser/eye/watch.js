// Watching one turn from before it is typed, because the busy moment of a quick answer is over before a query from
// outside could come.

const EVERY = 100; // ms between two looks at the signs
const STALL = 50; // ms by which such a look may be late before that is noted
const LONGEST = 20; // number of longest and of last pauses kept
const WATCHED = {
  subtree: true,
  childList: true,
  characterData: true,
  characterDataOldValue: true,
  attributes: true,
  attributeFilter: [
    "class", "style", "hidden", "disabled", "readonly", "inert", "open", "role", "title", "contenteditable",
    "aria-disabled", "aria-hidden", "aria-label", "aria-readonly", "data-testid", "data-state",
    ...SHOWN.flatMap((sign) => sign.attributes),
  ],
};

let turn = null; // what is known of this turn; times are those of `now`
let births = new WeakMap(); // element -> when it came, with all in it
let words = new WeakMap(); // element -> when text directly in it changed
let begun = new WeakMap(); // element -> {at, was}: when it first got words, or new ones, and its words until then
let worded = new WeakSet(); // elements known to have had words before the noted ones came
let before = new WeakSet(); // elements that were there when the turn was sent
const observer = new Observer((records) => take(records));
let timer = null;

onRoot = (root) => {
  if (turn === null) return;
  turn.roots.add(root);
  observer.observe(root, WATCHED);
};

/** True if the turn was sent in this document, so that new elements can be distinguished from earlier ones. */
function dated() {
  return turn !== null && turn.sent !== null && !turn.elsewhere;
}

/** ms after the send at which it came; null if before. around: the same for the elements around it. */
function bornOf(element, around) {
  if (!dated() || before.has(element)) return null;
  const at = births.get(element);
  return at === undefined ? around : at - turn.sent;
}

function saidOf(element) {
  const at = dated() ? words.get(element) : undefined;
  return at === undefined ? undefined : at - turn.sent;
}

function begunOf(element) {
  const first = dated() ? begun.get(element) : undefined;
  return first === undefined ? undefined : { after: first.at - turn.sent, was: first.was };
}

/** True if the turn is typed into it. */
function isComposer(element) {
  return turn !== null && turn.composer != null && turn.composer.element === element;
}

function arm(parts, site) {
  const busy = (site && site.busy) || "";
  if (busy !== "") findFor(document, "busy", busy);
  observer.disconnect();
  births = new WeakMap();
  words = new WeakMap();
  begun = new WeakMap();
  worded = new WeakSet();
  const roots = everyRoot();
  turn = {
    sent: null,
    elsewhere: false, // true if it was sent in a document before this one
    busy,
    roots: new Set(roots),
    watched: null,
    around: null, // the smallest element that contains the watched elements and the box to type in
    maybe: new Map(), // element -> the signs it may be
    there: new Map(), // elements and signatures of signs that were there before -> names of the signs
    signs: {}, // name -> {now, last, first}
    waiting: [], // changes whose visibility is not known yet
    looked: 0,
    ticked: now(), // when the timer last ran
    stalls: [], // [ms, since when] for which it was late, the longest since the send: the page could not run then either
    last: null,
    rewritten: -Infinity, // when the same text was last written anew: the page is still painting
    changes: 0,
    mutations: 0,
    longest: [],
    latest: [],
    turned: new WeakMap(), // element -> how often its style changed
  };
  turn.composer = kept(parts && parts.composer);
  turn.send = kept(parts && parts.send);
  turn.composerWasOn = turn.composer !== null && seen(turn.composer.element) && !off(turn.composer.element);
  turn.sendWasOn = turn.send !== null && seen(turn.send.element) && !off(turn.send.element) && !(parts && parts.filled);
  // Roots made before and not yet on the page may be inserted with the answer.
  for (const reference of madeRoots) {
    const root = reference.deref();
    if (root !== undefined) turn.roots.add(root);
  }
  for (const root of turn.roots) {
    observer.observe(root, WATCHED);
    suspect(find(root, MAYBE));
  }
  remember(true);
  if (timer === null) timer = every(tick, EVERY);
}

function kept(number) {
  const element = number ? elementOf(number) : null;
  return element === null ? null : { element, number, signature: signature(element), sought: 0 };
}

/** Signs that are there before the turn is sent say nothing about its answer. */
function remember(alike) {
  for (const [name, element, mark] of present()) {
    for (const key of alike ? [element, mark] : [element]) {
      if (!turn.there.has(key)) turn.there.set(key, new Set());
      turn.there.get(key).add(name);
    }
  }
}

function wasThere(name, key) {
  const names = turn.there.get(key);
  return names !== undefined && names.has(name);
}

function sent() {
  if (turn === null) arm(null, null);
  settle();
  // Effects of typing: the blinking caret of an editor, the user's own "typing" sign.
  remember(false);
  before = new WeakSet();
  for (const root of everyRoot()) {
    const all = find(root, "*");
    for (let index = 0; index < all.length; index++) before.add(all[index]);
  }
  turn.sent = turn.last = turn.ticked = now();
  turn.stalls = [];
  turn.rewritten = -Infinity;
  turn.waiting = [];
  turn.signs = {};
  turn.changes = turn.mutations = 0;
  turn.longest = [];
  turn.latest = [];
  turn.turned = new WeakMap();
}

/** The turn was sent in the document before this one: every change and every sign may concern its answer. */
function follow(site) {
  arm(null, site);
  for (const names of turn.there.values()) for (const name of [...names]) if (name !== "animation") names.delete(name);
  turn.sent = turn.last = now();
  turn.elsewhere = true;
}

function watch(numbers) {
  if (turn === null) return;
  settle();
  turn.watched = numbers.map(elementOf).filter((element) => element !== null);
  turn.around = null;
  const composer = turn.composer === null ? null : foundAgain(turn.composer, now());
  if (composer === null || turn.watched.length === 0) return;
  turn.around = composer;
  while (turn.around !== null && !encloses(turn.around, turn.watched[0])) turn.around = above(turn.around);
  // A sign that is still there and never concerned this turn has not ended: it did not exist.
  const there = Object.keys(turn.signs).filter((name) => turn.signs[name].now);
  glance();
  for (const name of there) if (NEAR.has(name) && !turn.signs[name].now) delete turn.signs[name];
}

const SIDE = "nav,aside,[role=navigation],[role=complementary]";

/** True if it is near the turn: in the element that contains both its text and the box to type in, but not in a part
 * set aside. Before the turn is found on the page everything is near. */
function near(element) {
  if (turn.watched === null || stale()) return true;
  const composer = turn.composer && turn.composer.element;
  for (let at = element; at !== null; at = above(at)) {
    if (turn.watched.includes(at) || at === turn.around) return true;
    if (matches(at, SIDE) && !(composer && encloses(at, composer))) return false;
  }
  return turn.around === null;
}

function stale() {
  return turn.watched !== null && turn.watched.some((element) => !connected(element));
}

/** The signs that are on the page now: [name, element, signature]. */
function present() {
  const found = [];
  for (const [element, signs] of turn.maybe) {
    if (!connected(element)) {
      turn.maybe.delete(element);
      continue;
    }
    if (!seen(element) || cutAway(element)) continue;
    for (const name of signs) {
      if (TEXTLESS.has(name) && !nearlyTextless(element)) continue;
      found.push([name, element, signature(element)]);
    }
  }
  const many = turn.roots.size > 50;
  for (const root of turn.roots) {
    // Querying thousands of roots ten times a second would cost more than this sign is worth.
    if (many && root !== document) continue;
    const running = nodeType(root) === 9 ? animationsOfDocument(root) : animationsOfShadow(root);
    for (const animation of running) {
      const target = endless(animation);
      if (target === null || !seen(target) || cutAway(target)) continue;
      found.push(["animation", target, animation.animationName + signature(target)]);
    }
  }
  return found;
}

/** The element moved by an animation that never ends by itself; null for other animations. */
function endless(animation) {
  const effect = animation.effect;
  if (!effect || animation.playState !== "running" || !effect.target) return null;
  return effect.getTiming().iterations > 1000 ? effect.target : null;
}

function tick() {
  if (turn === null) return;
  const at = now();
  if (at - turn.ticked > EVERY + STALL) turn.stalls.push([at - turn.ticked - EVERY, turn.ticked]);
  if (turn.stalls.length > 2 * LONGEST) turn.stalls = longest(turn.stalls);
  turn.ticked = at;
  glance();
}

function glance() {
  if (turn === null || turn.sent === null) return;
  settleOnly();
  const at = now();
  turn.looked = at;
  const there = new Set();
  for (const [name, element, mark] of present()) {
    if (there.has(name) || wasThere(name, element) || wasThere(name, mark)) continue;
    if (NEAR.has(name) && !near(element)) continue;
    there.add(name);
  }
  if (turn.busy !== "" && siteBusy()) there.add("site");
  if (turn.composerWasOn) {
    const composer = foundAgain(turn.composer, at);
    if (composer !== null && (off(composer) || !typedInto(composer))) there.add("composer");
  }
  if (turn.sendWasOn) {
    const send = foundAgain(turn.send, at);
    if (send === null || !seen(send) || off(send)) there.add("send");
  }
  for (const [name, sign] of Object.entries(turn.signs)) {
    // If the timer was late, the sign may have been there until just now.
    if (sign.now && !there.has(name)) sign.last = Math.max(sign.last, at - EVERY);
    sign.now = false;
  }
  for (const name of there) turn.signs[name] = { now: true, last: at, first: (turn.signs[name] || { first: at }).first };
}

function settleOnly() {
  const records = observer.takeRecords();
  if (records.length > 0) take(records);
}

function siteBusy() {
  for (const root of turn.roots) {
    const all = findFor(root, "busy", turn.busy);
    for (let index = 0; index < all.length; index++) if (seen(all[index])) return true;
  }
  return false;
}

/** A part of the page, or the element that replaced it. */
function foundAgain(part, at) {
  if (connected(part.element)) return part.element;
  if (at - part.sought < 300) return null;
  part.sought = at;
  const name = nameOf(part.element);
  for (const root of everyRoot()) {
    const all = find(root, XML_NAME.test(name) ? name : "*");
    for (let index = 0; index < all.length; index++) {
      if (signature(all[index]) === part.signature) {
        part.element = all[index];
        return part.element;
      }
    }
  }
  return null;
}

/** The element with a number, or null if it has gone. For the box and the button of this turn, an element that replaced
 * them counts: some pages rebuild them with every change. */
function current(number) {
  const element = elementOf(number);
  if (element !== null && connected(element)) return element;
  for (const part of turn === null ? [] : [turn.composer, turn.send]) {
    if (part === null || part.number !== number) continue;
    part.sought = -Infinity;
    return foundAgain(part, now());
  }
  return null;
}

function sample() {
  if (turn === null || turn.sent === null) return { asked: null };
  settle();
  glance();
  settle();
  turn.longest = longest(turn.longest);
  const at = now();
  const stalls = turn.stalls.concat([[at - turn.ticked - EVERY, turn.ticked]]).filter(([length]) => length > STALL);
  const signals = {};
  for (const { name } of SIGNS) {
    const sign = turn.signs[name];
    signals[name] = sign
      ? { seen: true, now: sign.now, last: at - sign.last, first: sign.first - turn.sent }
      : { seen: false, now: false, last: null, first: null };
  }
  return {
    asked: at - turn.sent,
    quiet: at - turn.last,
    rewritten: turn.rewritten === -Infinity ? null : at - turn.rewritten,
    changes: turn.changes,
    pauses: turn.longest.concat(turn.latest),
    signals,
    stale: stale(),
    mutations: turn.mutations,
    stalls: stalls.map(([length, since]) => [length, since - turn.sent]),
  };
}

Object.defineProperty(window, "__harvest_eye__", {
  value: Object.freeze({ look, node: current, idOf, arm, sent, follow, watch, sample }),
});
