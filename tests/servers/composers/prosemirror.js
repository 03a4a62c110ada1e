// ProseMirror as many chats have it: line breaks by Shift+Enter, quotes and dashes set as one types, lists as in Markdown.
import {chainCommands, baseKeymap, exitCode} from "prosemirror-commands";
import {history, redo, undo} from "prosemirror-history";
import {ellipsis, emDash, inputRules, smartQuotes, textblockTypeInputRule, undoInputRule, wrappingInputRule} from "prosemirror-inputrules";
import {keymap} from "prosemirror-keymap";
import {Schema} from "prosemirror-model";
import {nodes as basic, marks} from "prosemirror-schema-basic";
import {addListNodes} from "prosemirror-schema-list";
import {EditorState, TextSelection} from "prosemirror-state";
import {EditorView} from "prosemirror-view";

const whole = new Schema({nodes: addListNodes(new Schema({nodes: basic, marks}).spec.nodes, "paragraph block*", "block"), marks});
const plain = new Schema({nodes: {doc: {content: "paragraph+"}, paragraph: basic.paragraph, text: basic.text}});
const bare = new URLSearchParams(location.search).has("bare");
const schema = bare ? plain : whole;
const {heading, code_block, bullet_list, ordered_list, blockquote, hard_break} = schema.nodes;
const rules = [...smartQuotes, ellipsis, emDash];
if (!bare) rules.push(
  textblockTypeInputRule(/^(#{1,6})\s$/, heading, (match) => ({level: match[1].length})),
  textblockTypeInputRule(/^```$/, code_block),
  wrappingInputRule(/^\s*([-+*])\s$/, bullet_list),
  wrappingInputRule(/^(\d+)\.\s$/, ordered_list, (match) => ({order: +match[1]})),
  wrappingInputRule(/^\s*>\s$/, blockquote),
);
const breaks = (state, dispatch) => {
  dispatch(state.tr.replaceSelectionWith(hard_break.create()).scrollIntoView());
  return true;
};

export function mount(place, send) {
  const keys = {"Mod-z": undo, "Mod-y": redo, Backspace: undoInputRule, Enter: () => { send(); return true; }};
  if (!bare) keys["Shift-Enter"] = chainCommands(exitCode, breaks);
  const view = new EditorView(place, {
    state: EditorState.create({schema, plugins: [inputRules({rules}), keymap(keys), keymap(baseKeymap), history()]}),
    attributes: {"aria-label": "Message", role: "textbox"},
  });
  return {
    read: () => view.state.doc.textBetween(0, view.state.doc.content.size, "\n", (leaf) => leaf.type.name === "hard_break" ? "\n" : ""),
    clear() {
      const empty = schema.nodes.doc.createAndFill();
      const tr = view.state.tr.replaceWith(0, view.state.doc.content.size, empty.content);
      view.dispatch(tr.setSelection(TextSelection.atStart(tr.doc)));
    },
  };
}
