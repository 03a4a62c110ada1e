"""Where on a page a turn stands: the user's own words are found, and what follows them is the answer.

No selector is needed, old replies may have left the page, and a greeting before the first turn does no harm: counting
replies fails at each of these.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from harvest.pages.reading.altered import early_lines, find_altered
from harvest.pages.reading.echo import Echo, find_echoes, trail
from harvest.pages.reading.page import AT_ONCE, ICON_LETTERS, Node, collapse_spaces, letters
from harvest.pages.reading.page_text import PageText, akin, begins_without_words, hints, is_vote, leads, signature
from harvest.pages.reading.phrases import (
    is_account,
    is_delivery,
    is_label,
    is_notice,
    is_placeholder,
    is_status,
    is_time,
)

_BRIEF = 40  # characters: no more than a name or a state
_SMALL_PRINT = 200  # characters: longer ones are answers
_BESIDE = frozenset(
    {
        "ad",
        "ads",
        "advert",
        "advertisement",
        "disclaimer",
        "divider",
        "promo",
        "promotion",
        "sponsored",
        "separator",
        "starters",
        "suggestion",
        "suggestions",
    }
)
_STATES = frozenset({"date", "foot", "footer", "meta", "state", "status", "time", "timestamp"})
_USERS = frozenset({"du", "guest", "human", "me", "moi", "sie", "tú", "user", "você", "vous", "you", "你", "您", "我"})


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of a turn. bubbles: the answer's, in the order they were said; () as long as nothing is answered.

    echo: the user's words; user: all of the user's bubble, with names and times. container: what holds the bubbles.
    how: `echo`, `altered` (the page shows the words in another form), `early` (in a form of which nothing is known but
    that it came at the press), `site` (by the site's own selectors), or `new` (what came since the send). rising: newer
    turns stand above older ones. doubtful: all there is came together with the user's words, and may be a state of
    their bubble.
    """

    bubbles: tuple[Node, ...]
    echo: Node | None = None
    user: Node | None = None
    container: Node | None = None
    how: str = "new"
    rising: bool = False
    doubtful: bool = False


def find_spot(
    ground: PageText,
    said: str,
    *,
    user: Sequence[str] = (),
    apart: bool = False,
    rising: bool = False,
    heard: float | None = None,
) -> Spot:
    """Where the turn stands in which `said` was said.

    user: the trail of the user's words in earlier turns; apart: no reply had an element made like that. rising: newer
    turns stood above older ones. heard: milliseconds from the send to the first byte that came back, infinity as long
    as none has; None: not known, or nothing has left the page.
    """
    echoes = find_echoes(ground, said, user=user)
    altered = None
    if ground.dated and (not echoes or not (user and trail(echoes[0].node) == tuple(user))):
        # A bot may say the user's words as they were, where the page shows them otherwise.
        until = ground.births.get(echoes[0].node, 0.0) - AT_ONCE if echoes else None
        if until is None or until > 0:
            altered = find_altered(ground, said, user=user, apart=apart, rising=rising, until=until)
    if altered is not None and echoes and not _side_by_side(ground, altered.node, echoes[0].node):
        altered = None  # it is what the conversation is called by, say
    if altered is not None:
        echoes = [altered]
    spot = _marked_spot(ground, echoes)
    if spot is None and echoes:
        spot = _after(ground, echoes[0], rising)
        spot = replace(spot, how="altered") if altered is not None else spot
    return spot or _new(ground, said, heard)


def _side_by_side(ground: PageText, node: Node, other: Node) -> bool:
    """Whether both stand in one list of bubbles: the box to type in is no part of what holds both."""
    around = _around([node, other])
    return around is not None and not any(composer.within(around) for composer in ground.composers)


def _marked_spot(ground: PageText, echoes: Sequence[Echo]) -> Spot | None:
    """By the site's own selectors; None where nothing on the page is marked as a reply."""
    replies = [node for node in ground.page.marked("reply") if not _is_hidden(node)]
    if not replies:
        return None
    users = [node for node in ground.page.marked("user") if not _is_hidden(node)]
    told = set(users)
    inside = [echo.node for echo in echoes if not told or not told.isdisjoint(echo.node.self_and_ancestors())]
    echo = inside[0] if inside else users[-1] if users else None
    marked = set(replies)
    outer = [node for node in replies if marked.isdisjoint(node.ancestors())]
    if echo is not None:
        outer = [node for node in outer if not echo.within(node)]
        order = {node: number for number, node in enumerate(ground.page.walk())}
        later = [node for node in outer if order[node] > order[echo]]
        outer = later or (outer if ground.dated else [])
    if ground.dated:
        outer = [node for node in outer if ground.fresh(node)]
    container = _around([*outer, *([echo] if echo is not None else [])])
    branch = None
    if echo is not None and container is not None and echo is not container:
        branch = next(node for node in echo.self_and_ancestors() if node.parent is container)
    return Spot(tuple(outer), echo, branch, container, "site")


def _after(ground: PageText, echo: Echo, rising: bool) -> Spot:
    """Climb from the user's words until something follows them."""
    branch = echo.node
    found: Spot | None = None
    for around in echo.node.ancestors():
        bubbles, up = _following(ground, around, branch, rising, echo.node)
        spot = Spot(tuple(bubbles), echo.node, branch, around, "echo", up)
        if bubbles and (found is None or (found.doubtful and up == found.rising)):
            doubtful = _came_along(ground, spot)
            if found is None or not doubtful:
                # What was found before is a name or a state in the user's bubble.
                found = replace(spot, doubtful=doubtful)
        elif found is not None and up == found.rising and any(signature(b) == signature(branch) for b in bubbles):
            found = replace(found, bubbles=(*found.bubbles, *bubbles), container=around)
        if around.get("role") in ("log", "feed") or _lists(ground, around, branch):
            break  # what stands outside of the conversation is no answer
        branch = around
    found = found or _rest(ground, echo) or _muttered_spot(ground, echo, rising)
    found = found or Spot((), echo.node, echo.node, None, "echo", rising)
    if found.doubtful or found.container is None:
        return replace(found, container=_list(ground, echo.node))  # the answer may come anywhere in it
    return found


def _following(ground: PageText, around: Node, branch: Node, rising: bool, echo: Node) -> tuple[list[Node], bool]:
    """The bubbles beside `branch` that were said after it, and whether they stand above it."""
    at = around.children.index(branch)
    before, after = around.children[:at][::-1], around.children[at + 1 :]
    if _upside_down(ground, around):
        before, after = after, before
    later = _telling(ground, around, after, branch, echo)
    if ground.keeps:
        later = [node for node in later if not ground.stood(node)]
    if not ground.dated or (later and not rising):
        return later, False
    born = ground.births.get(branch, 0.0)
    above = rising or _composer_above(ground, branch)
    earlier = [node for node in _telling(ground, around, before, branch, echo) if _youngest(ground, node) >= born]
    # What was said before stands above, too, and a page may paint it anew.
    earlier = [node for node in earlier if _wholly_new(ground, node) and not ground.stood(node)]
    earlier = [node for node in earlier if akin(node, branch) or (above and node.tag == branch.tag)]
    if earlier and (above or _rises(ground, earlier, after, born)):
        return earlier, True
    return later, False


def _rises(ground: PageText, earlier: list[Node], after: Sequence[Node | str], born: float) -> bool:
    """Whether newer turns stand above: what came later is before the user's words, or what is old after them."""
    old = any(isinstance(node, Node) and ground.signs(node) and not ground.fresh(node) for node in after)
    return old or all(_youngest(ground, node) > born + AT_ONCE for node in earlier)


def _wholly_new(ground: PageText, node: Node) -> bool:
    return all(ground.came(inner) is not None for inner in node.walk() if inner in ground.lines)


def _youngest(ground: PageText, node: Node) -> float:
    return max(ground.births.get(inner, 0.0) for inner in node.walk())


def _composer_above(ground: PageText, branch: Node) -> bool:
    boxes = [node.box for node in ground.composers if node.box]
    return branch.box is not None and bool(boxes) and all(box.bottom <= branch.box.y for box in boxes)


def _upside_down(ground: PageText, around: Node) -> bool:
    """Whether what stands first in the page is shown last, as `column-reverse` does."""
    boxes = [node.box for node in around.elements if node.box and ground.signs(node)]
    return len(boxes) > 1 and all(lower.y >= upper.bottom - 1 for lower, upper in pairwise(boxes))


def _telling(ground: PageText, around: Node, children: Sequence[Node | str], branch: Node, echo: Node) -> list[Node]:
    """Those that say something: bubbles, or one part made of all where bare text stands between them."""
    bare = any(isinstance(child, str) and _says(child) for child in children)
    if bare and (not ground.dated or around in ground.births or "h-said" in around.attributes):
        return [_part(around, children)]
    return [child for child in children if isinstance(child, Node) and _tells(ground, child, branch, echo)]


def _part(around: Node, children: Sequence[Node | str]) -> Node:
    """A piece of an element as an element of its own: a copy, since the page stays as it is."""
    kept = {key: value for key, value in around.attributes.items() if key in ("h-space", "h-said", "h-born")}
    part = Node("div", {**kept, "h-part": "1"}, parent=around)
    todo: list[tuple[Node, Sequence[Node | str]]] = [(part, children)]
    while todo:
        node, sources = todo.pop()
        for source in sources:
            if isinstance(source, str):
                node.children.append(source)
            else:
                copy = Node(source.tag, source.attributes, parent=node)
                node.children.append(copy)
                todo.append((copy, source.children))
    return part


def _tells(ground: PageText, node: Node, branch: Node | None = None, echo: Node | None = None) -> bool:
    if not _may_tell(ground, node):
        return False
    if ground.figures and any(inner in ground.figures for inner in node.walk()):
        return True
    if branch is not None and _beside_the_user(ground, node, branch):
        return False
    if not ground.words.isdisjoint(node.walk()):
        return True
    if ground.signs(node) > _SMALL_PRINT or (branch is not None and node.classes and akin(node, branch)):
        return True  # a bubble may say no more than a time
    if branch is not None and echo is not None and _is_made_inside_like(node, branch, echo):
        return True
    small = all(map(is_notice, node.lines.split("\n")))  # an answer may have such a line at its end
    return _says(node.text) and not (small or is_vote(node)) and not _only_pressed(ground, node)


def _beside_the_user(ground: PageText, node: Node, branch: Node) -> bool:
    """Whether it is a few signs that stand in the same row as the user's words and came with them: a face, a state."""
    mine, theirs = branch.box, node.box
    if not ground.dated or mine is None or theirs is None or ground.signs(node) > _BRIEF:
        return False
    shared = min(mine.bottom, theirs.bottom) - max(mine.y, theirs.y)
    apart = theirs.right <= mine.x + 1 or mine.right <= theirs.x + 1
    if not apart or shared < min(mine.height, theirs.height) / 2:
        return False
    born = ground.births.get(branch, 0.0)
    said = [float(one.get("h-said")) for one in node.walk() if one.get("h-said")]
    return max([*said, *(ground.births.get(one, 0.0) for one in node.walk())]) <= born + AT_ONCE


def _is_made_inside_like(node: Node, branch: Node, echo: Node) -> bool:
    """Whether its text stands in two elements or more that are made as those around the user's words are, in the same
    order: a bubble of another name, whatever it says."""
    wanted = [
        signature(one) for one in echo.self_and_ancestors() if one.classes and one is not branch and one.within(branch)
    ]
    wanted = wanted[::-1]
    inner: Node | None = node
    matched = 0
    while inner is not None and matched < len(wanted):
        matched += signature(inner) == wanted[matched]
        telling = [one for one in inner.elements if one.text]
        inner = telling[0] if len(telling) == 1 else None
    return matched >= 2 and matched == len(wanted)


def _may_tell(ground: PageText, node: Node) -> bool:
    if not ground.signs(node) or (ground.dated and not ground.fresh(node)):
        return False
    if any(composer.within(node) for composer in ground.composers):
        return False
    return node.tag != "time" and not hints(node) & _BESIDE


def _says(text: str) -> bool:
    """Whether it is more than a time, a state, or a word for the user; what stands for an answer to come counts."""
    text = collapse_spaces(ICON_LETTERS.sub("", text))
    if not text or is_time(text) or is_status(text) or is_delivery(text) or is_account(text):
        return False
    if not any(character.isalnum() for character in text):
        return is_placeholder(text) or not text.isascii()
    return not (is_label(text) and text.casefold().rstrip(":").strip() in _USERS)


def _only_pressed(ground: PageText, node: Node) -> bool:
    """All its text shows a pointing hand and leads nowhere: answers to choose from."""
    pressed = 0
    stack = [node]
    while stack:
        inner = stack.pop()
        if leads(inner):
            continue
        if "h-click" in inner.attributes or inner.tag == "a":
            pressed += ground.signs(inner)
        else:
            stack.extend(inner.elements)
    return pressed >= ground.signs(node)


def _muttered_spot(ground: PageText, echo: Echo, rising: bool) -> Spot | None:
    """What came after the user's words into a list that was there and says no more than a time or a state does: where
    nothing else comes, that may be the answer."""
    branch = echo.node
    for around in echo.node.ancestors() if ground.dated else ():
        at = around.children.index(branch)
        later = around.children[:at] if rising else around.children[at + 1 :]
        bubbles = [
            node
            for node in later
            if isinstance(node, Node)
            and _may_tell(ground, node)
            and (is_time(node.text) or (is_status(node.text) and not is_delivery(node.text)))
            and not _only_pressed(ground, node)
            and (not _at_once(ground, node, echo.node) or _kept_for_words(node))
            and not _beside_the_user(ground, node, branch)
        ]
        if bubbles and (around not in ground.births or all(map(_kept_for_words, bubbles))):
            return Spot(tuple(bubbles), echo.node, branch, around, "echo", rising, doubtful=True)
        if around.get("role") in ("log", "feed") or _lists(ground, around, branch):
            break
        branch = around
    return None


def _lists(ground: PageText, around: Node, branch: Node) -> bool:
    """Whether it holds what was said before, in bubbles made like the one around the user's words."""
    return ground.dated and any(
        one.classes and one is not branch and ground.signs(one) and not ground.fresh(one) and akin(one, branch)
        for one in around.elements
    )


def _came_along(ground: PageText, spot: Spot) -> bool:
    """Whether all of it is short, came with the user's words, and is no bubble made like theirs, or put there before
    its words, in a list that was there: then it may be a name or a state of their bubble, in words of its own."""
    assert spot.echo is not None
    assert spot.user is not None
    assert spot.container is not None
    if not all(_at_once(ground, bubble, spot.echo) for bubble in spot.bubbles):
        return False
    if any(_is_made_inside_like(bubble, spot.user, spot.echo) for bubble in spot.bubbles):
        return False
    return spot.container in ground.births or not any(
        akin(bubble, spot.user) or any(map(begins_without_words, bubble.walk())) for bubble in spot.bubbles
    )


def _at_once(ground: PageText, node: Node, echo: Node) -> bool:
    born, mine = ground.births.get(node), ground.births.get(echo)
    return ground.signs(node) <= _BRIEF and born is not None and mine is not None and abs(born - mine) <= AT_ONCE


def _kept_for_words(node: Node) -> bool:
    """Whether it was put into the page before its words, and not for a time or a state."""
    return begins_without_words(node) and node.tag != "time" and not hints(node) & _STATES


def _rest(ground: PageText, echo: Echo) -> Spot | None:
    """Where a conversation is one running text, the answer is what follows the user's words in it."""
    node, child, at = ground.piece(echo.end)
    while True:
        tail = _part(node, list(_cut(node, child, at)))
        if _says(tail.text):
            return Spot((tail,), echo.node, None, node, "echo")
        if node is echo.node or node.parent is None:
            return None
        inner, node = node, node.parent
        child, at = node.children.index(inner), -1


def _cut(node: Node, child: int, at: int) -> Iterator[Node | str]:
    text = node.children[child]
    if isinstance(text, str) and at >= 0:
        yield re.sub(r"^[^\w\n]*", "", text[at:])  # what closes the user's sentence is the user's
    yield from node.children[child + 1 :]


def _list(ground: PageText, echo: Node) -> Node | None:
    """What the answer will come in: the log, or the widest element around the user's words without the composer."""
    last = echo.parent
    for around in echo.ancestors():
        if around.get("role") in ("log", "feed"):
            return around
        if around.tag in ("body", "h-page") or any(node.within(around) for node in ground.composers):
            break
        last = around
    return last


def _new(ground: PageText, said: str, heard: float | None) -> Spot:
    """Without the user's words: what came into the conversation since the send, but for what was painted anew, and what
    came at the press before a byte did: those are the user's words in a form of which nothing else is known."""
    early = early_lines(ground, heard)
    came = [line for line in ground.lines if ground.fresh(line) and line not in early]
    # A page with one place for all its answers may say the same again.
    stood = {line for line in came if ground.stood(line)} if len(came) > 1 or ground.keeps else set()
    tops: list[Node] = []
    stack = [ground.page.root] if ground.dated else []
    while stack:
        node = stack.pop()
        if ground.fresh(node):
            lines = [inner for inner in node.walk() if inner in ground.lines]
            others = [inner for inner in lines if inner in early or inner in stood]
            new = node in ground.births or "h-said" in node.attributes
            if new and node.tag not in ("h-page", "body") and len(others) in (0, len(lines)):
                tops.append(node)
            else:
                stack.extend(reversed(node.elements))
    wanted = letters(said)
    tops = [node for node in tops if _tells(ground, node) and letters(node.text) != wanted]
    echo = next((node for node in tops if not early.isdisjoint(node.walk())), None)
    redrawn = _drawn_anew(ground, tops, stood, heard) if echo is None else None
    if redrawn is not None:
        return Spot((redrawn,), container=redrawn.parent, doubtful=True)
    tops = [node for node in tops if early.isdisjoint(node.walk()) and stood.isdisjoint(node.walk())]
    how = "new" if echo is None else "early"
    weights: dict[Node | None, int] = {}
    for node in tops:
        weights[node.parent] = weights.get(node.parent, 0) + ground.signs(node)
    if not weights:
        return Spot((), echo, how=how)
    container = max(weights, key=lambda parent: weights[parent])
    return Spot(tuple(node for node in tops if node.parent is container), echo, container=container, how=how)


def _drawn_anew(ground: PageText, tops: Sequence[Node], stood: set[Node], heard: float | None) -> Node | None:
    """The only element that came, with the words that an element said before which has gone: where a page shows its
    newest answer alone, it may have said the same again. It has to have come after a byte did: some pages paint all
    anew at the press. Where anything else comes, or nothing shows that the turn was answered, that is no answer."""
    if len(tops) != 1 or heard is None or not stood:
        return None
    lines = [line for line in tops[0].walk() if line in ground.lines]
    came = ground.births.get(tops[0])
    return tops[0] if came is not None and came >= heard and stood.issuperset(lines) else None


def _around(nodes: Sequence[Node]) -> Node | None:
    """The innermost element around all of them."""
    chains = [list(node.ancestors())[::-1] for node in nodes]
    joined: Node | None = None
    for level in zip(*chains, strict=False):
        if any(node is not level[0] for node in level):
            break
        joined = level[0]
    return joined


def _is_hidden(node: Node) -> bool:
    return any(around.hidden for around in node.self_and_ancestors())
