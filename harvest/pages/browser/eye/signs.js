// Signs that an answer is still being written, from an element's own attributes. `SIGNS` comes from busy_signs.py.
// Whether a sign is new, and how reliable it is, is judged elsewhere.

const SHOWN = SIGNS.filter((sign) => sign.css !== ""); // signs shown by the presence of elements
const NEAR = new Set(SIGNS.filter((sign) => sign.near).map((sign) => sign.name));
const TEXTLESS = new Set(SIGNS.filter((sign) => sign.textless).map((sign) => sign.name));

// Names of a button that stops an answer. Short ones must be the whole name: "Stop" is, "Stop sharing" is not.
const STOP_ALONE = new RegExp(
  "^(?:stop|stopp|stoppen|halt|interrupt|anhalten|arr[eê]ter|stopper|interrompre|detener|parar|interromper|ferma|" +
    "interrompi|стоп|остановить|зупинити|zatrzymaj|przerwij|durdur|stoppa|stop_circle|dừng|hentikan|" +
    "停止|中止|終止|终止|暂停生成|중지|정지|멈추기|إيقاف|توقف|रोकें|עצור|หยุด)[.…!]?$",
  "iu",
);
const STOP_WRITING = new RegExp(
  "(?:stop|cancel|abort|interrupt|halt|end)[\\s_-]*(?:the\\s+)?(?:current\\s+)?" +
    "(?:generat|respon|answer|reply|stream|writing|output|task|run\\b|message)|" +
    "(?:generat|respon|stream|answer|reply)\\w*[\\s_-]*(?:stop|abort|cancel)|" +
    "(?:stoppen|anhalten|abbrechen|beenden)$|(?:antwort|generierung)\\S*\\s+(?:stoppen|anhalten|abbrechen)|" +
    "(?:arr[eê]ter|interrompre|stopper)\\s+(?:la|le|l['’])|(?:detener|parar|interrumpir)\\s+(?:la\\s+)?(?:gener|resp)|" +
    "(?:parar|interromper)\\s+(?:a\\s+)?(?:gera|resp)|(?:ferma|interrompi)\\s+(?:la\\s+)?(?:gener|risp)|" +
    "(?:остановить|прервать|отменить)\\s+(?:генерац|ответ)|" +
    "(?:生成|応答|回答|出力|返信|回复|回應|输出|輸出|响应|答案)\\S{0,3}(?:停止|中止|中断|キャンセル|终止|終止)|" +
    "(?:停止|中止|中断|终止|終止)(?:生成|回答|回复|回應|输出|輸出|响应)|" +
    "(?:생성|응답|답변)\\s*(?:중지|중단|멈추기|정지|취소)|(?:إيقاف|توقف)\\s+\\S*(?:إنشاء|توليد|رد|استجاب)",
  "iu",
);
const OTHER_STOPS = /record|voice|audio|speak|speech|listen|read|mic|dictat|sharing|camera|video|play|follow|notif|timer|cookie/i;
const HINT = /^(?:typing|loading|loader|thinking|spinner|spinning|pending|generating|skeleton|dots|shimmer|streaming|writing|composing)$/;
// An element named an indicator is one, whatever its text: "Anna is looking up the tickets for you".
const INDICATOR = /^(?:indicator|animation|placeholder|loader|spinner|status)$/;
// One query finds all possible signs; the other tests are made on these few only.
const MAYBE = [
  "button,[role=button],input[type=button],input[type=submit]",
  ...SHOWN.map((sign) => sign.css),
  "[data-testid*=stop i],[aria-label*=stop i],[title*=stop i]",
  ...["typing", "load", "thinking", "spin", "pending", "generating", "skeleton", "dots", "shimmer", "stream", "writing",
    "composing", "cursor"].flatMap((word) => [
    `[class*=${word} i]`,
    `[data-testid*=${word} i]`,
    `[aria-label*=${word} i]`,
  ]),
].join(",");

/** The words of a name as programmers write them: `typing-indicator`, `isTyping`, `Bot_typing`. */
function wordsOf(text) {
  return text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/);
}

/** An attribute's words, without class names that only say what would happen (`data-[loading]:hidden`). */
function classWords(element) {
  const all = [];
  for (const token of (attribute(element, "class") || "").split(/\s+/)) {
    if (!/[:[]/.test(token)) all.push(...wordsOf(token));
  }
  return all;
}

function buttonLike(element) {
  const name = nameOf(element);
  if (name === "button") return true;
  if (name === "input") return /^(button|submit)$/i.test(attribute(element, "type") || "");
  return attribute(element, "role") === "button";
}

function stops(element) {
  const names = [];
  for (const key of ["aria-label", "title", "data-testid", "id", "value"]) {
    const value = attribute(element, key);
    if (value) names.push(value.trim());
  }
  const labelled = attribute(element, "aria-labelledby");
  if (labelled) {
    const label = find(rootAround(element), `[id="${labelled.trim().split(/\s+/)[0].replace(/["\\]/g, "\\$&")}"]`);
    if (label.length > 0) names.push(textOf(label[0]).trim());
  }
  const button = buttonLike(element);
  if (button) {
    const text = textOf(element).trim();
    if (text.length <= 40) names.push(text);
    const pictures = find(element, "svg,img,i,span,use");
    for (let index = 0; index < pictures.length && index < 10; index++) {
      for (const key of ["alt", "aria-label", "title", "data-icon", "data-testid"]) {
        const value = attribute(pictures[index], key);
        if (value) names.push(value.trim());
      }
    }
  }
  if (names.some((name) => OTHER_STOPS.test(name))) return false;
  if (names.some((name) => STOP_WRITING.test(name))) return true;
  if (!button) return false;
  if (names.some((name) => STOP_ALONE.test(name) || /^stop(?:[\s_-]*(?:btn|button|icon))?$/i.test(name))) return true;
  return !OTHER_STOPS.test(attribute(element, "class") || "") && classWords(element).includes("stop");
}

function rootAround(element) {
  let at = element;
  while (parentOf(at) !== null) at = parentOf(at);
  return at;
}

/** A small element that moves or says that somebody writes; inside a button it is a picture of something else. */
function hints(element) {
  for (let at = element; at !== null; at = above(at)) if (buttonLike(at) || nameOf(at) === "img") return false;
  const words = classWords(element).concat(
    wordsOf(attribute(element, "data-testid") || ""),
    wordsOf(attribute(element, "aria-label") || ""),
  );
  // `cursor-pointer` styles a link; a `typing-cursor` is at the end of a growing text.
  return words.some((word) => HINT.test(word)) || /(?:^|[\s_-])cursor(?:\s|$)/.test(attribute(element, "class") || "");
}

function nearlyTextless(element) {
  return textOf(element).trim().length <= (indicates(element) ? 200 : 30);
}

/** True if one of its names says both that somebody writes and that this is its only purpose: a `typing-indicator`,
 * while `typing` may be a bubble whose words are being written. */
function indicates(element) {
  const names = ((attribute(element, "class") || "") + " " + (attribute(element, "data-testid") || "")).split(/\s+/);
  return names.some((name) => {
    const words = /[:[]/.test(name) ? [] : wordsOf(name);
    return words.some((word) => HINT.test(word)) && words.some((word) => INDICATOR.test(word));
  });
}

/** The signs an element may be, from its own attributes: stop, hint, and those shown by the presence of elements. */
function signsOf(element) {
  const signs = SHOWN.filter((sign) => matches(element, sign.css)).map((sign) => sign.name);
  if (stops(element)) signs.push("stop");
  if (hints(element)) signs.push("hint");
  return signs;
}

/** A key by which an element can be recognised after the page has replaced it with a new one. */
function signature(element) {
  const parts = [nameOf(element)];
  for (const key of ["role", "type", "name", "aria-label", "data-testid", "placeholder", "class"]) {
    parts.push(attribute(element, key) || "");
  }
  return parts.join("|");
}
