"""The purpose and the kind of an element, judged by its tag, role, class names and test id."""

import re
from functools import lru_cache

from harvest.pages.reading.figures import may_stand_alone
from harvest.pages.reading.page import Node, Page
from harvest.pages.reading.phrases import is_placeholder

_DIGITS = re.compile(r"(?<=[-_])\d+|\d{3,}")
_HEX = re.compile(r"[0-9a-f]{8,}|[0-9a-f-]{16,}")
_HASH = re.compile(r"_{1,2}(?=\w*\d)[\w-]{4,8}$")
_RELATING_WORDS = frozenset(
    {"by", "for", "from", "has", "have", "hide", "is", "no", "show", "to", "use", "with", "without"}
)
_FRAME_WORDS = frozenset({"block", "box", "container", "label", "line", "row", "tag", "text", "wrap", "wrapper"})
_HINT_WORDS = re.compile(r"[a-z]+|[A-Z][a-z]*|[A-Z]+(?![a-z])")
CONTROLS = frozenset(
    {
        *("audio", "button", "canvas", "datalist", "embed", "iframe", "input", "meter", "object", "option"),
        *("select", "textarea", "video"),
    }
)
_CONTROL_ROLES = frozenset(
    {
        *("button", "combobox", "listbox", "menu", "menubar", "menuitem", "menuitemradio", "option", "scrollbar"),
        *("searchbox", "slider", "spinbutton", "switch", "tab", "tablist", "toolbar", "tooltip"),
    }
)
_SPEAKER = re.compile(
    r"(?<![a-z])(?:user|human|me|mine|you|your|own|self|guest|visitor|customer|client|question|query|prompt|request|right"
    r"|sent|outgoing|out|bot|ai|assistant|agent|operator|system|server|model|other|them|answer|reply|response|left"
    r"|received|incoming|in)(?![a-z])"
)
_REACTIONS = re.compile("(?:[👍👎❤🧡💛💚💙♥😀😄😂🤣😍😮😢😡🎉🙏🔥👏🚀👀💯]\ufe0f?\\s?\\d{1,4}\\s*)+")
_VOTE_WORDS = frozenset({"feedback", "rating", "reaction", "reactions", "thumb", "thumbs", "vote", "votes"})
_STATE_WORDS = frozenset(
    {
        *("active", "animate", "animated", "current", "done", "entered", "entering", "fade", "first", "focus"),
        *("hidden", "hover", "in", "inactive", "last", "latest", "loading", "new", "selected", "show", "shown"),
        *("streamed", "streaming", "visible"),
    }
)


def begins_without_words(node: Node) -> bool:
    """Return True if the element was added to the page before its words, either empty or with a placeholder."""
    was = node.get("h-was")
    return "h-first" in node.attributes and (is_placeholder(was) or not any(map(str.isalnum, was)))


def is_control(node: Node) -> bool:
    """Return True for an element to press or fill in that contains no text of the answer. Links, text boxes that
    contain an answer, and frames with a recorded document do not count."""
    role = node.get("role")
    if (node.tag == "textarea" and is_written(node)) or "h-frame" in node.attributes:
        return False
    if node.tag in CONTROLS:
        return True
    return role in _CONTROL_ROLES and not leads_elsewhere(node)


def is_vote(node: Node) -> bool:
    """Return True if the element only asks for an opinion on an answer, or counts opinions: 👍 👎, ❤️ 2."""
    text = node.text
    if _REACTIONS.fullmatch(text):
        return True
    if not text or any(character.isalnum() for character in text) or any(map(may_stand_alone, node.walk())):
        return False
    return ("👍" in text and "👎" in text) or any(hints(one) & _VOTE_WORDS for one in node.walk())


def leads_elsewhere(node: Node) -> bool:
    """Return True for a link to another page or position. Buttons use scripts and `#` alone, so these do not count."""
    href = node.get("href")
    return node.tag == "a" and "href" in node.attributes and not (href.endswith("#") or href.startswith("javascript:"))


def leads_outward(node: Node) -> bool:
    """Return True for a link to a web address."""
    return node.tag == "a" and re.match(r"(?i)https?:", node.get("href")) is not None


def signature(node: Node) -> str:
    """Return the tag, classes and test id without numbers and states. Equal markup has equal signatures."""
    return _signature(node.tag, node.get("class"), node.get("data-testid"))


def kind(node: Node) -> str:
    """Return the signature without the speaker, so that `.user-name` and `.bot-name` are of one kind."""
    return _SPEAKER.sub("", signature(node))


def is_akin(node: Node, other: Node) -> bool:
    """Return True if two elements have similar markup, as bubbles of different speakers do."""
    return kind(node) == kind(other) or (node.tag == other.tag and not set(node.classes).isdisjoint(other.classes))


def hints(node: Node) -> frozenset[str]:
    """Return the words in the element's class names, id and test id, in lower case."""
    names = (node.get("class"), node.get("id"), node.get("data-testid"))
    return _hint_words(" ".join(name for name in names if name)) if any(names) else frozenset()


@lru_cache(maxsize=4096)
def _hint_words(names: str) -> frozenset[str]:
    # `group/sidebar` and `data-[side=left]:bg-sidebar` only refer to other elements.
    plain = [name for name in names.split() if not re.search(r"[/:\[\]]", name)]
    return frozenset(word.lower() for name in plain for word in _HINT_WORDS.findall(name))


def hints_last(node: Node) -> frozenset[str]:
    """Return the last words of the element's class names and test id, which say what the element is: `message-time` is
    a time. Names that describe another element do not count: `has-avatar`, `text-by-author`, and `message--time`
    next to `message`."""
    return _last_words(f"{node.get('class')} {node.get('data-testid')}")


@lru_cache(maxsize=4096)
def _last_words(names: str) -> frozenset[str]:
    found: set[str] = set()
    all_names = set(names.split())
    for name in sorted(all_names):
        base, _, modifier = name.partition("--")
        if modifier and base in all_names:
            continue
        words = [word.lower() for word in _HINT_WORDS.findall(_HASH.sub("", name))]
        if words and _RELATING_WORDS.isdisjoint(words) and not re.search(r"[/:\[\]]", name):
            found.add(words[-1])
            if len(words) > 1 and words[-1] in _FRAME_WORDS:
                found.add(words[-2])
    return frozenset(found)


@lru_cache(maxsize=4096)
def _signature(tag: str, names: str, test: str) -> str:
    classes = sorted({_remove_numbers(name) for name in names.split()} - _STATE_WORDS)
    return ".".join([tag, *classes]) + (f"#{_remove_numbers(test)}" if test else "")


def _remove_numbers(name: str) -> str:
    return _DIGITS.sub("#", _HEX.sub("#", name)) if name else ""


_EDITOR = re.compile(r"(?:^|\s)(?:cm-editor|CodeMirror|monaco-editor|ace_editor)(?:\s|$)")
_LINE = re.compile(r"(?:^|\s)(?:cm-line|CodeMirror-line|view-line|ace_line)(?:\s|$)")
# For str.translate: characters that editors and pages add to code.
INVISIBLE = str.maketrans({"\xa0": " ", "\u200b": None, "\ufeff": None})


def composers_on(page: Page) -> list[Node]:
    """Return the boxes into which the user's turns may be typed. If the box of the last turn is known, only that box
    is returned. Otherwise the result holds the boxes that were present before that turn was sent, or else newer
    empty boxes that are not single-line form fields."""
    boxes = []
    for node in page.walk():
        if "h-edit" in node.attributes and node.get("type") != "search" and node.visible:
            called = f"{node.get('placeholder')} {node.get('aria-label')}".lower()
            if not (node.tag == "input" and ("search" in called or "filter" in called)):
                boxes.append(node)
    typed = [node for node in boxes if "h-typed" in node.attributes]
    plain = [node for node in boxes if editor_of(node) is None]
    old = [node for node in plain if node.birth_time is None]
    large = [node for node in plain if node.tag != "input"]
    empty = [node for node in old or large or plain if not is_written(node)]
    return typed or empty or old or plain or boxes


def is_written(node: Node) -> bool:
    """Return True for a box of several lines that contains text."""
    if node.tag == "textarea":
        return bool(node.get("h-value").strip())
    return node.tag != "input" and "h-edit" in node.attributes and bool(node.text)


def is_editor(node: Node) -> bool:
    """Return True for the outermost element of a code editor: CodeMirror, Monaco or Ace."""
    return _EDITOR.search(node.get("class")) is not None


def editor_of(node: Node) -> Node | None:
    return next((around for around in node.self_and_ancestors() if is_editor(around)), None)


def editor_text(editor: Node) -> str:
    """Return the code in an editor as the page gives it, or otherwise the visible lines from top to bottom."""
    if editor.get("h-value"):
        return editor.get("h-value")
    lines = [node for node in editor.walk() if _LINE.search(node.get("class")) and node.visible]
    placed = [(line.box.y, line) for line in lines if line.box is not None]
    if len(placed) == len(lines):
        lines = [line for _, line in sorted(placed, key=lambda one: one[0])]
    texts = ("".join(line.texts(lambda node: node.hidden)) for line in lines)
    return "\n".join(text.translate(INVISIBLE).strip("\n").rstrip() for text in texts)
