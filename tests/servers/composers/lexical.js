// Lexical's rich text, as its own playground has it.
import {createEmptyHistoryState, registerHistory} from "@lexical/history";
import {HeadingNode, QuoteNode, registerRichText} from "@lexical/rich-text";
import {$createParagraphNode, $getRoot, COMMAND_PRIORITY_HIGH, KEY_ENTER_COMMAND, createEditor} from "lexical";

export function mount(place, send) {
  const box = document.createElement("div");
  Object.assign(box, {contentEditable: "true", role: "textbox", ariaLabel: "Message"});
  place.append(box);
  const editor = createEditor({namespace: "chat", nodes: [HeadingNode, QuoteNode], onError(fault) { throw fault; }});
  editor.setRootElement(box);
  registerRichText(editor);
  registerHistory(editor, createEmptyHistoryState(), 300);
  editor.registerCommand(KEY_ENTER_COMMAND, (event) => {
    if (!event || event.shiftKey) return false;
    event.preventDefault();
    send();
    return true;
  }, COMMAND_PRIORITY_HIGH);
  const clear = () => editor.update(() => {
    const line = $createParagraphNode();
    $getRoot().clear().append(line);
    line.select();
  });
  clear();
  return {read: () => editor.getEditorState().read(() => $getRoot().getTextContent()), clear};
}
