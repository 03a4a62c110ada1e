// Plain boxes; Tribute offers names after "@", emoji after ":" and commands after "/", and Enter takes the first.
import Tribute from "tributejs";
import style from "tributejs/dist/tribute.css";

const kind = location.pathname.slice(1);
const offers = (trigger, keys) => ({trigger, values: keys.map((key) => ({key, value: key})), menuShowMinLength: 0});

export function mount(place, send) {
  document.head.append(Object.assign(document.createElement("style"), {textContent: style}));
  const box = document.createElement(kind === "textarea" || kind === "input" ? kind : "div");
  box.setAttribute("aria-label", "Message");
  box.className = "box";
  place.append(box);
  const tribute = new Tribute({collection: [offers("@", ["alice", "albert"]), offers(":", ["smile", "sad"]), offers("/", ["imdb", "image"])]});
  tribute.attach(box);
  if (box instanceof HTMLDivElement) box.contentEditable = kind === "contenteditable" ? "true" : "plaintext-only";
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.defaultPrevented || tribute.isActive) return;
    event.preventDefault();
    send();
  });
  const typed = "value" in box;
  return {
    read: () => typed ? box.value : box.innerText,
    clear() { if (typed) box.value = ""; else box.replaceChildren(); },
  };
}
