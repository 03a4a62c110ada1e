// CodeMirror 6 with what an editor of prompts has: brackets that close, words that are offered after a slash.
import {autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap} from "@codemirror/autocomplete";
import {defaultKeymap, history, historyKeymap} from "@codemirror/commands";
import {EditorView, keymap, placeholder} from "@codemirror/view";

const offered = (context) => {
  const word = context.matchBefore(/\/\w*/);
  return word && {from: word.from, options: ["/summarise", "/translate"].map((label) => ({label}))};
};

export function mount(place, send) {
  const view = new EditorView({
    parent: place,
    extensions: [
      keymap.of([...completionKeymap, {key: "Enter", run: () => { send(); return true; }}]),
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap]),
      closeBrackets(), history(), autocompletion({override: [offered]}),
      EditorView.lineWrapping, placeholder("Write a message"),
      EditorView.contentAttributes.of({"aria-label": "Message"}),
      EditorView.theme({"&": {maxHeight: "160px"}, ".cm-scroller": {overflow: "auto"}}),
    ],
  });
  return {
    read: () => view.state.doc.toString(),
    clear: () => view.dispatch({changes: {from: 0, to: view.state.doc.length}}),
  };
}
