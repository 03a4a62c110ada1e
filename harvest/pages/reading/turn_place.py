"""The position of a turn on a page. The user's own text is found, and the answer follows it. This method needs no
selector, and works even if old replies have left the page or a greeting came before the first turn. Counting
replies would fail in these cases."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from harvest.pages.reading import telling
from harvest.pages.reading.altered import find_altered, find_early_lines
from harvest.pages.reading.echo import Echo, find_echoes, trail
from harvest.pages.reading.elements import begins_without_words, is_akin, signature
from harvest.pages.reading.page import AT_ONCE, Node, letters
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.phrases import is_delivery, is_status, is_time


@dataclass(frozen=True, slots=True)
class Spot:
    """The position of a turn.

    - `bubbles`: the bubbles of the answer in spoken order; () until there is an answer.
    - `echo`: the element with the user's text. `user` is the user's whole bubble, with names and times.
    - `container`: the element around the bubbles.
    - `how`: how the turn was found: `echo`, `altered` (the text in another form), `early` (in an unknown form that
      came at the press), `site` (by the site's own selectors) or `new` (by the elements that came since the send).
    - `rising`: whether newer turns are above older turns.
    - `doubtful`: whether the whole answer came together with the user's text and may be a state of the user's bubble.
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
    """Find the turn in which the user said `said`. `user` is the trail of the user's text in earlier turns. Set
    `apart` if no reply had an element with that trail, and `rising` if newer turns were above older turns so far.
    `heard` is the milliseconds from the send to the first byte that came back. It is infinity until a byte has
    come, and None if the time is unknown or nothing has left the page."""
    echoes = find_echoes(ground, said, user=user)
    altered = None
    if ground.has_times and (not echoes or not (user and trail(echoes[0].node) == tuple(user))):
        # A bot may repeat the user's words unchanged while the page shows the user's own in another form.
        until = ground.births.get(echoes[0].node, 0.0) - AT_ONCE if echoes else None
        if until is None or until > 0:
            altered = find_altered(ground, said, user=user, apart=apart, rising=rising, until=until)
    if altered is not None and echoes:
        # Both must be in one list of bubbles, which the composer is not part of: else it may be the chat's title.
        around = _common_ancestor([altered.node, echoes[0].node])
        if around is None or any(composer.is_within(around) for composer in ground.composers):
            altered = None
    if altered is not None:
        echoes = [altered]
    spot = _marked_spot(ground, echoes)
    if spot is None and echoes:
        spot = _SpotSearch(ground, echoes[0], rising).spot()
        spot = replace(spot, how="altered") if altered is not None else spot
    return spot or _new_spot(ground, said, heard)


def _marked_spot(ground: PageText, echoes: Sequence[Echo]) -> Spot | None:
    replies = [node for node in ground.page.marked("reply") if node.visible]
    if not replies:
        return None
    users = [node for node in ground.page.marked("user") if node.visible]
    inside = [echo.node for echo in echoes if not users or not {*users}.isdisjoint(echo.node.self_and_ancestors())]
    echo = inside[0] if inside else users[-1] if users else None
    marked = set(replies)
    outer = [node for node in replies if marked.isdisjoint(node.ancestors())]
    if echo is not None:
        outer = [node for node in outer if not echo.is_within(node)]
        order = {node: number for number, node in enumerate(ground.page.walk())}
        later = [node for node in outer if order[node] > order[echo]]
        outer = later or (outer if ground.has_times else [])
    if ground.has_times:
        outer = [node for node in outer if ground.is_fresh(node)]
    container = _common_ancestor([*outer, *([echo] if echo is not None else [])])
    branch = None
    if echo is not None and container is not None and echo is not container:
        branch = next(node for node in echo.self_and_ancestors() if node.parent is container)
    return Spot(tuple(outer), echo, branch, container, "site")


class _SpotSearch:
    def __init__(self, ground: PageText, echo: Echo, rising: bool) -> None:
        self.ground, self.echo, self.rising = ground, echo, rising

    def spot(self) -> Spot:
        ground, echo = self.ground, self.echo.node
        branch = echo
        found: Spot | None = None
        for around in echo.ancestors():
            bubbles, up = self._following_bubbles(around, branch)
            spot = Spot(tuple(bubbles), echo, branch, around, "echo", up)
            if bubbles and (found is None or (found.doubtful and up == found.rising)):
                doubtful = self._may_be_state(bubbles, branch, around)
                if found is None or not doubtful:
                    # The earlier find is a name or a state in the user's bubble.
                    found = replace(spot, doubtful=doubtful)
            elif found is not None and up == found.rising and any(signature(b) == signature(branch) for b in bubbles):
                found = replace(found, bubbles=(*found.bubbles, *bubbles), container=around)
            if around.get("role") in ("log", "feed") or telling.lists_earlier_turns(ground, around, branch):
                break  # elements outside the conversation are not answers
            branch = around
        found = found or self._rest_of_text() or self._state_spot()
        found = found or Spot((), echo, echo, None, "echo", self.rising)
        if found.doubtful or found.container is None:
            return replace(found, container=self._log_element())  # the answer may come anywhere in it
        return found

    def _following_bubbles(self, around: Node, branch: Node) -> tuple[list[Node], bool]:
        """Return the bubbles next to `branch` that were said after it, and whether they are above `branch`."""
        ground = self.ground
        at = around.children.index(branch)
        before, after = around.children[:at][::-1], around.children[at + 1 :]
        shown = [node.box for node in around.elements if node.box and ground.signs(node)]
        if len(shown) > 1 and all(lower.y >= upper.bottom - 1 for lower, upper in pairwise(shown)):
            before, after = after, before  # shown upside down, as `column-reverse` does
        later = self._informative_nodes(around, after, branch)
        if ground.keeps_all_text:
            later = [node for node in later if not ground.is_rerendered(node)]
        if not ground.has_times or (later and not self.rising):
            return later, False
        boxes = [node.box for node in ground.composers if node.box]
        below_composer = branch.box is not None and all(box.bottom <= branch.box.y for box in boxes)
        above = self.rising or (bool(boxes) and below_composer)
        born = ground.births.get(branch, 0.0)
        ages = {
            node: max(ground.births.get(inner, 0.0) for inner in node.walk())
            for node in self._informative_nodes(around, before, branch)
        }
        earlier = [
            node
            for node, age in ages.items()
            if age >= born
            # Earlier messages are above, too, and a page may render them again.
            and all(ground.text_time(inner) is not None for inner in node.walk() if inner in ground.lines)
            and not ground.is_rerendered(node)
            and (is_akin(node, branch) or (above and node.tag == branch.tag))
        ]
        # Newer turns are above if old text is below the user's words, or if all this came later than they did.
        old = any(isinstance(node, Node) and ground.signs(node) and not ground.is_fresh(node) for node in after)
        if earlier and (above or old or all(ages[node] > born + AT_ONCE for node in earlier)):
            return earlier, True
        return later, False

    def _informative_nodes(self, around: Node, children: Sequence[Node | str], branch: Node) -> list[Node]:
        """Return the children that may be bubbles. If there is bare text between them, return a single element with
        copies of all children."""
        ground = self.ground
        bare = any(isinstance(child, str) and telling.is_content_text(child) for child in children)
        if bare and (not ground.has_times or around in ground.births or "h-said" in around.attributes):
            return [_copied_part(around, children)]
        return [
            child
            for child in children
            if isinstance(child, Node) and telling.has_content(ground, child, branch, self.echo.node)
        ]

    def _may_be_state(self, bubbles: Sequence[Node], user: Node, container: Node) -> bool:
        """Return True if the bubbles may be a name or a state of the user's bubble in unusual wording. Such bubbles
        are short, came with the user's text, are unlike the user's bubble, and were not in an existing list before
        their words."""
        ground, echo = self.ground, self.echo.node
        if not all(telling.appeared_whole(ground, bubble, echo) for bubble in bubbles):
            return False
        if any(telling.has_similar_parts(bubble, user, echo) for bubble in bubbles):
            return False
        return container in ground.births or not any(
            is_akin(bubble, user) or any(map(begins_without_words, bubble.walk())) for bubble in bubbles
        )

    def _rest_of_text(self) -> Spot | None:
        node, child, at = self.ground.letter_end(self.echo.end)
        while True:
            rest = node.children[child + 1 :]
            text = node.children[child]
            if isinstance(text, str) and at >= 0:
                rest = [re.sub(r"^[^\w\n]*", "", text[at:]), *rest]  # without the end of the user's sentence
            tail = _copied_part(node, rest)
            if telling.is_content_text(tail.text):
                return Spot((tail,), self.echo.node, None, node, "echo")
            if node is self.echo.node or node.parent is None:
                return None
            child, at = node.parent.children.index(node), -1
            node = node.parent

    def _state_spot(self) -> Spot | None:
        """Find a time or a state after the user's text in an existing list, to be the answer if nothing else comes."""
        ground, echo = self.ground, self.echo.node
        branch = echo
        for around in echo.ancestors() if ground.has_times else ():
            at = around.children.index(branch)
            bubbles = [
                node
                for node in (around.children[:at] if self.rising else around.children[at + 1 :])
                if isinstance(node, Node)
                and telling.may_have_content(ground, node)
                and (is_time(node.text) or (is_status(node.text) and not is_delivery(node.text)))
                and not telling.is_only_pressable(ground, node)
                and (not telling.appeared_whole(ground, node, echo) or telling.is_reserved_for_words(node))
                and not telling.is_beside_user(ground, node, branch)
            ]
            if bubbles and (around not in ground.births or all(map(telling.is_reserved_for_words, bubbles))):
                return Spot(tuple(bubbles), echo, branch, around, "echo", self.rising, doubtful=True)
            if around.get("role") in ("log", "feed") or telling.lists_earlier_turns(ground, around, branch):
                break
            branch = around
        return None

    def _log_element(self) -> Node | None:
        """Return the element in which the answer will come: the log, or the widest element that has the user's text
        but no composer."""
        last = self.echo.node.parent
        for around in self.echo.node.ancestors():
            if around.get("role") in ("log", "feed"):
                return around
            if around.tag in ("body", "h-page") or any(node.is_within(around) for node in self.ground.composers):
                break
            last = around
        return last


def _copied_part(around: Node, children: Sequence[Node | str]) -> Node:
    """Return a new element with copies of some children, because the page must not change."""
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


def _new_spot(ground: PageText, said: str, heard: float | None) -> Spot:
    """Find the turn by the elements that came since the send. Text from before the first byte of the response counts
    as another form of the user's text."""
    early = find_early_lines(ground, heard)
    came = [line for line in ground.lines if ground.is_fresh(line) and line not in early]
    # A page with one place for all its answers may say the same again.
    stood = {line for line in came if ground.is_rerendered(line)} if len(came) > 1 or ground.keeps_all_text else set()
    tops: list[Node] = []
    stack = [ground.page.root] if ground.has_times else []
    while stack:
        node = stack.pop()
        if ground.is_fresh(node):
            lines = [inner for inner in node.walk() if inner in ground.lines]
            others = [inner for inner in lines if inner in early or inner in stood]
            new = node in ground.births or "h-said" in node.attributes
            if new and node.tag not in ("h-page", "body") and len(others) in (0, len(lines)):
                tops.append(node)
            else:
                stack.extend(reversed(node.elements))
    wanted = letters(said)
    tops = [node for node in tops if telling.has_content(ground, node) and letters(node.text) != wanted]
    echo = next((node for node in tops if not early.isdisjoint(node.walk())), None)
    if echo is None and len(tops) == 1 and heard is not None and stood:
        # A page that shows its newest answer alone may have said the same again. It must have come after
        # the first byte: some pages render everything again at the press.
        came_at = ground.births.get(tops[0])
        lines = [line for line in tops[0].walk() if line in ground.lines]
        if came_at is not None and came_at >= heard and stood.issuperset(lines):
            return Spot((tops[0],), container=tops[0].parent, doubtful=True)
    tops = [node for node in tops if early.isdisjoint(node.walk()) and stood.isdisjoint(node.walk())]
    how = "new" if echo is None else "early"
    weights: dict[Node | None, int] = {}
    for node in tops:
        weights[node.parent] = weights.get(node.parent, 0) + ground.signs(node)
    if not weights:
        return Spot((), echo, how=how)
    container = max(weights, key=lambda parent: weights[parent])
    return Spot(tuple(node for node in tops if node.parent is container), echo, container=container, how=how)


def _common_ancestor(nodes: Sequence[Node]) -> Node | None:
    chains = [list(node.ancestors())[::-1] for node in nodes]
    joined: Node | None = None
    for level in zip(*chains, strict=False):
        if any(node is not level[0] for node in level):
            break
        joined = level[0]
    return joined
