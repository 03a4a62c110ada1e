// Slate in React, with a placeholder inside the box.
import {createElement} from "react";
import {createRoot} from "react-dom/client";
import {Node, Transforms, Editor, createEditor} from "slate";
import {withHistory} from "slate-history";
import {Editable, Slate, withReact} from "slate-react";

export function mount(place, send) {
  const editor = withReact(withHistory(createEditor()));
  const empty = [{type: "paragraph", children: [{text: ""}]}];
  const onKeyDown = (event) => {
    if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); send(); }
  };
  const box = createElement(Editable, {onKeyDown, placeholder: "Write a message", "aria-label": "Message"});
  createRoot(place).render(createElement(Slate, {editor, initialValue: empty}, box));
  return {
    read: () => editor.children.map((node) => Node.string(node)).join("\n"),
    clear() {
      Transforms.delete(editor, {at: {anchor: Editor.start(editor, []), focus: Editor.end(editor, [])}});
      while (editor.children.length > 1) Transforms.removeNodes(editor, {at: [1]});
    },
  };
}
