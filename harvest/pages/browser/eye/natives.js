// What the browser itself offers, kept from before the page's own scripts ran: pages replace prototypes, fake clocks,
// wrap timers (so that each tick of ours would wake their framework), and a form with an input named "children" hides
// its own `children`. The files of this folder are joined, in the order given in part.py, into one function.

const bound = ((call, bind) => (native) => bind.call(call, native))(Function.prototype.call, Function.prototype.bind);

/** The native getter of a property, as a function of the object. */
const getter = (prototype, name) => bound(Object.getOwnPropertyDescriptor(prototype, name).get);

const nodeType = getter(Node.prototype, "nodeType");
const parentOf = getter(Node.prototype, "parentNode");
const firstChildOf = getter(Node.prototype, "firstChild");
const nextSiblingOf = getter(Node.prototype, "nextSibling");
const childrenOf = getter(Node.prototype, "childNodes");
const textOf = getter(Node.prototype, "textContent");
const connected = getter(Node.prototype, "isConnected");
const holds = bound(Node.prototype.contains);
const dataOf = getter(CharacterData.prototype, "data");

const nameOf = getter(Element.prototype, "localName");
const attribute = bound(Element.prototype.getAttribute);
const attributeNames = bound(Element.prototype.getAttributeNames);
const matches = bound(Element.prototype.matches);
const rectOf = bound(Element.prototype.getBoundingClientRect);
const scrolledDown = getter(Element.prototype, "scrollTop");
const scrolledAcross = getter(Element.prototype, "scrollLeft");
const wholeHeight = getter(Element.prototype, "scrollHeight");
const shownHeight = getter(Element.prototype, "clientHeight");
const openRoot = getter(Element.prototype, "shadowRoot");
const checkVisibility = bound(Element.prototype.checkVisibility);
const animationsOn = bound(Element.prototype.getAnimations);
const attachShadow = Element.prototype.attachShadow;
const editable = getter(HTMLElement.prototype, "isContentEditable");
const [offsetParentOf, offsetLeft, offsetTop, offsetWidth, offsetHeight] = ["Parent", "Left", "Top", "Width", "Height"].map(
  (name) => getter(HTMLElement.prototype, "offset" + name),
);
const assignedTo = bound(HTMLSlotElement.prototype.assignedNodes);

const findInElement = bound(Element.prototype.querySelectorAll);
const findInDocument = bound(Document.prototype.querySelectorAll);
const findInFragment = bound(DocumentFragment.prototype.querySelectorAll);
const animationsOfDocument = bound(Document.prototype.getAnimations);
const animationsOfShadow = bound(ShadowRoot.prototype.getAnimations);

const styleOf = window.getComputedStyle.bind(window);
const listen = bound(EventTarget.prototype.addEventListener);
const now = performance.now.bind(performance);
const every = window.setInterval.bind(window);
const Observer = window.MutationObserver;
const Weak = window.WeakRef;

/** All matching elements under a document, shadow root or element; shadow roots inside are not entered. */
function find(root, css) {
  const type = nodeType(root);
  return type === 1 ? findInElement(root, css) : type === 9 ? findInDocument(root, css) : findInFragment(root, css);
}
