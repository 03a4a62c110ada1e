// Changes of the text that may be words of an answer. Cheap by design: only the parts that a change touched are
// examined, and whether they are visible is checked later, ten times a second.

// Parts of a page outside the conversation, unless the user types there.
const ASIDE = 'nav,aside,header,footer,[role=navigation],[role=complementary],[role=banner],[role=contentinfo]';
const NO_TEXT = "button,[role=button],select,textarea,input,script,style,noscript,template,title";
// Lists of suggestions come and go while the user types.
const MENU = "[role=listbox],[role=menu],[role=tooltip]";

/** True if text in it may be part of the answer. places: results already known in this batch. */
function counted(element, places) {
  const path = [];
  let verdict = turn.watched === null || stale();
  for (let at = element; at !== null; at = above(at)) {
    const known = places.get(at);
    if (known !== undefined) {
      verdict = known;
      break;
    }
    path.push(at);
    if (turn.watched !== null && turn.watched.includes(at)) verdict = true;
    const composer = turn.composer && turn.composer.element;
    const aside = matches(at, ASIDE) && !(composer && encloses(at, composer));
    if (aside || at === composer || matches(at, NO_TEXT) || matches(at, MENU) || typedInto(at)) {
      // Inside a watched element everything counts: an answer has headers, too.
      if (!(aside && turn.watched !== null && verdict)) {
        verdict = false;
        break;
      }
    }
  }
  for (const at of path) places.set(at, verdict);
  return verdict;
}

function encloses(outer, inner) {
  for (let at = inner; at !== null; at = above(at)) if (at === outer) return true;
  return false;
}

const PICTURED = "img,canvas,audio,video"; // drawings of lines are mostly icons
const OBJECT = "\ufffc"; // the character that stands for one of these in a text

function textsIn(node, found) {
  if (nodeType(node) === 3) {
    if (dataOf(node).trim() !== "") found.push(dataOf(node));
  } else if (nodeType(node) === 1 && matches(node, PICTURED)) {
    found.push(OBJECT);
  } else if (nodeType(node) !== 1 || !matches(node, MENU)) {
    for (let child = firstChildOf(node); child !== null; child = nextSiblingOf(child)) textsIn(child, found);
    const root = nodeType(node) === 1 ? rootOf(node) : null;
    if (root !== null) textsIn(root, found);
  }
  return found;
}

const DIGITS = /[0-9\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\uff10-\uff19]+/g;

/** True if a short text only counts, like clocks and "2 s ago". 4 that becomes 42 may be a growing answer. */
function ticks(old, fresh) {
  if (old.length > 80 || fresh.length > 80 || old.replace(DIGITS, "0") !== fresh.replace(DIGITS, "0")) return false;
  const [from, to] = [old.match(DIGITS) || [], fresh.match(DIGITS) || []];
  return from.every((number, index) => number === to[index] || !to[index].startsWith(number));
}

function differs(old, fresh) {
  if (old.length !== fresh.length) return true;
  for (let index = 0; index < old.length; index++) {
    if (old[index] !== fresh[index] && !ticks(old[index], fresh[index])) return true;
  }
  return false;
}

/** The changes, in order. */
function take(records) {
  if (turn === null || records.length === 0) return;
  const at = now();
  turn.mutations += records.length;
  const texts = new Map(); // text node -> its first text
  const places = new Map();
  const lists = new Map(); // element or root -> {gone, come}
  const looks = new Set();
  let suspects = false;
  for (let index = 0; index < records.length; index++) {
    const record = records[index];
    const target = record.target;
    if (record.type === "characterData") {
      if (nodeType(target) === 3 && !texts.has(target)) texts.set(target, record.oldValue || "");
    } else if (record.type === "childList") {
      let list = lists.get(target);
      if (list === undefined) lists.set(target, (list = { gone: [], come: [] }));
      for (let child = 0; child < record.removedNodes.length; child++) list.gone.push(record.removedNodes[child]);
      for (let child = 0; child < record.addedNodes.length; child++) list.come.push(record.addedNodes[child]);
    } else {
      looks.add(target);
    }
  }
  const changed = new Map(); // element in which text changed -> where it is visible, if it is
  const lost = []; // the same, but they have left the page
  const note = (element, shown) => {
    if (connected(element)) changed.set(element, shown);
    else lost.push(element);
  };
  for (const [node, old] of texts) {
    const parent = parentOf(node);
    const element = parent === null ? null : nodeType(parent) === 1 ? parent : above(node);
    if (element === null) continue;
    suspects = reconsider(element) || suspects;
    const fresh = dataOf(node);
    if (old !== fresh && !ticks(old, fresh) && (old.trim() !== "" || fresh.trim() !== "")) {
      words.set(element, at);
      begin(element, parent, [old], [node], at);
      note(element, [element]);
    }
  }
  const gone = [];
  const rewritten = []; // elements whose text was written anew, the same as before
  for (const [target, list] of lists) {
    const element = elementAt(target);
    if (element === null) continue;
    suspects = reconsider(element) || suspects;
    const [left, came, shown] = [[], [], []];
    let direct = false;
    for (const node of list.gone) {
      // Inserted and removed again before anybody could see it.
      if (parentOf(node) !== null || !list.come.includes(node)) textsIn(node, left);
    }
    for (const node of list.come) {
      if (parentOf(node) === null) continue;
      const already = came.length;
      textsIn(node, came);
      if (nodeType(node) === 1) {
        if (came.length > already) shown.push(node);
        if (!births.has(node)) births.set(node, at);
        suspects = suspect([node]) || suspects;
        suspects = suspect(find(node, MAYBE)) || suspects;
        if (rootOf(node) !== null) admit(rootOf(node));
      } else if (came.length > already) {
        direct = true;
        shown.push(element);
      }
    }
    if (list.gone.length > 0) gone.push([element, list.gone]);
    if (left.length > 0 || came.length > 0) begin(element, target, left, list.come, at);
    if (direct && differs(left, came)) words.set(element, at);
    if (differs(left, came)) note(element, came.length > 0 ? shown : [element]);
    else if (came.length > 0 && left.every((text, index) => text === came[index])) rewritten.push(element);
  }
  for (const element of looks) {
    suspects = suspect([element]) || suspects;
    if (uncovers(element)) changed.set(element, [element]);
  }
  // Text grew in an element that was replaced at the same moment: the change was visible all the same.
  for (const element of lost) {
    for (const [from, nodes] of gone) {
      if (connected(from) && nodes.some((node) => node === element || holds(node, element))) changed.set(from, [from]);
    }
  }
  if (turn.sent === null) return;
  const seenIn = new Set();
  for (const [element, shown] of changed) if (counted(element, places)) for (const one of shown) seenIn.add(one);
  if (seenIn.size > 0) turn.waiting.push([at, seenIn]);
  if (rewritten.some((element) => connected(element) && counted(element, places))) turn.rewritten = at;
  if (suspects || (turn.busy !== "" && at - turn.looked > 20)) glance();
}

/** A picture or the document of a frame was loaded: no element changed, and more is visible. */
function loaded(event) {
  const element = event.target;
  if (turn === null || turn.sent === null || before.has(element)) return;
  if (!(element instanceof HTMLImageElement || element instanceof HTMLIFrameElement)) return;
  turn.mutations += 1;
  if (connected(element) && counted(element, new Map())) turn.waiting.push([now(), new Set([element])]);
}

listen(document, "load", loaded, true);

/** Note when the first words came into an element that was there before them, or the words that they replaced: a bubble
 * may be inserted empty, or with a placeholder, long before it is answered. parent: the element or its root; left:
 * texts that were replaced; come: the new nodes. */
function begin(element, parent, left, come, at) {
  if (turn.sent === null || begun.has(element) || worded.has(element) || cameAt(element) === at) return;
  const was = left.join(" ").trim();
  if (was === "") {
    for (let child = firstChildOf(parent); child !== null; child = nextSiblingOf(child)) {
      if (!come.includes(child) && textsIn(child, []).length > 0) {
        worded.add(element);
        return;
      }
    }
  }
  begun.set(element, { at, was: was.slice(0, 100) });
}

/** When it came into the page, with its surroundings; null if it was there when the turn was sent. */
function cameAt(element) {
  for (let at = element; at !== null && !before.has(at); at = above(at)) if (births.has(at)) return births.get(at);
  return null;
}

/** Where the children of a document, a root or an element belong. */
function elementAt(parent) {
  const type = nodeType(parent);
  if (type === 1) return parent;
  return type === 11 && parent instanceof ShadowRoot ? hostOfRoot(parent) : document.documentElement;
}

/** A root that was in the HTML itself, or was made before the eye was loaded. */
function admit(root) {
  if (turn.roots.has(root)) return;
  turn.roots.add(root);
  observer.observe(root, WATCHED);
  suspect(find(root, MAYBE));
}

/** Words that were there and are shown only now, one by one: the style of an element with text changed. */
function uncovers(element) {
  if (turn.sent === null || before.has(element) || !connected(element)) return false;
  const times = (turn.turned.get(element) || 0) + 1;
  turn.turned.set(element, times);
  if (times > 2) return false;
  for (let child = firstChildOf(element); child !== null; child = nextSiblingOf(child)) {
    if (nodeType(child) === 3 && dataOf(child).trim() !== "") return true;
  }
  return false;
}

/** Text in it changed: a button may have a new name. */
function reconsider(element) {
  let fresh = false;
  let at = element;
  for (let step = 0; at !== null && step < 4; step++, at = above(at)) {
    if (buttonLike(at)) fresh = suspect([at]) || fresh;
  }
  return fresh;
}

/** True if one of them has become a possible sign. */
function suspect(all) {
  let fresh = false;
  for (let index = 0; index < all.length; index++) {
    const element = all[index];
    const signs = matches(element, MAYBE) ? signsOf(element) : [];
    const known = turn.maybe.get(element);
    if (signs.length > 0) {
      if (known === undefined || known.join() !== signs.join()) fresh = true;
      turn.maybe.set(element, signs);
    } else if (known !== undefined) {
      turn.maybe.delete(element);
    }
  }
  return fresh;
}

/** Decide which changes were visible, later than they happened: a layout at each change would slow the page down. */
function settle() {
  if (turn === null) return;
  take(observer.takeRecords());
  const waiting = turn.waiting;
  turn.waiting = [];
  const shown = new Map();
  let asked = 0;
  for (const [at, all] of waiting) {
    for (const element of all) {
      // An element that has gone since was visible while it was there.
      if (!shown.has(element)) shown.set(element, ++asked > 50 || !connected(element) || shows(element));
      if (shown.get(element)) {
        change(at);
        break;
      }
    }
  }
}

/** True if text in it is visible, now or once it has faded in. Text for screen readers only, such as "Loading" seconds
 * after everything is done, is not part of an answer, and is not read as one either. */
function shows(element) {
  const visible = checkVisibility(element, { opacityProperty: false, visibilityProperty: true });
  if (!visible && styleOf(element).display !== "contents") return false;
  for (let at = element; at !== null && nameOf(at) !== "body"; at = above(at)) {
    const style = styleOf(at);
    if (style.display !== "contents" && clipped(at, style, rectOf(at))) return false;
  }
  return true;
}

function change(at) {
  if (at < turn.last) return;
  const gap = [Math.round(at - turn.last), Math.round(turn.last - turn.sent)];
  turn.last = at;
  turn.changes += 1;
  turn.latest.push(gap);
  if (turn.latest.length <= LONGEST) return;
  turn.longest.push(turn.latest.shift());
  if (turn.longest.length > 2 * LONGEST) turn.longest = longest(turn.longest);
}

function longest(gaps) {
  return gaps.sort((one, other) => other[0] - one[0]).slice(0, LONGEST);
}
