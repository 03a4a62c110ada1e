// The tree as a person sees it: shadow roots (closed ones too) belong to the page, and every element has a number for as
// long as it lives.

const numbers = new WeakMap(); // element -> number
const elements = new Map(); // number -> weak reference
const forget = new FinalizationRegistry((number) => elements.delete(number));
let lastNumber = 0;

function idOf(element) {
  let number = numbers.get(element);
  if (number === undefined) {
    number = ++lastNumber;
    numbers.set(element, number);
    elements.set(number, new Weak(element));
    forget.register(element, number);
  }
  return number;
}

function elementOf(number) {
  const reference = elements.get(number);
  return (reference && reference.deref()) || null;
}

// A closed root is accessible only when it is made.
const closedRoots = new WeakMap(); // host -> root
const madeRoots = new Set(); // weak references to every root made by script
const forgetRoot = new FinalizationRegistry((reference) => madeRoots.delete(reference));
let onRoot = null; // called with every root at once: its first words may be written at the same moment

function keepRoot(host, root) {
  const reference = new Weak(root);
  closedRoots.set(host, root);
  madeRoots.add(reference);
  forgetRoot.register(root, reference);
  if (onRoot !== null) onRoot(root);
}

Object.defineProperty(Element.prototype, "attachShadow", {
  configurable: true,
  enumerable: true,
  writable: true,
  value: {
    attachShadow(options) {
      const root = Reflect.apply(attachShadow, this, arguments);
      keepRoot(this, root);
      return root;
    },
  }.attachShadow,
});

// The closed root of a custom element in the HTML itself can be requested once, and only in this way.
if (window.ElementInternals && HTMLElement.prototype.attachInternals) {
  const attachInternals = HTMLElement.prototype.attachInternals;
  const internalRoot = getter(ElementInternals.prototype, "shadowRoot");
  HTMLElement.prototype.attachInternals = {
    attachInternals() {
      const internals = Reflect.apply(attachInternals, this, arguments);
      const root = internalRoot(internals);
      if (root !== null && !closedRoots.has(this)) keepRoot(this, root);
      return internals;
    },
  }.attachInternals;
}

const hostOfRoot = getter(ShadowRoot.prototype, "host");

function rootOf(element) {
  return openRoot(element) || closedRoots.get(element) || null;
}

/** The parent element; above a shadow root its host. null at the top. */
function above(node) {
  const parent = parentOf(node);
  if (parent === null) return null;
  const type = nodeType(parent);
  return type === 1 ? parent : type === 11 && parent instanceof ShadowRoot ? hostOfRoot(parent) : null;
}

/** The document and all shadow roots in it, outer before inner. */
function everyRoot(start = document, found = []) {
  found.push(start);
  const all = find(start, "*");
  for (let index = 0; index < all.length; index++) {
    const root = rootOf(all[index]);
    if (root !== null) everyRoot(root, found);
  }
  return found;
}

/** True if a person sees it; an element that is only scrolled away counts as seen. */
function seen(element) {
  if (!connected(element)) return false;
  if (!checkVisibility(element, { opacityProperty: true, visibilityProperty: true })) {
    return styleOf(element).display === "contents" && above(element) !== null && seen(above(element));
  }
  const box = rectOf(element);
  return box.width > 0 && box.height > 0;
}

/** True if the elements around it clip it, like a side bar that is folded up. An element that is only scrolled away
 * counts as seen. */
function cutAway(element) {
  let box = edges(rectOf(element));
  if (animationsOn(element).length > 0 && element instanceof HTMLElement) box = unmoved(element) || box;
  let position = styleOf(element).position;
  for (let at = above(element); at !== null; at = above(at)) {
    const style = styleOf(at);
    const holds = style.transform !== "none" || style.filter !== "none";
    if (position === "fixed" && !holds) continue;
    if (position === "absolute" && !holds && style.position === "static") continue;
    position = style.position;
    const around = edges(rectOf(at));
    if (position === "fixed" && !meet(around, [0, 0, innerWidth, innerHeight])) return true;
    // The window scrolls what these two clip.
    if (at === document.documentElement || at === document.body) continue;
    if (style.display === "inline" || style.display === "contents") continue;
    if (style.overflowX === "visible" && style.overflowY === "visible") continue;
    if (around[2] - around[0] <= 1 || around[3] - around[1] <= 1) return true;
    if (scrolls(style.overflowX) || scrolls(style.overflowY)) box = around;
    else if (scrolledDown(at) !== 0 || scrolledAcross(at) !== 0) box = around;
    else if (!meet(box, around)) return true;
  }
  return false;
}

/** Where it would be if nothing moved it: a shimmering element leaves its frame again and again. */
function unmoved(element) {
  const parent = above(element);
  if (!(parent instanceof HTMLElement) || parentOf(element) !== parent) return null;
  const around = rectOf(parent);
  const own = offsetParentOf(element) === parent;
  const left = around.left + offsetLeft(element) - (own ? 0 : offsetLeft(parent));
  const top = around.top + offsetTop(element) - (own ? 0 : offsetTop(parent));
  return [left, top, left + offsetWidth(element), top + offsetHeight(element)];
}

function scrolls(overflow) {
  return overflow === "auto" || overflow === "scroll";
}

function edges(box) {
  return [box.left, box.top, box.right, box.bottom];
}

/** True if the two rectangles share more than an edge; each is [left, top, right, bottom]. */
function meet(one, other) {
  return (
    Math.min(one[2], other[2]) - Math.max(one[0], other[0]) > 1 &&
    Math.min(one[3], other[3]) - Math.max(one[1], other[1]) > 1
  );
}

function inert(element) {
  for (let at = element; at !== null; at = above(at)) if (attribute(at, "inert") !== null) return true;
  return false;
}

/** True if it is disabled or read-only by itself. */
function switchedOff(element) {
  if (matches(element, ":disabled,[aria-disabled=true],[aria-readonly=true]")) return true;
  return matches(element, "textarea[readonly],input[readonly]");
}

/** True if it cannot be used: disabled by itself, or together with an element around it. */
function off(element) {
  return switchedOff(element) || inert(element);
}

const TYPED = new Set(["", "text", "search", "email", "url", "tel", "number", "password"]);

/** True if the user can type into it: a text box, or the outermost element of an editor. */
function typedInto(element) {
  const name = nameOf(element);
  if (name === "textarea") return true;
  if (name === "input") return TYPED.has((attribute(element, "type") || "").toLowerCase());
  if (!(element instanceof HTMLElement) || !editable(element)) return false;
  const parent = parentOf(element);
  return !(parent instanceof HTMLElement && editable(parent));
}
