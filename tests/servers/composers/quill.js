// Quill with its usual key bindings, lists as one types among them.
import "quill/dist/quill.js"; // puts itself into the window
import style from "quill/dist/quill.core.css";

export function mount(place, send) {
  document.head.append(Object.assign(document.createElement("style"), {textContent: style}));
  const bindings = {send: {key: "Enter", shiftKey: false, handler: () => { send(); return false; }}};
  const quill = new window.Quill(place, {placeholder: "Write a message", modules: {keyboard: {bindings}}});
  quill.root.setAttribute("aria-label", "Message");
  return {read: () => quill.getText().replace(/\n$/, ""), clear: () => quill.setText("")};
}
