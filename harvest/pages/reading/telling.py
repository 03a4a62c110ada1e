"""Tests of the elements near the user's text for content of their own, which may be an answer."""

from harvest.pages.reading import phrases
from harvest.pages.reading.elements import begins_without_words, hints, is_akin, is_vote, leads_elsewhere, signature
from harvest.pages.reading.page import AT_ONCE, ICON_LETTERS, Node, collapse_spaces
from harvest.pages.reading.page_text import PageText

_BRIEF_LENGTH = 40  # characters: no more than a name or a state
_SMALL_PRINT_LENGTH = 200  # characters: longer ones are answers
_ASIDE_WORDS = frozenset(
    {
        *("ad", "ads", "advert", "advertisement", "disclaimer", "divider", "promo", "promotion", "sponsored"),
        *("separator", "starters", "suggestion", "suggestions"),
    }
)
_STATE_WORDS = frozenset({"date", "foot", "footer", "meta", "state", "status", "time", "timestamp"})
_USER_WORDS = frozenset(
    {"du", "guest", "human", "me", "moi", "sie", "tú", "user", "você", "vous", "you", "你", "您", "我"}
)


def has_content(ground: PageText, node: Node, branch: Node | None = None, echo: Node | None = None) -> bool:
    if not may_have_content(ground, node):
        return False
    if ground.figures and any(inner in ground.figures for inner in node.walk()):
        return True
    if branch is not None and is_beside_user(ground, node, branch):
        return False
    if not ground.words.isdisjoint(node.walk()):
        return True
    if ground.signs(node) > _SMALL_PRINT_LENGTH or (branch is not None and node.classes and is_akin(node, branch)):
        return True  # a bubble may say no more than a time
    if branch is not None and echo is not None and has_similar_parts(node, branch, echo):
        return True
    small = all(map(phrases.is_notice, node.lines.split("\n")))  # an answer may have such a line at its end
    return is_content_text(node.text) and not (small or is_vote(node)) and not is_only_pressable(ground, node)


def is_beside_user(ground: PageText, node: Node, branch: Node) -> bool:
    """Return True for a few characters next to the user's text that came together with it, such as initials."""
    mine, theirs = branch.box, node.box
    if not ground.has_times or mine is None or theirs is None or ground.signs(node) > _BRIEF_LENGTH:
        return False
    shared = min(mine.bottom, theirs.bottom) - max(mine.y, theirs.y)
    apart = theirs.right <= mine.x + 1 or mine.right <= theirs.x + 1
    if not apart or shared < min(mine.height, theirs.height) / 2:
        return False
    born = ground.births.get(branch, 0.0)
    said = [float(one.get("h-said")) for one in node.walk() if one.get("h-said")]
    return max([*said, *(ground.births.get(one, 0.0) for one in node.walk())]) <= born + AT_ONCE


def has_similar_parts(node: Node, branch: Node, echo: Node) -> bool:
    """Return True if two or more elements in the node have the same markup, in the same order, as the elements around
    the user's text."""
    wanted = [
        signature(one)
        for one in echo.self_and_ancestors()
        if one.classes and one is not branch and one.is_within(branch)
    ]
    wanted = wanted[::-1]
    inner: Node | None = node
    matched = 0
    while inner is not None and matched < len(wanted):
        matched += signature(inner) == wanted[matched]
        telling = [one for one in inner.elements if one.text]
        inner = telling[0] if len(telling) == 1 else None
    return matched >= 2 and matched == len(wanted)


def may_have_content(ground: PageText, node: Node) -> bool:
    if not ground.signs(node) or (ground.has_times and not ground.is_fresh(node)):
        return False
    if any(composer.is_within(node) for composer in ground.composers):
        return False
    return node.tag != "time" and not hints(node) & _ASIDE_WORDS


def is_content_text(text: str) -> bool:
    """Return True if the text is more than a time, a state, or a name for the user such as `You`. A placeholder of an
    answer counts as content."""
    text = collapse_spaces(ICON_LETTERS.sub("", text))
    states = (phrases.is_time, phrases.is_status, phrases.is_delivery, phrases.is_origin_note)
    if not text or any(is_state(text) for is_state in states):
        return False
    if not any(character.isalnum() for character in text):
        return phrases.is_placeholder(text) or not text.isascii()
    return not (phrases.is_label(text) and text.casefold().rstrip(":").strip() in _USER_WORDS)


def is_only_pressable(ground: PageText, node: Node) -> bool:
    """Return True if all text in the element can be pressed and has no link. Such an element consists of replies to
    choose from."""
    pressed = 0
    stack = [node]
    while stack:
        inner = stack.pop()
        if leads_elsewhere(inner):
            continue
        if "h-click" in inner.attributes or inner.tag == "a":
            pressed += ground.signs(inner)
        else:
            stack.extend(inner.elements)
    return pressed >= ground.signs(node)


def lists_earlier_turns(ground: PageText, around: Node, branch: Node) -> bool:
    """Return True if the element contains earlier bubbles with markup like the bubble around the user's text."""
    return ground.has_times and any(
        one.classes and one is not branch and ground.signs(one) and not ground.is_fresh(one) and is_akin(one, branch)
        for one in around.elements
    )


def appeared_whole(ground: PageText, node: Node, echo: Node) -> bool:
    born, mine = ground.births.get(node), ground.births.get(echo)
    return ground.signs(node) <= _BRIEF_LENGTH and born is not None and mine is not None and abs(born - mine) <= AT_ONCE


def is_reserved_for_words(node: Node) -> bool:
    """Return True if the element was added to the page before its words, and is not meant for a time or a state."""
    return begins_without_words(node) and node.tag != "time" and not hints(node) & _STATE_WORDS
