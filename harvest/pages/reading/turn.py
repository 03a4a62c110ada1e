"""The system's answer, read from a recorded page: its text as Markdown, and its links. The result depends only on the
page, the user's text, and the habits learnt from earlier turns, so that a stored page can be read again later with
the same result."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from types import MappingProxyType
from typing import Any

from harvest.pages.reading import parts
from harvest.pages.reading.asides import is_announcement, lines_between, quotes_in, shows_sent_file
from harvest.pages.reading.bubble import Edge, find_edges, visible_leaves
from harvest.pages.reading.decoration import Decorations, find_decorations
from harvest.pages.reading.echo import trail
from harvest.pages.reading.elements import signature
from harvest.pages.reading.folds import find_folds
from harvest.pages.reading.markdown import markdown
from harvest.pages.reading.names import find_button_texts, find_names, may_begin_with_name
from harvest.pages.reading.page import Node, Page, collapse_spaces
from harvest.pages.reading.page_text import PageText
from harvest.pages.reading.panels import PanelSources, find_panel_sources
from harvest.pages.reading.phrases import is_label, is_placeholder, remove_cursor
from harvest.pages.reading.silence import is_waiting, is_wordless, offered_choices
from harvest.pages.reading.slot import find_earlier_slots, find_slots
from harvest.pages.reading.turn_place import Spot, find_spot
from protocols.answer import Answer, Offer
from topics.links import Link, links_in

_MOST_EDGES = 200  # most edges that are kept of a conversation
_MOST_EARLIER_BUBBLES = 6  # most earlier bubbles that are examined
# The note on an answer if the page does not show the rest.
GOES_ON_NOTE = "its page offers to continue it or to show more of it; that was not requested, so it counts as it is"

# The note on an answer if more than sources is behind a button.
FOLDED_NOTE = "part of it, besides links, is collapsed on its page and was not read"

# The note on an answer if reasoning was recognised by its place, its look, or its title.
THOUGHT_NOTE = "its page shows the system's reasoning above it; that is kept apart from the answer"

# The note on an answer if links came outside the chat that may not be its sources.
LINKS_NOTE = "links beside the chat changed with it and were not read as its sources; a site file can name them"

# The note on an answer if the sources of an earlier answer remained outside the chat, untouched.
STOOD_NOTE = "the sources beside the chat are those of an earlier answer; if they are its sources, too, is not known"

# The note on a first answer if it begins with a short line in an element of its own.
NAME_NOTE = "its first line may be the speaker's name: no other reply shows if it comes again"

_SPEAKER_PREFIX = re.compile(r"[^\w\n]{0,3}(?P<name>[\w][\w .'’-]{0,38}?)\*{0,2}\s?[:：]\*{0,2}\s+")


@dataclass(frozen=True, slots=True)
class Habits:
    """Habits of a page, learnt from earlier turns of a conversation. `user` holds the signatures of the element with
    the user's text and of its two nearest ancestors. `rising` is True if newer turns are above older turns. `edges`
    holds lines next to earlier replies, such as the bot's name, and `slots` the kinds of the elements that contain
    the words of these replies. `apart` is True if no element of a reply had the signatures of `user`. `beside`
    holds signatures of the elements around sources next to the chat, from the inside out. `files` holds the names of
    the files that the user has sent."""

    user: tuple[str, ...] = ()
    rising: bool = False
    edges: tuple[Edge, ...] = ()
    slots: tuple[str, ...] = ()
    apart: bool = False
    beside: tuple[tuple[str, ...], ...] = ()
    files: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        edges = [list(edge) for edge in self.edges]
        return {
            "user": list(self.user),
            "rising": self.rising,
            "edges": edges,
            "slots": list(self.slots),
            "apart": self.apart,
            "beside": [list(made) for made in self.beside],
            **({"files": list(self.files)} if self.files else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Habits":
        """Read the result of `as_json`. Raises ValueError for anything else."""
        try:
            edges = tuple((str(made), str(text)) for made, text in data["edges"])
            slots = tuple(str(made) for made in data.get("slots", ()))  # older recordings have none
            apart = data.get("apart") is True
            beside = tuple(tuple(map(str, made)) for made in data.get("beside", ()))
            files = tuple(map(str, data.get("files", ())))
            user = tuple(str(part) for part in data["user"])
            return cls(user, bool(data["rising"]), edges, slots, apart, beside, files)
        except (KeyError, TypeError, ValueError) as fault:
            raise ValueError(f"the habits are invalid: {fault!r}") from None


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """An answer as read from the page.

    - `text`: the answer as Markdown; "" until there is an answer, even if names and times are already shown.
    - `links`: the result of `links_in` for the text.
    - `bubbles`: the elements of the answer in spoken order; an element cut out of a longer text has the id 0.
    - `echo`: the element with the user's text, or None if the page does not repeat the text.
    - `container`: the element around `bubbles` and `echo`.
    - `how`: how the turn was found, as in `Spot`, or `reply`.
    - `left_out`: texts of decorations.
    - `decorations`: the decoration elements, each with its mark.
    - `slots`: kinds of the elements that contain the words.
    - `places`: trails of sources next to the chat.
    - `began`, `ended`: seconds from the send to the first and the last piece of the answer, as far as the page dates
      them; None without text.
    - `doubtful`: for an answer without text, the turn to use if nothing else comes. It is read from elements that are
      more likely a name, a time or a state.
    - `beside`: the other parts of the answer (sources, thoughts, files and so on), with an empty text.
    - `wordless`: whether a bubble without a word came.
    - `rest`: the text of the button that would show more of the answer, or "".
    - `notes`: sentences for readers of the results.
    - `announced`: whether the page only says that somebody will answer.
    - `buttons`: the elements of the offers in `beside`, in the same order.
    """

    text: str
    links: tuple[Link, ...] = ()
    bubbles: tuple[Node, ...] = ()
    echo: Node | None = None
    container: Node | None = None
    how: str = "new"
    left_out: tuple[str, ...] = ()
    decorations: Mapping[Node, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    slots: Collection[str] = field(default=frozenset(), repr=False)
    places: Collection[tuple[str, ...]] = field(default=frozenset(), repr=False)
    began: float | None = None
    ended: float | None = None
    rising: bool = field(default=False, repr=False)
    doubtful: "ReadTurn | None" = field(default=None, repr=False)
    beside: Answer = field(default_factory=lambda: Answer(""), repr=False)
    wordless: bool = False
    rest: str = ""
    notes: tuple[str, ...] = ()
    announced: bool = False
    buttons: tuple[Node, ...] = field(default=(), repr=False)

    @property
    def answer(self) -> Answer:
        """The text with its links, the links of its sources, and its other parts."""
        told = Answer.of(self.text, sources=self.beside.sources)
        return replace(self.beside, text=self.text, links=told.links, links_left_out=told.links_left_out)


def read_turn(
    page: Page,
    said: str,
    *,
    habits: Habits | None = None,
    before: PageText | None = None,
    heard: float | None = None,
) -> ReadTurn:
    """Read the answer to `said` from the page. Never raises, whatever the page contains. `before` is the page when the
    turn was typed, or None if unknown. `heard` is the seconds from the send to the first byte that came back,
    infinity if no byte has come, or None if unknown."""
    habits = habits or Habits()
    ground = PageText(page, before)
    heard = None if heard is None else 1000 * heard
    spot = find_spot(ground, said, user=habits.user, apart=habits.apart, rising=habits.rising, heard=heard)
    files = [one for one in spot.bubbles if shows_sent_file(ground, one, spot.echo, habits.files, heard)]
    if 1 < len(files) == len(spot.bubbles) and _came_later(ground, files, heard):
        files.pop()  # an answer that is the name of a file
    spot = replace(spot, bubbles=tuple(one for one in spot.bubbles if one not in files))
    announcements = [bubble for bubble in spot.bubbles if is_announcement(bubble.text)]
    announcements += [line for line in lines_between(ground, spot) if line not in announcements]
    announced = bool(announcements) and len(announcements) == len(spot.bubbles)
    if announced:
        announcements = []
    spot = replace(
        spot,
        bubbles=tuple(bubble for bubble in spot.bubbles if bubble not in announcements),
        doubtful=spot.doubtful or announced,
    )
    names = find_names(page, spot.bubbles) if spot.bubbles else frozenset()
    others = _similar_bubbles(page, spot)
    edges = {*habits.edges, *(edge for other in others for edge in find_edges(other))}
    decorations = find_decorations(
        spot.bubbles,
        echo=spot.echo,
        user=spot.user,
        names=names,
        pressed=find_button_texts(page) if spot.bubbles else (),
        known=edges,
        slots={*habits.slots, *find_earlier_slots(others, spot.bubbles)},
    )
    decorations.texts.extend(bubble.text for bubble in (*announcements, *files))
    for quote in quotes_in(spot.bubbles, said):
        if decorations.nodes.isdisjoint(quote.self_and_ancestors()):
            decorations.nodes.add(quote)
            decorations.texts.append(quote.text)
    left_out = [*decorations.texts, *parts.folded_texts(decorations.folds, page.url)]
    text = _write_bubbles(spot.bubbles, decorations, page.url, left_out)
    name = _speaker_prefix(text, spot.echo, said, names)
    if name:
        left_out.append(name)
        text = text[len(name) :].lstrip()
    rest = parts.find_rest_button(page, spot.bubbles, decorations.folds, text)
    began, ended = _answer_times(ground, spot.bubbles, decorations) if text else (None, None)
    # An answer that is only choices has no words of its own.
    offered = offered_choices(ground, spot, heard) if not text and not decorations.doubtful else ()
    offers = tuple(parts.find_offers(spot.bubbles or offered, spot.container, decorations.folds))
    beside = _other_parts(page, spot.bubbles or offered, offers, decorations)
    panel = find_panel_sources(page, said, spot, before.page if before is not None else None, habits.beside)
    beside = replace(beside, sources=(*beside.sources, *panel.sources))
    turn = ReadTurn(
        text,
        links_in(text),
        spot.bubbles or (offered if beside.offers else ()),
        spot.echo,
        spot.container,
        spot.how,
        tuple(left_out),
        _mark_decorations(decorations),
        find_slots(spot.bubbles, decorations.nodes, edges),
        panel.places,
        began,
        ended,
        spot.rising,
        beside=beside,
        wordless=not text and not decorations.doubtful and is_wordless(ground, spot, left_out, heard),
        rest=rest,
        notes=_notes(decorations, rest, panel, spot.bubbles if not edges else ()) if text else (),
        announced=announced,
        buttons=tuple(node for _, node in offers),
    )
    if text and spot.doubtful:
        return replace(turn, text="", links=(), left_out=(*left_out, text), began=None, ended=None, doubtful=turn)
    if text:
        return turn
    if not decorations.doubtful:
        return replace(turn, doubtful=_accept_placeholder(turn, ground, decorations, page.url, heard))
    given_back = replace(decorations, nodes=decorations.nodes - decorations.doubtful, texts=[])
    text = _write_bubbles(spot.bubbles, given_back, page.url, [])
    began, ended = _answer_times(ground, spot.bubbles, given_back)
    kept = tuple(one for one in left_out if one not in {node.text for node in decorations.doubtful})
    doubtful = replace(turn, text=text, links=links_in(text), left_out=kept, began=began, ended=ended)
    return replace(turn, doubtful=replace(doubtful, decorations=_mark_decorations(given_back)))


def _came_later(ground: PageText, files: Sequence[Node], heard: float | None) -> bool:
    """Return True if the last of these elements came after the one before it, and after the first byte."""
    before, last = (ground.births.get(one) for one in files[-2:])
    return None not in (heard, before, last) and last >= heard and last > before  # type: ignore[operator]


def _accept_placeholder(
    turn: ReadTurn, ground: PageText, decorations: Decorations, url: str, heard: float | None
) -> ReadTurn | None:
    """Return the turn with a placeholder (`...`, `Loading`) as its answer, because a system may answer like that.
    Returns None if the text came before the first byte, or if an element shows that the page still waits. Callers
    use the result only if nothing else can come, because a placeholder announces more."""
    if not turn.bubbles or heard is None or any(map(is_waiting, turn.bubbles)):
        return None
    text = _write_bubbles(turn.bubbles, decorations, url, None)
    began, ended = _answer_times(ground, turn.bubbles, decorations)
    if not text or 1000 * began < heard:
        return None
    kept = tuple(one for one in turn.left_out if one != collapse_spaces(text))
    return replace(turn, text=text, left_out=kept, began=began, ended=ended, wordless=False, announced=True)


def _other_parts(
    page: Page, bubbles: Sequence[Node], offers: Iterable[tuple[Offer, Node]], decorations: Decorations
) -> Answer:
    return Answer(
        "",
        sources=tuple(parts.find_sources(decorations.folds, page.url)),
        thoughts=parts.collect_thoughts(decorations.thoughts, decorations.folds, page.url),
        calls=tuple(parts.find_tool_calls(decorations.thoughts, decorations.folds, page.url)),
        attachments=tuple(parts.find_attachments(bubbles, decorations.nodes)),
        offers=tuple(offer for offer, _ in offers),
    )


def _mark_decorations(decorations: Decorations) -> dict[Node, str]:
    return {node: "thoughts" if node in decorations.thoughts else "1" for node in decorations.nodes}


def _notes(decorations: Decorations, rest: str, panel: PanelSources, first: Sequence[Node]) -> tuple[str, ...]:
    told = {
        GOES_ON_NOTE: bool(rest),
        FOLDED_NOTE: any(fold.kind == "folded" and fold.has_more_text for fold in decorations.folds),
        THOUGHT_NOTE: decorations.in_view,
        LINKS_NOTE: panel.missed,
        STOOD_NOTE: panel.stood,
        NAME_NOTE: any(may_begin_with_name(bubble, decorations.nodes) for bubble in first[:1]),
    }
    return tuple(note for note, holds in told.items() if holds)


def read_bubbles(page: Page, *, habits: Habits | None = None, left_out: Collection[str] = ()) -> ReadTurn:
    """Read the answer from a page that contains only its bubbles, such as the evidence `reply`. `left_out` holds the
    texts of decorations on the whole page, because the bubbles alone do not identify decorations. If `markup`
    marked elements, exactly these elements are left out."""
    bubbles = tuple(page.root.elements)
    said = {one for one in left_out if one}
    if page.root.get("left-out"):
        marked = [node for node in page.walk() if node.get("h-left-out")]
        decorations = Decorations(
            set(marked),
            [node.text for node in marked if node.text],
            thoughts=tuple(node for node in marked if node.get("h-left-out") == "thoughts"),
            folds=tuple(fold for bubble in bubbles for fold in find_folds(bubble, marked)),
        )
    else:
        decorations = find_decorations(bubbles, known=(habits or Habits()).edges)
        nodes = decorations.nodes
        nodes -= decorations.doubtful
        for node in (node for bubble in bubbles for node in bubble.walk() if node.text in said):
            if nodes.isdisjoint(node.self_and_ancestors()):
                if not any(visible_leaves(one, {*nodes, node}) for one in bubbles):
                    continue  # an answer may have the words of a button next to it
                nodes.add(node)
                decorations.texts.append(node.text)
    told = [*decorations.texts, *parts.folded_texts(decorations.folds, page.url)]
    text = _write_bubbles(bubbles, decorations, page.url, told)
    name = next((one for one in said if one.endswith((":", "：")) and text.startswith(one)), "")
    text = text[len(name) :].lstrip() if name else text
    offers = tuple(parts.find_offers(bubbles, None, decorations.folds))
    beside = _other_parts(page, bubbles, offers, decorations)
    buttons = tuple(node for _, node in offers)
    return ReadTurn(text, links_in(text), bubbles, how="reply", left_out=tuple(told), beside=beside, buttons=buttons)


def learn_habits(page: Page, turn: ReadTurn, habits: Habits | None = None) -> Habits:
    """Return the habits after one more turn."""
    habits = habits or Habits()
    edges = dict.fromkeys(habits.edges)
    for bubble in turn.bubbles:
        edges.update(dict.fromkeys(sorted(find_edges(bubble))))
    seen = turn.echo if turn.how != "early" else None
    user = trail(seen) if seen is not None else habits.user
    apart = bool(turn.text) and (habits.apart or not habits.user)
    apart = apart and not any(trail(node) == user for bubble in turn.bubbles for node in bubble.walk())
    rising = turn.rising if seen is not None and turn.bubbles else habits.rising
    slots = dict.fromkeys((*habits.slots, *sorted(turn.slots)))
    beside = tuple(dict.fromkeys((*habits.beside, *sorted(turn.places))))[-_MOST_EDGES:]
    kept = tuple(edges)[-_MOST_EDGES:], tuple(slots)[-_MOST_EDGES:]
    return Habits(user, rising, *kept, apart and bool(user), beside, habits.files)


def _write_bubbles(bubbles: Sequence[Node], decorations: Decorations, url: str, left_out: list[str] | None) -> str:
    """Return the Markdown of all bubbles. Placeholders go to `left_out`, or into the text if `left_out` is None."""
    kept: list[str] = []
    for bubble in bubbles:
        wordless = not any(leaf.text for leaf in visible_leaves(bubble, decorations.nodes))
        text = markdown(bubble, decorations.nodes, url, unfolded=decorations.unfolded, wordless=wordless)
        if left_out is not None and is_placeholder(collapse_spaces(text)):
            left_out.append(collapse_spaces(text))
        elif text:
            kept.append(text)
    return remove_cursor("\n\n".join(kept))


def _similar_bubbles(page: Page, spot: Spot) -> Sequence[Node]:
    if spot.container is None:
        return ()
    made = {signature(bubble) for bubble in spot.bubbles if bubble.classes}
    alike = [node for node in page.walk() if node.classes and signature(node) in made]
    mine = {node for node in (*spot.bubbles, spot.echo) if node is not None}
    around = {outer for node in mine for outer in node.ancestors()}
    others = (node for node in reversed(alike) if node not in around and mine.isdisjoint(node.self_and_ancestors()))
    return list(islice(others, _MOST_EARLIER_BUBBLES))[::-1]


def _speaker_prefix(text: str, echo: Node | None, said: str, names: Iterable[str]) -> str:
    """Return the prefix before the answer, such as `Bot:`, if the page writes a prefix such as `You:` before the
    user's text."""
    told = _SPEAKER_PREFIX.match(text)
    if told is None or echo is None or not is_label(told["name"], names):
        return ""
    before = echo.text.partition(collapse_spaces(said))[0]
    return told[0].strip() if _SPEAKER_PREFIX.search(before + " ") and before.rstrip().endswith((":", "：")) else ""


def _answer_times(ground: PageText, bubbles: Sequence[Node], decorations: Decorations) -> tuple[float, float]:
    first: list[float] = []
    last: list[float] = []
    for bubble in bubbles:
        for node, since in ground.first_words(bubble, decorations.nodes):
            said = float(node.get("h-said")) if node.get("h-said") else None
            times = [time for time in (since, said) if time is not None]
            first.extend(times[:1])
            last.extend(times)
    asked = ground.page.asked or 0.0
    return min(first, default=asked) / 1000, max(last, default=asked) / 1000
