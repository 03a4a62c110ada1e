// chatscope's kit as its guide for a chat with a language model has it: a box that is an editor, three dots while an
// answer is awaited, and answers that come whole, as HTML made of their Markdown.
import {ChatContainer, MainContainer, Message, MessageInput, MessageList, TypingIndicator} from "@chatscope/chat-ui-kit-react";
import style from "@chatscope/chat-ui-kit-styles/dist/default/styles.min.css";
import {marked} from "marked";
import {useState} from "react";
import {createRoot} from "react-dom/client";
import {wholeAnswer} from "./answer.js";

function Chat() {
  const [messages, setMessages] = useState([]), [typing, setTyping] = useState(false);
  const add = (...further) => setMessages((before) => [...before, ...further]);
  async function send(html, _text, said) {
    add({message: html, direction: "outgoing", sender: "user", position: "single"});
    setTyping(true);
    try {
      const bubbles = await wholeAnswer(said);
      add(...bubbles.map((text) => ({
        message: marked.parse(text), direction: "incoming", sender: "Assistant", position: "single",
      })));
    } catch (fault) {
      add({message: `<div role="alert" class="error">${fault.message}</div>`, direction: "incoming", position: "single"});
    } finally {
      setTyping(false);
    }
  }
  return (
    <div style={{position: "relative", height: "100%", maxWidth: 800, margin: "auto"}}>
      <MainContainer><ChatContainer>
        <MessageList scrollBehavior="auto" typingIndicator={typing ? <TypingIndicator content="Assistant is typing" /> : null}>
          {messages.map((model, place) => <Message key={place} model={model} />)}
        </MessageList>
        <MessageInput placeholder="Type message here" onSend={send} attachButton={false} />
      </ChatContainer></MainContainer>
    </div>
  );
}
document.head.append(Object.assign(document.createElement("style"), {textContent: style}));
createRoot(document.getElementById("root")).render(<Chat />);
