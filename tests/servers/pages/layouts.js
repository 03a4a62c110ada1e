// Widgets laid out as those met most are: what stands around the words, how it is called, and when it comes.
// Each makes the user's bubble and begins one for a reply; `begin` gives the element that the words are written into.
"use strict";
const FACE = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='32' height='32'/>";
const clock = () => new Date().toLocaleTimeString("en", {hour: "numeric", minute: "2-digit"});

function row(it, tag, attributes, html) {
  return it.add(element(tag, attributes, html));
}

function put(around, selector, text) {
  around.querySelector(selector).innerText = text;
  return around;
}

// The states that the user's bubble goes through: at once, when the server has it, when it was read.
function states(target, [first, ...later], pace = 250) {
  target.textContent = first;
  later.forEach((state, place) => setTimeout(() => { target.textContent = state; }, pace * (place + 1)));
}

const LAYOUTS = {
  // A face, blocks of text, and a line of name, kind and time under them; the user's say Sending, Delivered, Seen.
  blocks: {
    user(it, text) {
      const part = row(it, "div", {class: "part part-user"},
        '<div class="comment-container"><div class="comment comment-by-user"><div class="blocks"><div class="block block-paragraph">' +
        '</div></div></div></div><div class="comment-state"></div>');
      put(part, ".block", text);
      states(part.querySelector(".comment-state"), ["Sending…", "Delivered", "Seen"]);
    },
    begin: (it) => row(it, "div", {class: "part part-admin part-with-meta"},
      `<div class="part-avatar"><img alt="Fin" src="${FACE}"></div><div class="comment-container">` +
      '<div class="comment comment-by-admin"><div class="blocks"></div></div>' +
      '<div class="comment-metadata"><span>Fin · AI Agent · Just now</span></div></div>').querySelector(".blocks"),
  },
  // Class names that say nothing; a name over the bubble, time and state under it.
  hashed: {
    greets: true,
    user(it, text) {
      const part = row(it, "div", {class: "sc-1x0fz3 kQwvTg"},
        '<div class="sc-9bq2ka jRtLmn"><div class="sc-2kk1pz eWxTyu"></div></div><div class="sc-77dfa1 hLopQr"></div>');
      put(part, ".eWxTyu", text);
      states(part.querySelector(".hLopQr"), ["Sending", `Sent · ${clock()}`]);
    },
    begin: (it) => row(it, "div", {class: "sc-1x0fz3 dFgHjk"},
      '<div class="sc-0ppl2w cVbNmq">Harbour Help</div><div class="sc-9bq2ka tYuIop"><div class="sc-2kk1pz aSdFgh"></div></div>' +
      `<div class="sc-77dfa1 zXcVbn">${clock()}</div>`).querySelector(".aSdFgh"),
  },
  // Modifiers of the wrapper say which parts a bubble has.
  modifiers: {
    user(it, text) {
      put(row(it, "div", {class: "msg msg--outgoing msg--has-time msg--single"},
        `<div class="msg__wrapper msg__wrapper--time"><div class="msg__content"><div class="msg__text"></div></div>` +
        `<div class="msg__sent-time">${clock()}</div></div>`), ".msg__text", text);
    },
    begin: (it) => row(it, "div", {class: "msg msg--incoming msg--avatar msg--with-name msg--sender-name"},
      '<div class="msg__avatar avatar avatar--md">R</div><div class="msg__wrapper msg__wrapper--name msg__wrapper--time">' +
      '<div class="msg__header"><div class="msg__sender-name">Robin</div>' +
      `<div class="msg__sent-time">${clock()}</div></div><div class="msg__bubble msg__bubble--by-author"></div></div>`)
      .querySelector(".msg__bubble"),
  },
  // The name is a heading in the bubble.
  "heading-name": {
    user(it, text) {
      put(row(it, "div", {class: "group message user-turn"},
        '<h2 class="select-none font-semibold">You</h2><div class="flex-col gap-1"><div class="max-w-full">' +
        '<div class="message-content"><div class="whitespace-pre-wrap"></div></div></div></div>'), ".whitespace-pre-wrap", text);
    },
    begin: (it) => row(it, "div", {class: "group message agent-turn"},
      '<h2 class="select-none font-semibold">GPT-4o mini</h2><div class="flex-col gap-1"><div class="max-w-full">' +
      '<div class="message-content"><div class="markdown prose"></div></div></div></div>').querySelector(".prose"),
  },
  // A model chosen by a button answers under its own name.
  model: {
    before: '<div class="navbar"><button id="model-selector">llama3:latest</button></div>',
    user(it, text) {
      put(row(it, "div", {class: "w-full user-message"},
        '<div class="w-full flex-auto"><div class="chat-user"><div class="rounded-3xl bg-gray"><p></p></div></div></div>'), "p", text);
    },
    begin: (it) => row(it, "div", {class: "flex w-full message-7fa3b2c1"},
      '<div class="flex-auto w-full"><div class="self-center"><span class="line-clamp-1">llama3:latest</span> ' +
      `<span class="text-xs invisible-not">${clock()}</span></div><div class="chat-assistant w-full"></div></div>`)
      .querySelector(".chat-assistant"),
  },
  // Items of a list with words for screen readers only; Sending becomes a time.
  transcript: {
    user(it, text) {
      const part = row(it, "article", {class: "transcript__activity"},
        '<div class="unseen"><p>You said:</p></div><div class="stacked-layout"><div class="bubble__content"><div class="text-content"><p></p></div></div>' +
        '<div class="activity-status"><span></span></div></div>');
      put(part, ".text-content p", text);
      states(part.querySelector(".activity-status span"), ["Sending", "Just now"]);
    },
    begin: (it) => row(it, "article", {class: "transcript__activity"},
      '<div class="unseen"><p>Bot said:</p></div><div class="stacked-layout"><div class="initials">BT</div><div class="bubble__content">' +
      '<div class="text-content"></div></div><div class="activity-status"><span>Just now</span></div></div>')
      .querySelector(".text-content"),
  },
  // Words, time and ticks in one line.
  inline: {
    user(it, text) {
      const part = row(it, "div", {class: "message-out"},
        `<div class="copyable"><span class="selectable"></span><span class="m1 m-meta"><span class="m2">${clock()}</span>` +
        '<span class="m3" aria-label=" Pending ">◷</span></span></div>');
      put(part, ".selectable", text);
      setTimeout(() => { part.querySelector(".m3").outerHTML = '<span class="m3" aria-label=" Delivered ">✓✓</span>'; }, 300);
    },
    begin: (it) => row(it, "div", {class: "message-in"},
      `<div class="copyable"><span class="selectable"></span><span class="m1 m-meta"><span class="m2">${clock()}</span></span></div>`)
      .querySelector(".selectable"),
  },
  // The time stands in the same element as the words.
  beside: {
    user(it, text) {
      const message = row(it, "div", {class: "balloon is-out"}, '<div class="balloon-content"><div class="message"></div></div>')
        .querySelector(".message");
      message.append(text, element("span", {class: "time"}, `<span class="i18n">${clock()}</span>`));
    },
    begin(it) {
      const message = row(it, "div", {class: "balloon is-in"},
        '<div class="balloon-content"><div class="colored-name name"><span class="peer-title">Harbour Bot</span></div>' +
        `<div class="message"><span class="words"></span><span class="time"><span class="i18n">${clock()}</span></span></div></div>`);
      return message.querySelector(".words");
    },
    write(it, target, html) { target.innerHTML = html; },
  },
  // One group for each speaker: face, name and time, then messages, each of its own.
  grouped: {
    user(it, text) {
      it.group = null;
      put(row(it, "div", {class: "message-group mine"},
        `<div class="group-header"><span class="author">Guest</span><span class="timestamp">${clock()}</span></div>` +
        '<div class="group-messages"><div class="message-body"></div></div><div class="receipt">Sent</div>'), ".message-body", text);
    },
    begin(it, number) {
      if (number === 0 || !it.group) {
        it.group = row(it, "div", {class: "message-group theirs"},
          `<div class="gutter"><img alt="Robin's avatar" src="${FACE}"></div><div class="group-header"><span class="author">Robin</span>` +
          `<span class="badge">APP</span><span class="timestamp">${clock()}</span></div><div class="group-messages"></div>`)
          .querySelector(".group-messages");
      }
      return it.group.appendChild(element("div", {class: "message-body"}));
    },
  },
  // Paragraphs with utility classes, the time a paragraph too.
  paragraphs: {
    user(it, text) {
      put(row(it, "div", {class: "d-flex flex-row justify-content-end"},
        '<div><p class="small p-2 me-3 mb-1 text-white rounded-3 bg-primary"></p>' +
        `<p class="small me-3 mb-3 rounded-3 text-muted">${clock()} | Aug 13</p></div>`), "p", text);
    },
    begin: (it) => row(it, "div", {class: "d-flex flex-row justify-content-start"},
      `<img alt="avatar 1" src="${FACE}"><div><div class="small p-2 ms-3 mb-1 rounded-3 bg-light"></div>` +
      `<p class="small ms-3 mb-3 rounded-3 text-muted float-end">${clock()} | Aug 13</p></div>`).querySelector(".bg-light"),
  },
  // A header, a bubble and a footer with a state, for both sides.
  "header-footer": {
    user(it, text) {
      const part = row(it, "div", {class: "chat chat-end"},
        `<div class="chat-image avatar"><div class="w-10"><img alt="" src="${FACE}"></div></div>` +
        `<div class="chat-header">Anakin <time class="text-xs opacity-50">${clock()}</time></div>` +
        '<div class="chat-bubble"></div><div class="chat-footer opacity-50"></div>');
      put(part, ".chat-bubble", text);
      states(part.querySelector(".chat-footer"), ["Sending", "Delivered", `Seen at ${clock()}`]);
    },
    begin: (it) => row(it, "div", {class: "chat chat-start"},
      `<div class="chat-image avatar"><div class="w-10"><img alt="" src="${FACE}"></div></div>` +
      `<div class="chat-header">Obi-Wan <time class="text-xs opacity-50">${clock()}</time></div>` +
      '<div class="chat-bubble"></div><div class="chat-footer opacity-50">Delivered</div>').querySelector(".chat-bubble"),
  },
  // A list of materials: the words are a span, the time a paragraph under it.
  material: {
    user(it, text) {
      put(row(it, "li", {class: "MuiListItem-root MuiListItem-gutters"},
        '<div class="MuiListItemText-root"><span class="MuiTypography-root MuiTypography-body1 MuiListItemText-primary"></span>' +
        `<p class="MuiTypography-root MuiTypography-body2 MuiListItemText-secondary">${clock()}</p></div>`), "span", text);
    },
    begin: (it) => row(it, "li", {class: "MuiListItem-root MuiListItem-gutters"},
      '<div class="MuiListItemText-root"><span class="MuiTypography-root MuiTypography-body1 MuiListItemText-primary"></span>' +
      `<p class="MuiTypography-root MuiTypography-body2 MuiListItemText-secondary">${clock()}</p></div>`).querySelector("span"),
  },
  // Nothing but utility classes; who speaks stands in data attributes.
  utility: {
    user(it, text) {
      put(row(it, "div", {class: "group/message w-full", "data-role": "user"},
        '<div class="flex w-full items-start gap-2"><div class="flex flex-col gap-2"><div class="rounded-2xl px-3 py-2 text-right"></div></div></div>'),
        ".rounded-2xl", text);
    },
    begin: (it) => row(it, "div", {class: "group/message w-full", "data-role": "assistant"},
      '<div class="flex w-full items-start gap-2"><div class="flex size-8 items-center"><svg width="14" height="14"></svg></div>' +
      '<div class="flex flex-col gap-2"><div class="flex flex-col gap-4"></div><div class="flex gap-1"><button>Copy</button>' +
      '<button>Upvote</button></div></div></div>').querySelector(".gap-4"),
  },
  // A wrapper called after the author it shows; suggestions come with the answer.
  authored: {
    user(it, text) {
      put(row(it, "div", {class: "conversation-item from-author"},
        '<div class="bubble-with-author"><div class="text-by-author"></div></div>'), ".text-by-author", text);
    },
    begin: (it) => row(it, "div", {class: "conversation-item to-author has-name"},
      '<p class="agent-name">Harbour</p><div class="bubble-with-name"><div class="text-by-agent"></div></div>')
      .querySelector(".text-by-agent"),
    done(it) {
      const offered = row(it, "div", {class: "quick-replies"});
      for (const one of ["Yes", "No", "Tell me more"]) offered.append(element("div", {class: "chip", style: "cursor: pointer"}, one));
    },
  },
  // Nothing has a class at all.
  bare: {
    user(it, text) {
      put(row(it, "div", {}, `<div><span>You</span></div><div><span></span></div><div><small>${clock()}</small></div>`),
        ":scope > div:nth-child(2) > span", text);
    },
    begin: (it) => row(it, "div", {}, `<div><span>Robin</span></div><div><span></span></div><div><small>${clock()}</small></div>`)
      .querySelector(":scope > div:nth-child(2) > span"),
  },
  // Titles over the boxes, as libraries of chat elements have them.
  titled: {
    user(it, text) {
      put(row(it, "div", {class: "cbox cbox-right"},
        `<div class="cbox-title">Me</div><div class="cbox-text right"></div><div class="cbox-time non-copiable" data-text="now">just now</div>`),
        ".cbox-text", text);
    },
    begin: (it) => row(it, "div", {class: "cbox cbox-left"},
      '<div class="cbox-title">Kit from the shop</div><div class="cbox-text left"></div><div class="cbox-time">just now</div>')
      .querySelector(".cbox-text"),
  },
  // The user's bubble is nothing but the words; the bot's has lines that no name tells from the answer.
  "lone-user": {
    greets: true,
    user(it, text) { row(it, "p", {class: "q"}, "").innerText = text; },
    begin: (it) => row(it, "section", {class: "a"},
      `<div class="k1">Kit from the shop</div><div class="k2"></div><div class="k3">${clock()}</div>`).querySelector(".k2"),
  },
  // A turn holds both sides; the day stands over it, and under the answer people are asked whether it helped.
  turns: {
    user(it, text) {
      it.pair = row(it, "section", {class: "turn"},
        '<div class="day">Today</div><div class="ask"><div class="ask-text"></div></div>');
      put(it.pair, ".ask-text", text);
    },
    begin(it, number) {
      const reply = it.pair.appendChild(element("div", {class: "reply"},
        '<div class="reply-text"></div><div class="rate"><span>Was this helpful?</span> <span style="cursor: pointer">Yes</span> ' +
        '<span style="cursor: pointer">No</span></div>'));
      return reply.querySelector(".reply-text");
    },
  },
};

const layout = LAYOUTS[page.replace("layout-", "")];
document.querySelector("main").insertAdjacentHTML("beforebegin", layout.before || "");
const wanted = new URLSearchParams(location.search);
const talk = chat({
  ...layout,
  write(it, target, html) {
    if (wanted.has("plain")) target.textContent = element("div", {}, html).textContent;
    else target.innerHTML = html;
  },
});
if (layout.greets) talk.begin(0).textContent = "Hello! What would you like to know?";
