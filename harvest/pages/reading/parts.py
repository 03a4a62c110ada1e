"""The parts of an answer other than its text: collapsed sources, thoughts, files, and offers. The text of the answer
includes none of these parts. Links of sources count as links of the answer, but no number in a report depends on
offers."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from harvest.pages.reading.bubble import visible_leaves
from harvest.pages.reading.elements import hints, is_control, leads_elsewhere
from harvest.pages.reading.figures import is_figure, offered_file, read_attachment
from harvest.pages.reading.folds import Fold, asks_for_rating, find_hidden, is_pressable, outward_links, raw_text
from harvest.pages.reading.formula import is_formula
from harvest.pages.reading.listing import find_bars, is_listing
from harvest.pages.reading.markdown import markdown
from harvest.pages.reading.page import Node, Page
from harvest.pages.reading.phrases import (
    find_called_tool,
    is_continue_button,
    is_status,
    is_thought_title,
    is_unfold_button,
)
from protocols.answer import Attachment, Offer, Source, ToolCall

_LONGEST_OFFER = 120  # characters
_CLOSE_BUTTON = re.compile(
    r"(?i)close|dismiss|ok(?:ay)?|got it|done|schlie(?:ß|ss)en|fermer|cerrar|chiudi|fechar|sluiten|关闭|閉じる"
)
_FIELD_TAGS = frozenset({"input", "option", "select", "textarea"})
_POPUP_ATTRIBUTES = ("aria-expanded", "aria-haspopup")
_TOOL_WORDS = frozenset({"action", "actions", "controls", "feedback", "rating", "toolbar", "tools", "vote"})


def find_sources(folds: Iterable[Fold], url: str) -> Iterator[Source]:
    """Yield each link in the collapsed parts once. `url` is the page's address; links within the page do not count."""
    here, known = url.partition("#")[0], set[str]()
    for fold in folds:
        for link in (one for body in fold.body for one in outward_links(body) if fold.kind == "folded"):
            href = link.get("href")
            if href not in known and href.partition("#")[0] != here:
                known.add(href)
                title = raw_text(link) or link.get("aria-label") or link.get("title")
                yield Source(href, "" if title == href else title, place="folded")


def folded_texts(folds: Iterable[Fold], url: str) -> Iterator[str]:
    """Yield the collapsed parts that are not read, as Markdown, in page order."""
    for fold in folds:
        if fold.kind == "folded" and fold.has_more_text:
            yield from (said for body in fold.body if (said := _unfolded_text(body, url)))


def collect_thoughts(nodes: Iterable[Node], folds: Iterable[Fold], url: str) -> str:
    """Return the system's reasoning in these elements and folds, as Markdown."""
    kept = [fold for fold in folds if fold.kind == "thoughts" and fold.title is not None]
    bodies = [
        body for fold in kept if not find_called_tool(fold.title.text if fold.title else "") for body in fold.body
    ]
    thought = [node for node in nodes if not find_called_tool(title.text if (title := _title_in(node)) else "")]
    pieces = (_unfolded_text(node, url) for node in (*thought, *bodies))
    return "\n\n".join(dict.fromkeys(piece for piece in pieces if piece))


def find_tool_calls(nodes: Iterable[Node], folds: Iterable[Fold], url: str) -> Iterator[ToolCall]:
    """Yield the tool calls that the page reports. A title such as `Used search` marks a call, and the text below it is
    the request."""
    folded = ((fold.title, fold.body) for fold in folds if fold.title is not None)
    for title, bodies in (*((_title_in(node), (node,)) for node in nodes), *folded):
        name = find_called_tool(title.text) if title is not None else ""
        if name:
            asked = "\n".join(_unfolded_text(body, url) for body in bodies).strip("`\n")
            yield ToolCall(name, asked.removeprefix("json\n"))


def _title_in(node: Node) -> Node | None:
    return next((one for one in node.walk() if one.tag == "summary" or is_control(one)), None)


def _unfolded_text(node: Node, url: str) -> str:
    titles = {one for one in node.walk() if one.tag == "summary" or is_thought_title(one.text)} - {node}
    return markdown(node, titles, url, unfolded={node, *find_hidden(node)})


def find_attachments(bubbles: Sequence[Node], dropped: Collection[Node]) -> Iterator[Attachment]:
    known: set[Attachment] = set()
    stack = list(bubbles)[::-1]
    wordless = not any(leaf.text for bubble in bubbles for leaf in visible_leaves(bubble, dropped))
    while stack:
        node = stack.pop()
        if node.hidden or (node in dropped and not is_control(node)) or is_formula(node):
            continue
        came = read_attachment(node) if is_figure(node) else offered_file(node)
        nameless = came is not None and came.name == node.get("src") and came.name.startswith(("data:", "blob:"))
        if came is not None and came not in known and (wordless or not nameless):
            known.add(came)
            yield came
        if came is None or node.tag == "a":
            stack.extend(reversed(node.elements))


def find_rest_button(page: Page, bubbles: Sequence[Node], folds: Iterable[Fold], text: str) -> str:
    """Return the text of a button that continues this answer or shows hidden parts of it, or ""."""
    unfolded = {fold.title for fold in folds if fold.kind == "rest"}
    whole = text.rstrip(' *_`)]"”’').endswith((".", "!", "?", "。", "！", "？", "```"))
    for bubble in bubbles:
        cut_short = any("h-cut" in one.attributes for one in (bubble, *bubble.ancestors(), *bubble.walk()))
        for node in _buttons_in(bubble):
            said = node.text
            # `Continue` alone may continue something other than the words.
            if is_continue_button(said) and (len(said.split()) > 1 or not said.isascii() or not whole):
                return said
            if is_unfold_button(said) and node not in unfolded and not cut_short and not node.get("aria-haspopup"):
                return said
    for node in page.walk():
        # Some pages set it below the conversation.
        fresh = is_control(node) and node.visible and node.birth_time is not None
        if fresh and is_continue_button(node.text) and (len(node.text.split()) > 1 or not node.text.isascii()):
            return node.text
    return ""


def find_offers(bubbles: Sequence[Node], container: Node | None, folds: Iterable[Fold]) -> Iterator[tuple[Offer, Node]]:
    """Yield the replies to press instead of typing, with their elements: buttons with words, in the bubbles and right
    after them, and the options of lists."""
    known: set[str] = set()
    titles = {fold.title for fold in folds}
    later: list[Node] = []
    if container is not None and bubbles:
        # Elements after the last bubble in their container that came after the turn was sent.
        beside = container.elements
        at = next((number for number, one in enumerate(beside) if bubbles[-1].is_within(one)), len(beside))
        later = [one for one in beside[at + 1 :] if one.birth_time is not None and not one.hidden]
    for place in (*bubbles, *later):
        for node in place.walk():
            if (
                node.tag == "select"
                and node.visible
                and not any(hints(one) & _TOOL_WORDS for one in node.self_and_ancestors())
            ):
                for choice in node.get("h-options").split("\n") if node.get("h-options") else ():
                    if choice not in known:
                        known.add(choice)
                        yield Offer(choice, "", "reply"), node
        bars = {bar for one in place.walk() if is_listing(one) for bar in find_bars(one)}
        for node in _buttons_in(place):
            said, around = node.text, list(node.self_and_ancestors())
            if said in known or not _is_offer(said) or any(node.get(name) for name in _POPUP_ATTRIBUTES):
                continue
            in_window = any(one.tag == "dialog" or one.get("role") == "dialog" for one in around[1:])
            if (in_window and _CLOSE_BUTTON.fullmatch(said)) or _is_footnote(node):
                continue
            if any(
                one in bars
                or hints(one) & _TOOL_WORDS
                or one.get("role") == "toolbar"
                or is_listing(one)
                or asks_for_rating(one)
                for one in around
            ):
                continue
            if (
                node not in titles
                and offered_file(node) is None
                and not is_figure(node)
                and node.tag not in _FIELD_TAGS
            ):
                known.add(said)
                yield Offer(said, node.get("value") or node.get("data-value"), "reply"), node


def _is_footnote(button: Node) -> bool:
    """Return True for a number in or above a line of words, which shows a source."""
    if not button.text.strip("[]() ").isdecimal():
        return False
    raised = any(one.tag == "sup" or one.get("h-raise") == "super" for one in button.self_and_ancestors())
    return raised or (button.parent is not None and button.parent.has_text)


def _is_offer(said: str) -> bool:
    if len(said) > _LONGEST_OFFER or not any(character.isalnum() for character in said):
        return False
    return not (is_status(said) or is_unfold_button(said) or is_continue_button(said) or is_thought_title(said))


def _buttons_in(place: Node) -> Iterator[Node]:
    stack = [place]
    while stack:
        node = stack.pop()
        if node.hidden:
            continue
        if is_pressable(node) and node.get("role") != "toolbar":
            yield node
        elif not leads_elsewhere(node):
            stack.extend(reversed(node.elements))
