// Writing the page as text. page.py describes the format; nothing is judged here.

const LEFT_OUT = new Set("base head link meta noscript param script source style template title track".split(" "));
const EMPTY = new Set(
  "audio br canvas embed hr iframe img input meter object progress select svg textarea video wbr".split(" "),
);
// The same as in page.py: the layout is written only if it differs from these.
const BLOCKS = new Set(
  ("address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form " +
    "h-page h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section " +
    "summary table tbody td tfoot th thead tr ul").split(" "),
);
const LAID_OUT_AS_BLOCK = /^(block|flex|grid|flow-root|list-item|table)|-cell$/;
const KEPT = new Set(
  ("id class role name type placeholder title alt lang dir start reversed colspan rowspan align for contenteditable " +
    "tabindex target disabled display open checked autocomplete maxlength download").split(" "),
);
const TELLING_DATA = /role|author|sender|from|speaker|user|type|message|turn|test|kind|state|status|side|lang|qa$|cy$/;
const TERMS = ["open", "close", "separators", "linethickness"]; // attributes of formula parts that carry meaning
const EDITOR = /(?:^|\s)(?:cm-editor|CodeMirror|monaco-editor|ace_editor)(?:\s|$)/; // as in boxes.py
const USED = /^(a|button|input|select|textarea)$/;
// Fonts whose letters are drawings: with them `face` is a picture of a face.
const DRAWN_LETTERS = /^["']?[^,]*(?:icon|symbol|awesome|glyph|fontello|mdl2|phosphor|lucide|feather|themify)/i;
const UNSEEN = /^(?:rgba\(.*, 0\)|transparent)$/;
// Words that a style adds and that are not in the element: two of them, or some letters of scripts without spaces.
const SAID_BY_STYLE = /\p{L}\S*\s+\S*\p{L}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{3}/u;
const TWO_WORDS_WIDE = 30; // CSS pixels
const XML_NAME = /^[a-z][a-z0-9_.-]*$/;

const NOT_XML =
  /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const IN_TEXT = /[&<>\r]/;
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;" };

function inText(text) {
  const clean = text.replace(NOT_XML, "\ufffd");
  return IN_TEXT.test(clean) ? clean.replace(/[&<>\r]/g, (sign) => ESCAPES[sign]) : clean;
}

function inQuotes(text) {
  return text.replace(NOT_XML, "\ufffd").replace(/[&<>"\r\n\t]/g, (sign) => ESCAPES[sign]);
}

/** {element: names} for the site's selectors; throws an error that names an invalid one. */
function marked(site) {
  const marks = new Map();
  if (!site) return marks;
  const roots = everyRoot();
  for (const name of Object.keys(site)) {
    if (!site[name]) continue;
    for (const root of roots) {
      for (const element of findFor(root, name, site[name])) {
        marks.set(element, marks.has(element) ? marks.get(element) + " " + name : name);
      }
    }
  }
  return marks;
}

function findFor(root, name, css) {
  try {
    return find(root, css);
  } catch (fault) {
    throw new Error(`bad selector <${name}>: ${css}`);
  }
}

function look(site) {
  settle();
  const marks = marked(site);
  const out = [];
  const root = document.documentElement;
  out.push(
    `<h-page url="${inQuotes(document.URL)}" title="${inQuotes(String(document.title))}"`,
    ` width="${innerWidth}" height="${innerHeight}"`,
  );
  if (dated()) out.push(` asked="${Math.round(now() - turn.sent)}"`);
  if (root !== null) {
    for (const name of ["lang", "dir"]) {
      if (attribute(root, name)) out.push(` ${name}="${inQuotes(attribute(root, name))}"`);
    }
    out.push(">");
    new Writer(out, marks).all(root);
  } else {
    out.push(">");
  }
  out.push("</h-page>");
  return out.join("");
}

// No real page is nested so deeply, and reading time grows with the depth. Deeper parts are written as text.
const DEEPEST = 200;

// The values that an element passes on to its children: under (an element around it is hidden), shut (it is in a closed
// <details>), silent (text directly in it is not visible), space (white space is shown), hand (the cursor is a pointing
// hand), inert (nothing in it can be used), born (when the piece of the page that brought them came), depth, and for its
// letters: font (family), size, ink, kept (they cannot be selected).
class Writer {
  constructor(out, marks) {
    this.out = out;
    this.marks = marks;
    this.left = []; // what is still to be written, the next at the end: pages nest deeper than any stack of calls
  }

  all(root) {
    const style = styleOf(root);
    const under = style.display === "none";
    const inert = attribute(root, "inert") !== null;
    const letters = { font: "", size: "", ink: "", kept: false };
    const shown = { under, shut: false, silent: false, space: "", hand: false };
    this.inside(root, { ...shown, inert, born: null, depth: 0, ...letters });
    while (this.left.length > 0) {
      const [node, around] = this.left.pop();
      if (around === null) this.out.push(node);
      else if (nodeType(node) === 1) this.element(node, around);
      else this.text(dataOf(node), around.space);
    }
  }

  /** The children of an element, in the order they are shown. */
  inside(element, around) {
    const root = rootOf(element);
    this.later(childrenOf(root === null ? element : root), around);
  }

  later(nodes, around) {
    for (let index = nodes.length - 1; index >= 0; index--) {
      const type = nodeType(nodes[index]);
      if (type === 1 || ((type === 3 || type === 4) && !around.silent)) this.left.push([nodes[index], around]);
    }
  }

  text(data, space) {
    // Markup is indented; white space that is not shown need not be kept.
    if (space === "" && /^[ \t\n\r]*$/.test(data)) this.out.push(data === "" ? "" : data.includes("\n") ? "\n" : " ");
    else this.out.push(inText(data));
  }

  element(element, around) {
    const name = nameOf(element);
    if (LEFT_OUT.has(name) || (name === "input" && attribute(element, "type") === "hidden")) return;
    if (around.depth >= DEEPEST) {
      if (around.under || seen(element)) this.inside(element, around);
      return;
    }
    const tag = XML_NAME.test(name) ? name : "x-" + name.replace(/[^a-z0-9_.-]/g, "-");
    const out = this.out;
    out.push("<", tag);
    this.attributes(element, name);
    out.push(` h-id="${idOf(element)}"`);
    const inner = {
      under: around.under,
      shut: false,
      silent: false,
      space: around.space,
      hand: around.hand,
      inert: around.inert || attribute(element, "inert") !== null,
      born: bornOf(element, around.born),
      depth: around.depth + 1,
      font: around.font,
      size: around.size,
      ink: around.ink,
      kept: around.kept,
    };
    if (!around.under) this.looks(element, name, inner, around);
    if (inner.born !== null) out.push(` h-born="${Math.round(inner.born)}"`);
    const said = saidOf(element);
    if (said !== undefined) out.push(` h-said="${Math.round(said)}"`);
    const begun = begunOf(element);
    if (begun !== undefined) out.push(` h-first="${Math.round(begun.after)}" h-was="${inQuotes(begun.was)}"`);
    if (this.marks.has(element)) out.push(` h-site="${inQuotes(this.marks.get(element))}"`);
    if (rootOf(element) !== null) out.push(' h-shadow="1"');
    if (EMPTY.has(name)) {
      out.push("/>");
      return;
    }
    out.push(">");
    this.left.push([`</${tag}>`, null]);
    if (!inner.under && bare(element)) this.generated(element);
    if (name === "math") this.formula(element);
    else if (name === "details" && attribute(element, "open") === null && !inner.under) this.closed(element, inner);
    else if (name === "slot" && element instanceof HTMLSlotElement) this.slot(element, inner);
    else this.inside(element, inner);
  }

  /** The words of an element that only its style has: `content` in its pseudo-elements. */
  generated(element) {
    const box = rectOf(element);
    if (box.width < TWO_WORDS_WIDE || box.height === 0) return; // an icon, or nothing
    for (const part of ["::before", "::after"]) {
      const said = /^"((?:[^"\\]|\\.)*)"$/s.exec(styleOf(element, part).content);
      if (said !== null && SAID_BY_STYLE.test(said[1])) this.out.push(inText(said[1].replace(/\\(.)/g, "$1")));
    }
  }

  slot(slot, inner) {
    const filled = assignedTo(slot);
    this.later(filled.length > 0 ? filled : childrenOf(slot), inner);
  }

  /** Of a closed <details> only the first <summary> is visible. */
  closed(details, inner) {
    const nodes = Array.from(childrenOf(details));
    const summary = nodes.find((node) => nodeType(node) === 1 && nameOf(node) === "summary");
    const shut = { ...inner, shut: true };
    for (const node of nodes.reverse()) {
      if (nodeType(node) === 1) this.left.push([node, node === summary ? inner : shut]);
      else if (nodeType(node) === 3 && dataOf(node).trim() !== "") {
        this.left.push(['<h-text h-hide="1">' + inText(dataOf(node)) + "</h-text>", null]);
      }
    }
  }

  /** Its TeX if the page contains it, otherwise its structure (what is above or below what) without any style. */
  formula(math) {
    const tex = find(math, 'annotation[encoding*="tex" i]');
    if (tex.length > 0) this.out.push('<annotation h-hide="1">', inText(textOf(tex[0])), "</annotation>");
    else for (const child of childrenOf(math)) this.term(child, 0);
  }

  term(node, depth) {
    const type = nodeType(node);
    if (type === 3 || type === 4) this.text(dataOf(node), "");
    if (type !== 1) return;
    const name = nameOf(node);
    if (LEFT_OUT.has(name) || name.startsWith("annotation")) return;
    if (!XML_NAME.test(name) || depth > 80) {
      this.out.push(inText(textOf(node)));
      return;
    }
    this.out.push("<", name);
    for (const key of TERMS) {
      const value = attribute(node, key);
      if (value !== null) this.out.push(` ${key}="${inQuotes(value.slice(0, 100))}"`);
    }
    this.out.push(">");
    for (const child of childrenOf(node)) this.term(child, depth + 1);
    this.out.push(`</${name}>`);
  }

  attributes(element, name) {
    const out = this.out;
    for (const key of attributeNames(element)) {
      let value = attribute(element, key);
      if (KEPT.has(key)) value = value.slice(0, 2000);
      else if (key.startsWith("aria-")) value = value.slice(0, 1000);
      else if (key.startsWith("data-")) {
        if (value.length > 100 || !TELLING_DATA.test(key)) continue;
      } else if (key === "value") {
        if (name !== "li" && name !== "button" && !this.label(element, name)) continue;
      } else if (key === "href" || key === "src") {
        value = address(element, name, key, value);
        if (value === null) continue;
      } else continue;
      if (!XML_NAME.test(key)) continue;
      out.push(` ${key}="${inQuotes(value)}"`);
    }
    if (name === "svg" || name === "canvas") this.drawing(element);
    else if (name === "audio" || name === "video") this.recording(element, name);
    else if (name === "input" || name === "textarea" || name === "select") this.value(element, name);
    else if (EDITOR.test(attribute(element, "class") || "")) this.editor(element);
  }

  /** The whole text of a code editor, if it is accessible: only the lines in view are on the page. */
  editor(element) {
    const whole = writtenIn(element);
    if (whole !== null) this.out.push(` h-value="${inQuotes(whole)}"`);
  }

  label(element, name) {
    return name === "input" && /^(submit|button|reset|image)$/i.test(attribute(element, "type") || "");
  }

  /** The source of a sound or a film that has none of its own. */
  recording(element, name) {
    const sources = attribute(element, "src") === null ? find(element, "source[src]") : [];
    const source = sources.length > 0 ? address(element, name, "src", attribute(sources[0], "src")) : null;
    if (source !== null) this.out.push(` src="${inQuotes(source)}"`);
  }

  /** What a drawing is called, and the words in it, where it says so inside. */
  drawing(svg) {
    const labels = Array.from(find(svg, "text,foreignObject"), (label) => textOf(label).trim());
    if (nameOf(svg) === "canvas") labels.push(textOf(svg).trim());
    const said = Array.from(new Set(labels.map((label) => label.replace(/\s+/g, " ")))).filter((label) => label !== "");
    if (said.length > 0) this.out.push(` h-drawn="${inQuotes(said.join(", ").slice(0, 1000))}"`);
    const titles = find(svg, "title");
    if (titles.length > 0 && attribute(svg, "title") === null) {
      this.out.push(` title="${inQuotes(textOf(titles[0]).slice(0, 200))}"`);
    }
    const uses = find(svg, "use[href]");
    if (uses.length > 0) this.out.push(` data-use="${inQuotes(attribute(uses[0], "href").slice(0, 200))}"`);
  }

  value(element, name) {
    const type = (attribute(element, "type") || "").toLowerCase();
    if (name === "select") {
      const chosen = Array.from(element.selectedOptions || [], (option) => textOf(option).trim());
      this.out.push(` h-value="${inQuotes(chosen.join(", "))}"`);
      const all = Array.from(element.options || []).filter((option) => !option.disabled && option.value !== "");
      const labels = all.slice(0, 50).map((option) => textOf(option).trim().replace(/\s+/g, " ").slice(0, 120));
      this.out.push(` h-options="${inQuotes(labels.filter((label) => label !== "").join("\n"))}"`);
    } else if (type === "checkbox" || type === "radio") {
      if (element.checked && attribute(element, "checked") === null) this.out.push(' checked=""');
    } else if (type === "file") {
      const names = Array.from(element.files || [], (file) => file.name);
      if (names.length > 0) this.out.push(` h-value="${inQuotes(names.join(", "))}"`);
    } else if (typedInto(element) && type !== "password") {
      this.out.push(` h-value="${inQuotes(String(element.value))}"`);
    }
  }

  /** Where and how it is shown. */
  looks(element, name, inner, around) {
    const out = this.out;
    const style = styleOf(element);
    const display = style.display;
    const box = rectOf(element);
    const [width, height] = [Math.round(box.width), Math.round(box.height)];
    if (box.width > 0 || box.height > 0) {
      out.push(` h-box="${Math.round(box.left)},${Math.round(box.top)},${width},${height}"`);
    }
    if (around.shut || display === "none" || style.contentVisibility === "hidden" || faded(element, style)) {
      inner.under = true;
    } else if (style.visibility !== "visible") {
      // An element in it may be visible all the same.
      if (shownWithin(element)) inner.silent = true;
      else inner.under = true;
    } else if (display !== "contents" && name !== "body" && clipped(element, style, box)) {
      inner.under = true;
    }
    if (inner.under) {
      out.push(' h-hide="1"');
      return;
    }
    const block = LAID_OUT_AS_BLOCK.test(display);
    if (block !== BLOCKS.has(name) && name !== "br" && name !== "slot") {
      out.push(block ? ' h-show="block"' : ' h-show="inline"');
    }
    if (name === "li" && numberedByStyle(element, style)) out.push(' h-count="1"');
    const white = style.whiteSpace;
    inner.space = white === "pre-line" ? "line" : white.startsWith("pre") || white.startsWith("break") ? "pre" : "";
    if (name === "textarea") inner.space = around.space;
    else if (inner.space !== "") out.push(` h-space="${inner.space}"`);
    else if (around.space !== "") out.push(' h-space="normal"');
    this.letters(element, name, style, inner, around);
    inner.hand = style.cursor === "pointer";
    if (inner.hand && !around.hand) out.push(' h-click="1"');
    if (typedInto(element)) out.push(isComposer(element) ? ' h-edit="1" h-typed="1"' : ' h-edit="1"');
    if (inner.inert ? USED.test(name) || typedInto(element) : switchedOff(element)) out.push(' h-off="1"');
  }

  /** The style of its letters, if it differs from that around it: text set apart is often not the answer. */
  letters(element, name, style, inner, around) {
    const out = this.out;
    inner.font = style.fontFamily;
    if (inner.font !== around.font && DRAWN_LETTERS.test(inner.font)) out.push(' h-icon="1"');
    inner.size = style.fontSize;
    if (inner.size !== around.size) out.push(` h-font="${Math.round(parseFloat(inner.size) * 10) / 10}"`);
    inner.ink = style.color;
    if (inner.ink !== around.ink) out.push(` h-ink="${inQuotes(inner.ink)}"`);
    if (style.fontStyle === "italic") out.push(' h-slant="1"');
    if (style.opacity !== "1") out.push(` h-dim="${style.opacity}"`);
    inner.kept = style.userSelect === "none";
    if (inner.kept && !around.kept) out.push(' h-mute="1"');
    const line = style.borderLeftWidth !== "0px" && !UNSEEN.test(style.borderLeftColor);
    if (line || !UNSEEN.test(style.backgroundColor)) out.push(' h-edge="1"');
    const align = style.verticalAlign;
    if (align === "super" || align === "sub") out.push(` h-raise="${align}"`);
    const cut = style.overflowY === "hidden" || style.overflowY === "clip";
    if (cut && shownHeight(element) > 1 && wholeHeight(element) - shownHeight(element) > 4) out.push(' h-cut="1"');
  }
}

/** The text of an editor, through the interfaces of CodeMirror 6 and 5, Ace and Monaco; null for others. */
function writtenIn(element) {
  try {
    const content = find(element, ".cm-content")[0];
    const tile = content && (content.cmTile || content.cmView);
    const view = tile && ((tile.root && tile.root.view) || (tile.rootView && tile.rootView.view));
    if (view) return String(view.state.doc);
    if (element.CodeMirror) return String(element.CodeMirror.getValue());
    if (element.env && element.env.editor) return String(element.env.editor.getValue());
    const all = window.monaco ? window.monaco.editor.getEditors() : [];
    const found = all.find((editor) => editor.getDomNode() === element);
    return found ? String(found.getValue()) : null;
  } catch (fault) {
    return null; // then the text on the page is read
  }
}

/** True if it is not transparent; an element that is only fading in counts as visible. */
function faded(element, style) {
  if (style.opacity !== "0") return false;
  for (const animation of animationsOn(element)) if (animation.playState === "running") return false;
  return true;
}

/** True if there is no element and no word in it. */
function bare(element) {
  for (const child of childrenOf(element)) {
    const type = nodeType(child);
    if (type === 1 || ((type === 3 || type === 4) && dataOf(child).trim() !== "")) return false;
  }
  return true;
}

/** True if the number of an item is neither its text nor that of an <ol>. */
function numberedByStyle(element, style) {
  if (style.listStyleType === "none") return styleOf(element, "::before").content.includes("counter");
  return style.listStyleType.startsWith("decimal") && style.display === "list-item";
}

function shownWithin(element) {
  const all = find(element, "*");
  for (let index = 0; index < all.length; index++) {
    const style = styleOf(all[index]);
    if (style.visibility === "visible" && style.display !== "none") return true;
  }
  return false;
}

/** True if it is clipped by its own edges, or is where nobody can scroll to. */
function clipped(element, style, box) {
  if (box.width <= 1 || box.height <= 1) {
    const cut = style.overflowX !== "visible" || style.overflowY !== "visible";
    if (!cut && style.clip === "auto" && style.clipPath === "none") return false;
    return !escapes(element, style.position);
  }
  if (box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight) return false;
  if (style.position === "fixed") return true;
  return style.position === "absolute" && box.right + scrollX < -500;
}

/** True if something in it is outside its edges, like the window of a chat in the empty element it is attached to. */
function escapes(around, position) {
  const all = find(around, "*");
  for (let index = 0; index < all.length && index < 200; index++) {
    const place = styleOf(all[index]).position;
    if (place !== "fixed" && !(place === "absolute" && position === "static")) continue;
    const box = rectOf(all[index]);
    if (box.width > 1 && box.height > 1) return true;
  }
  const root = nodeType(around) === 1 ? rootOf(around) : null;
  return root !== null && escapes(root, position);
}

/** A link or a source as an absolute address; null if it is not worth keeping. */
function address(element, name, key, value) {
  let whole = value;
  try {
    whole = new URL(value, document.baseURI).href;
  } catch (fault) {
    // Kept unchanged: it shows what the page says.
  }
  // Of data in the page itself only the type is kept: a picture may have megabytes.
  if (key === "src") return /^(?:data:[^;,]{0,80}|blob:|)/i.exec(whole)[0] || whole.slice(0, 2000);
  // A link is part of an answer: shortened, it would be another one.
  return /^(data|blob|javascript):/i.test(whole) ? whole.slice(0, 200) : whole;
}
