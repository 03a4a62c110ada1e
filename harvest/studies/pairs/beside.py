"""Print two conversations next to each other, turn by turn, and mark the words in which they differ.

The conversations are printed in two columns if each column gets at least 36 characters, and otherwise one below the
other. On a colour terminal, differing words are coloured and underlined; otherwise, they are enclosed in ⟦ and ⟧.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from rich.console import Console
from rich.text import Text

from harvest.studies.pairs.conversation_pairs import ConversationPair, LabelDifference, Side
from harvest.studies.pairs.conversation_rows import label_line, outcome_words, part_lines, route_lines
from harvest.terminal import printable
from protocols.labels import USEFUL
from recordings.conversations.conversation import Conversation, SystemTurn, Turn
from topics.counting import pluralize
from topics.decimals import percent

# Most pairs of equal words in two texts; comparing more would keep a reader waiting.
_MOST_STEPS = 4_000_000

# Each letter of a script without spaces between words is a word; so is a whole URL.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(
    rf"(?:https?://|www\.)[^\s{_UNSPACED}]+|[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+(?:['’\-](?:(?![{_UNSPACED}])\w)+)*"
    r"|[^\w\s]"
)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WordDifferences:
    """The differences between two texts.

    `left` has the spans [start, end), in characters, that occur only in the left text, and `right` the spans that
    occur only in the right text. White space is ignored. `common` is 2M / (a + b) for texts of a and b words with M
    matching words in the same order (Ratcliff and Obershelp, as in `difflib`). It is in [0, 1], or NaN if both
    texts are empty. Texts that are too long are not compared: `compared` is false, there are no spans, and `common`
    is NaN.
    """

    left: tuple[Span, ...]
    right: tuple[Span, ...]
    common: float
    compared: bool = True


def compare_words(left: str, right: str) -> WordDifferences:
    """Compare two texts word by word; upper and lower case differ. A punctuation mark counts as a word. In scripts
    without spaces between words, each character counts as a word."""
    mine, others = list(_WORD.finditer(left)), list(_WORD.finditer(right))
    words, their = [one[0] for one in mine], [one[0] for one in others]
    if not words and not their:
        return WordDifferences((), (), math.nan)
    head = _count_common_start(words, their)
    tail = _count_common_start(words[head:][::-1], their[head:][::-1])
    inner, outer = words[head : len(words) - tail], their[head : len(their) - tail]
    often = Counter(outer)
    if sum(often[word] for word in inner) > _MOST_STEPS:
        return WordDifferences((), (), math.nan, compared=False)
    same = head + tail
    mine_apart: list[Span] = []
    others_apart: list[Span] = []
    for kind, a, b, c, d in SequenceMatcher(None, inner, outer, autojunk=False).get_opcodes():
        if kind == "equal":
            same += b - a
            continue
        if b > a:
            mine_apart.append((mine[head + a].start(), mine[head + b - 1].end()))
        if d > c:
            others_apart.append((others[head + c].start(), others[head + d - 1].end()))
    return WordDifferences(tuple(mine_apart), tuple(others_apart), 2 * same / (len(words) + len(their)))


def _count_common_start(left: Sequence[str], right: Sequence[str]) -> int:
    return next(
        (i for i, (one, other) in enumerate(zip(left, right, strict=False)) if one != other), min(len(left), len(right))
    )


_LEAST_COLUMN_WIDTH = 36  # columns for each side; with fewer, one is printed below the other
_SEPARATOR = " │ "
# Below this share of common words nearly everything differs, and marks would make it harder to read.
_LEAST_COMMON = 0.3

# Characters of what came with an answer; `harvest show` of one conversation has more.
_LONGEST_PART = 400

_MARKS = ("bold underline red", "bold underline blue")


def pair_lines(pair: ConversationPair, sides: tuple[Side, Side], console: Console) -> Iterator[Text]:
    """Yield the printed lines of one pair. Lines are no wider than the console unless a single word is."""
    page = _Page(console)
    flipped = set(pair.differing_turns)
    yield from page.print_full_width(Text(printable(f"{pair.topic} · trial {pair.trial}", line=True), style="bold"))
    both = (pair.left, pair.right)
    titles = [
        f"{side.name} · attempt {one.attempt}" if one and one.attempt > 1 else side.name
        for side, one in zip(sides, both, strict=True)
    ]
    yield from page.print_side_by_side(*(Text(printable(title, line=True), style="bold") for title in titles))
    yield page.rule()
    turns = [{turn.number: turn for turn in one.turns} if one else {} for one in both]
    for place, number in enumerate(sorted(turns[0].keys() | turns[1].keys())):
        if place:
            yield Text()
        mine, other = (own.get(number) for own in turns)
        yield from _user_turn(page, number, mine, other)
        yield from _system_turn(page, number, mine, other, flipped=number in flipped)
    yield page.rule()
    yield from page.print_side_by_side(*(_outcome_text(one) for one in both))


def pair_line(pair: ConversationPair, sides: tuple[Side, Side]) -> str:
    """Summarise a pair in one line, such as `M002 trial 1 A: x o B: x x differ at S2`."""
    told = [f"{pair.topic}  trial {pair.trial}"]
    for side, one in zip(sides, (pair.left, pair.right), strict=True):
        told.append(f"{side.name}: {(label_line(one) or outcome_words(one)) if one else 'no valid attempt'}")
    if pair.differing_turns:
        told.append("differ at " + ", ".join(f"S{turn}" for turn in pair.differing_turns))
    return printable("  ".join(told), line=True)


def summary_lines(differences: Sequence[LabelDifference], sides: tuple[Side, Side]) -> Iterator[str]:
    """Yield how often the labels of each turn differ between the sides, and how often within one side."""
    names = [printable(side.name, line=True) for side in sides]
    for one in differences:
        count = sum(one.by_labels.values())
        said = f"S{one.turn}: labels differ in {count} of {pluralize(one.n, 'trial')}"
        if count:
            ways = (f"{names[0]} {a}, {names[1]} {b}: {many}" for (a, b), many in one.by_labels.items())
            said += f" ({'; '.join(ways)})"
        yield said
        known = [f"{name} {percent(share)}" for name, share in zip(names, one.within, strict=True) if share == share]
        if known:
            own = " and ".join(known)
            yield f"    that is {percent(count / one.n)}; between two trials of one system on one topic: {own}"


class _Page:
    def __init__(self, console: Console) -> None:
        self.console = console
        self.width = console.width
        self.column = (self.width - len(_SEPARATOR)) // 2
        self.coloured = console.color_system is not None and not console.no_color

    @property
    def is_stacked(self) -> bool:
        return self.column < _LEAST_COLUMN_WIDTH

    def rule(self) -> Text:
        if self.is_stacked:
            return Text("─" * self.width, style="dim")
        return Text("─" * (self.column + 1) + "┼" + "─" * (self.column + 1), style="dim")

    def print_full_width(self, text: Text) -> Iterator[Text]:
        yield from self._wrap(text, self.width)

    def print_side_by_side(self, left: Text, right: Text) -> Iterator[Text]:
        if self.is_stacked:
            yield from self.print_full_width(left)
            yield from self.print_full_width(right)
            return
        for mine, other in zip_longest(self._wrap(left, self.column), self._wrap(right, self.column)):
            line = Text().append_text(mine) if mine else Text()  # its style applies to its own words only
            line.pad_right(self.column - line.cell_len)
            line.append(_SEPARATOR.rstrip(), style="dim")
            if other:
                line.append(" ")
                line.append_text(other)
            yield line

    def mark_spans(self, text: str, apart: Sequence[tuple[int, int]], side: int) -> Text:
        found = Text()
        at = 0
        for start, end in apart:
            found.append(printable(text[at:start]))
            words = printable(text[start:end])
            found.append(words if self.coloured else f"⟦{words}⟧", style=_MARKS[side] if self.coloured else "")
            at = end
        found.append(printable(text[at:]))
        return found

    def _wrap(self, text: Text, width: int) -> list[Text]:
        lines = text.wrap(self.console, width, overflow="fold", tab_size=4)
        for line in lines:
            line.rstrip()
        return list(lines)


def _user_turn(page: _Page, number: int, mine: Turn | None, other: Turn | None) -> Iterator[Text]:
    if (
        mine
        and other
        and (mine.said, mine.state, mine.user, mine.act) == (other.said, other.state, other.user, other.act)
    ):
        yield from page.print_full_width(_user_heading(number, mine))
        yield from page.print_full_width(Text(printable(mine.said)))
        return
    found = compare_words(mine.said, other.said) if mine and other else None
    told = []
    for side, turn in enumerate((mine, other)):
        if turn is None:
            told.append(Text(f"no turn {number}", style="dim"))
            continue
        heading = _user_heading(number, turn).append("\n")
        told.append(heading.append_text(page.mark_spans(turn.said, _differing_stretches(found, side), side)))
    yield from page.print_side_by_side(told[0], told[1])


def _user_heading(number: int, turn: Turn) -> Text:
    by = f"{turn.state}, {turn.user}: {turn.act}" if turn.user else turn.state
    return Text.assemble((f"U{number} ", "bold cyan"), (printable(f"({by})", line=True), "dim"))


def _system_turn(page: _Page, number: int, mine: Turn | None, other: Turn | None, *, flipped: bool) -> Iterator[Text]:
    replies = [turn.reply if turn else None for turn in (mine, other)]
    found = None
    parts = [
        [*part_lines(reply.answer), *(f"note: {note}" for note in reply.notes)] if reply else [] for reply in replies
    ]
    if replies[0] and replies[1]:
        found = compare_words(replies[0].answer.text, replies[1].answer.text)
        flip = ("labels differ; ", "bold") if flipped else ""
        came = "; what came with it differs"
        if Counter(parts[0]) == Counter(parts[1]):
            came = f"; the same {pluralize(len(parts[0]), 'part')} came with it" if parts[0] else ""
        said = _compared_words(found, replies[0], replies[1]) + came
        yield from page.print_full_width(Text.assemble((f"S{number}: ", "dim"), flip, (said, "dim")))
    own = [list((Counter(parts[side]) - Counter(parts[1 - side])).elements()) for side in (0, 1)]
    told = [
        Text() if turn is None else _answer_text(page, turn, _differing_stretches(found, side), own[side], side)
        for side, turn in enumerate((mine, other))
    ]
    yield from page.print_side_by_side(told[0], told[1])


def _compared_words(found: WordDifferences, mine: SystemTurn, other: SystemTurn) -> str:
    if mine.answer.text == other.answer.text:
        return "the same text"
    if not found.compared:
        return "too long to mark what differs"
    if math.isnan(found.common):
        return "no words on either side"
    share = f"{percent(found.common)} of the words in common"
    if found.common == 1:
        return "the same words, with other white space"
    return share + (", so none are marked" if found.common < _LEAST_COMMON else "")


def _differing_stretches(found: WordDifferences | None, side: int) -> Sequence[tuple[int, int]]:
    if found is None or found.common < _LEAST_COMMON:
        return ()
    return (found.left, found.right)[side]


def _answer_text(page: _Page, turn: Turn, apart: Sequence[tuple[int, int]], parts: Sequence[str], side: int) -> Text:
    """Return the printed answer of one side. `apart` has the spans of its text that differ from the other side.
    `parts` has the attached parts that the other side's answer lacks."""
    if turn.reply is None:
        return Text("no whole reply was recorded", style="red")
    found = Text()
    found.append(f"S{turn.number} {turn.label or '?'}", "bold green" if turn.label == USEFUL else "bold yellow")
    if turn.reply.seconds is not None:
        found.append(f" {turn.reply.seconds:.1f} s", "dim")
    if turn.reply.finish:
        found.append(printable(f" finish={turn.reply.finish}", line=True), "dim")
    found.append("\n").append_text(page.mark_spans(turn.reply.answer.text, apart, side))
    for part in parts:
        shown = printable(part, line=True)
        cut = shown if len(shown) <= _LONGEST_PART else f"{shown[:_LONGEST_PART]}…"
        found.append("\n").append_text(page.mark_spans(cut, [(0, len(cut))], side))
    if turn.route is not None:
        found.append(printable(f"\n{route_lines(turn.route)[0]}"), "dim")
    return found


def _outcome_text(conversation: Conversation | None) -> Text:
    if conversation is None:
        return Text("no valid attempt", style="red")
    detail = conversation.outcome.detail if conversation.outcome else ""
    return Text(printable(f"outcome: {outcome_words(conversation)}" + (f": {detail}" if detail else "")))
