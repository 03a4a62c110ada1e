"""Finding the box to type in on a page without a description, and recognising fields that ask for the user's identity.
A candidate's score is a probability from 0 to 1. Its reasons are the signs for and against it, in words. A score
above 0.5 means that more signs speak for the candidate than against it."""

from harvest.pages.finding.buttons import find_send
from harvest.pages.finding.labels import code_of, labels_of, role_of
from harvest.pages.finding.weighing import Candidate, Scales, first_match, join_words, nodes_around
from harvest.pages.finding.wordings import ASK, NO_TALK, PERSONAL, SEARCH, TALK, Wording, word_set
from harvest.pages.reading.page import Node, Page, collapse_spaces

_TYPED_INPUTS = frozenset({"", "text", "search"})
_FILLED_INPUTS = frozenset(
    {"email", "password", "tel", "url", "number", "date", "time", "datetime-local", "month", "week"}
)
_EDITORS = word_set("prosemirror lexical quill ql slate tiptap codemirror cm draft ck trix medium tinymce monaco")
_TALK_CODE = word_set("prompt chat composer message msg question ask conversation assistant bot reply textarea")
_NO_TALK_CODE = word_set("""
    search filter email mail newsletter subscribe comment feedback coupon promo address username login signin
    password phone subject rename title tag tags review url settings system temperature find
""")
_LOG_CODE = word_set("""
    messages message chat conversation thread transcript history dialogue dialog bubble bubbles log turn turns
""")
_ASIDE_TAGS = frozenset({"nav", "aside"})
_ASIDE_ROLES = frozenset({"navigation", "complementary", "search", "banner", "menu", "toolbar"})
_NAME_WORDING = Wording("name")  # with more words it may be the name of a thing
_LONGEST_QUESTION = 300  # characters of a form that asks one question
_POSSIBLE_SCORE = 0.25  # score from which a box may be the composer
_NEAR_LEVELS = 8  # ancestors of an element that count as its surroundings


def find_composer(page: Page) -> list[Candidate]:
    """Return all text boxes in which a person could chat, the most likely first. A box that is disabled or read-only
    now is included with a score below 0.5, because such a box may become the composer."""
    # Smaller boxes are not meant for people: editors have hidden clones and elements that catch the keyboard.
    boxes = [
        node
        for node in page.walk()
        if _is_typed_into(node) and node.visible
        if node.box is not None and node.box.width >= 40 and node.box.height >= 10
    ]
    talkable = [node for node in boxes if node.get("type").lower() not in _FILLED_INPUTS]
    found: list[Candidate] = []
    for node in talkable:
        scales = Scales(node, -1.0)
        _weigh_kind(scales)
        _weigh_names(scales, page)
        _weigh_surroundings(scales, page, boxes)
        _weigh_place(scales, page)
        if len(talkable) == 1:
            scales.add(1.0, "the only box of text on the page")
        weighed = scales.candidate()
        if "h-off" in node.attributes or (node.get("contenteditable") == "false"):
            why = ("- disabled or read-only now", *weighed.reasons)
            weighed = Candidate(node, round(weighed.score / 2.1, 3), why)
        found.append(weighed)
    return sorted(found, key=lambda one: -one.score)


def possible_composers(page: Page) -> list[Node]:
    """Return the text boxes that may be the composer, the most likely first."""
    return [one.node for one in find_composer(page) if one.score >= _POSSIBLE_SCORE]


def _is_typed_into(node: Node) -> bool:
    if node.tag == "textarea":
        return True
    if node.tag == "input":
        return node.get("type").lower() in _TYPED_INPUTS | _FILLED_INPUTS
    if "h-edit" in node.attributes:
        return True
    if node.get("role") not in ("textbox", "searchbox"):
        return False
    return not any("h-edit" in one.attributes or one.tag in ("input", "textarea") for one in node.walk())


def _weigh_kind(scales: Scales) -> None:
    node = scales.node
    if node.tag == "textarea":
        scales.add(1.4, "a box for several lines")
    elif node.tag == "input":
        if node.get("type").lower() == "search" or role_of(node) == "searchbox":
            scales.add(-3.0, "a search box by its type")
    else:
        scales.add(1.4, "an editor")
        if code_of(node) & _EDITORS or any(code_of(parent) & _EDITORS for parent in nodes_around(node, 2)):
            scales.add(0.4, "an editor of a known make")
    if node.get("role") == "textbox" or node.get("aria-multiline") == "true":
        scales.add(0.3, "says that it is a text box")
    if node.get("aria-hidden") == "true" or node.get("tabindex") == "-1":
        scales.add(-2.5, "hidden from screen readers or the keyboard")
    if node.get("autocomplete") not in ("", "off", "on", "false", "nope"):
        scales.add(-3.0, f"to be filled with {node.get('autocomplete')!r}")
    if node.get("maxlength").isdigit() and int(node.get("maxlength")) < 60:
        scales.add(-0.5, f"accepts only {node.get('maxlength')} characters")
    if node.get("h-value").strip() and "h-born" not in node.attributes:
        scales.add(-0.4, "not empty")


def _weigh_names(scales: Scales, page: Page) -> None:
    node = scales.node
    names = labels_of(page, node)
    said = " · ".join(names)
    search, other = SEARCH.find(said), NO_TALK.find(said)
    # A "system prompt" box is not for prompts, and a search for messages does not write one; but some boxes do both.
    talk = TALK.find(said.replace(other, " ") if other else said)
    if search and not ASK.find(said):
        talk = ""
    if talk:
        scales.add(1.8, f"called {first_match(names, TALK)!r}")
    if search:
        scales.add(-1.0 if talk else -2.8, f"called {first_match(names, SEARCH)!r}")
    if other:
        scales.add(-1.0 if talk else -2.8, f"called {first_match(names, NO_TALK)!r}")
    asked = find_personal_question(page, node) if node.tag in ("input", "textarea") and not talk else ""
    if asked and (node.tag == "input" or not _has_send_button(page, node)):
        scales.add(-4.0, f"asks who is talking: {asked!r}")
    code = code_of(node)
    if code & _TALK_CODE:
        scales.add(0.9, f"named {join_words(code & _TALK_CODE)} in the code")
    if code & _NO_TALK_CODE:
        scales.add(-1.2 if talk else -2.0, f"named {join_words(code & _NO_TALK_CODE)} in the code")


def find_personal_question(page: Page, node: Node) -> str:
    """Return the name of a field that asks for the user's identity, or the question before the field. Returns "" for a
    field that does not ask."""
    names = labels_of(page, node)
    alone = next((name for name in names if _NAME_WORDING.is_all(name)), "")
    if alone:
        return alone
    question = ""
    for below, around in zip((node, *node.ancestors()), nodes_around(node, 3), strict=False):
        if len(around.text) > _LONGEST_QUESTION or around.get("role") in ("log", "feed"):
            break
        at = next(number for number, child in enumerate(around.children) if child is below)
        before = [child if isinstance(child, str) else child.text for child in around.children[:at]]
        if any(text.strip() for text in before):
            question = collapse_spaces(" ".join(before))
            break
    return PERSONAL.find(" · ".join((*names, question)))


def _weigh_surroundings(scales: Scales, page: Page, boxes: list[Node]) -> None:
    node = scales.node
    near = nodes_around(node, _NEAR_LEVELS)
    if any(parent.tag == "search" or parent.get("role") == "search" for parent in near):
        scales.add(-2.5, "in a search form")
    if any(parent.tag in _ASIDE_TAGS or parent.get("role") in _ASIDE_ROLES - {"search"} for parent in node.ancestors()):
        scales.add(-1.2, "in a side bar, a menu or a header")
    form = next((parent for parent in node.ancestors() if parent.tag == "form"), None)
    if form is not None:
        fields = [box for box in boxes if box is not node and box.is_within(form)]
        choices = [one for one in form.walk() if one.tag == "select" and one.visible]
        if fields or choices:
            scales.add(-1.6 * min(3, len(fields) + len(choices)), "one of several fields of a form")
    if any(code_of(parent) & _TALK_CODE for parent in near):
        scales.add(0.5, "in something the code calls chat, prompt or the like")
    below = node
    for parent in near:
        if any(is_log(one) for one in parent.elements if one is not below):
            scales.add(1.0, "next to a conversation")
            break
        below = parent
    if _has_send_button(page, node):
        scales.add(1.2, "has a button that sends")


def _has_send_button(page: Page, node: Node) -> bool:
    send = find_send(page, node)
    return send is not None and send.score >= 0.6


def _weigh_place(scales: Scales, page: Page) -> None:
    box = scales.node.box
    if box is None or not page.width or not page.height:
        return
    if box.y + box.height / 2 > page.height * 0.55:
        scales.add(0.7, "in the lower part of the page")
    elif box.y + box.height / 2 < page.height * 0.12:
        scales.add(-0.8, "at the top of the page")
    if box.width >= min(page.width * 0.3, 400):
        scales.add(0.4, "wide")
    elif box.width < 120:
        scales.add(-1.0, "narrow")
    if box.height > page.height * 0.6:
        scales.add(-0.8, "as high as a document")


def is_log(node: Node, *, height: float = 60.0) -> bool:
    """Return True if the element is at least `height` CSS pixels high and seems to contain a conversation, judging by
    the role and code of the element and of the next two levels inside it."""
    if node.box is None or node.box.height < height:
        return False
    inside = [inner for child in node.elements for inner in (child, *child.elements)]
    if any(one.get("role") in ("log", "feed") for one in (node, *inside)):
        return True
    return any(code_of(one) & _LOG_CODE for one in (node, *node.elements))
