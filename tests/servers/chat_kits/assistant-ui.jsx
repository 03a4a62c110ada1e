// assistant-ui's primitives put together as its own thread is: answers are streamed and shown as GitHub's Markdown.
import {
  ActionBarPrimitive, AssistantRuntimeProvider, ComposerPrimitive, ErrorPrimitive, MessagePrimitive, ThreadPrimitive,
  useLocalRuntime,
} from "@assistant-ui/react";
import {MarkdownTextPrimitive} from "@assistant-ui/react-markdown";
import {createRoot} from "react-dom/client";
import remarkGfm from "remark-gfm";
import {bubblesOf} from "./answer.js";

const model = {
  async *run({messages, abortSignal}) {
    const said = messages.at(-1).content.map((part) => part.text).join("");
    for await (const bubbles of bubblesOf(said, abortSignal))
      yield {content: bubbles.map((text) => ({type: "text", text}))};
  },
};
const Markdown = () => <MarkdownTextPrimitive remarkPlugins={[remarkGfm]} className="markdown" />;
const User = () => <MessagePrimitive.Root className="message user"><div className="bubble"><MessagePrimitive.Parts /></div></MessagePrimitive.Root>;
const Assistant = () => (
  <MessagePrimitive.Root className="message assistant">
    <div className="text">
      <MessagePrimitive.Parts components={{Text: Markdown}} />
      <MessagePrimitive.Error><ErrorPrimitive.Root className="error"><ErrorPrimitive.Message /></ErrorPrimitive.Root></MessagePrimitive.Error>
    </div>
    <ActionBarPrimitive.Root hideWhenRunning autohide="not-last" className="actions">
      <ActionBarPrimitive.Copy>Copy</ActionBarPrimitive.Copy>
      <ActionBarPrimitive.Reload>Refresh</ActionBarPrimitive.Reload>
    </ActionBarPrimitive.Root>
  </MessagePrimitive.Root>
);
const Chat = () => (
  <AssistantRuntimeProvider runtime={useLocalRuntime(model)}>
    <ThreadPrimitive.Root className="thread">
      <ThreadPrimitive.Viewport className="viewport">
        <ThreadPrimitive.Empty><h1>How can I help you today?</h1></ThreadPrimitive.Empty>
        <ThreadPrimitive.Messages components={{UserMessage: User, AssistantMessage: Assistant}} />
      </ThreadPrimitive.Viewport>
      <ComposerPrimitive.Root className="composer">
        <ComposerPrimitive.Input rows={1} autoFocus placeholder="Send a message..." aria-label="Message input" />
        <ThreadPrimitive.If running={false}><ComposerPrimitive.Send aria-label="Send message">↑</ComposerPrimitive.Send></ThreadPrimitive.If>
        <ThreadPrimitive.If running><ComposerPrimitive.Cancel aria-label="Stop generating">■</ComposerPrimitive.Cancel></ThreadPrimitive.If>
      </ComposerPrimitive.Root>
    </ThreadPrimitive.Root>
  </AssistantRuntimeProvider>
);
const style = `
.thread { display: flex; flex-direction: column; height: 100%; max-width: 44rem; margin: auto }
.viewport { flex: 1; overflow-y: auto; padding: 1rem } .message { margin: 1rem 0 }
.user { display: flex; justify-content: flex-end } .user .bubble { background: #eee; border-radius: 1rem; padding: .6rem 1rem; white-space: pre-wrap }
.actions { display: flex; gap: .4rem } .error { border: 1px solid #c00; color: #c00; padding: .5rem }
.composer { display: flex; align-items: end; border: 1px solid #ccc; border-radius: 1.5rem; padding: .5rem; margin: .5rem }
.composer textarea { flex: 1; border: 0; outline: 0; resize: none; font: inherit }
table { border-collapse: collapse } td, th { border: 1px solid #ccc; padding: .2rem .5rem }`;
document.head.append(Object.assign(document.createElement("style"), {textContent: style}));
createRoot(document.getElementById("root")).render(<Chat />);
