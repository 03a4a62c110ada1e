"""The text of a stream, joined from its pieces. Servers and gateways repeat text, and so do models:

    pieces                                            count as the server's repetition if
    each piece contains all pieces before it          the text grew at least three times
    each piece contains the piece before it but for   the text grew at least six times
    its last characters (a cursor, a closing tag)
    one piece contains all pieces before it           there were at least four earlier pieces
    each piece arrives twice                          most pieces are not lines or sentences
    the stream begins again with the same text        it has another id or a second role, or it follows without a
                                                      blank on pieces most of which are not lines or sentences

Repetitions by the server are removed. If the system answers in lines, a repetition may be its own (a refrain, or a
line said twice). Such a repetition is kept and noted, unless a last message with the complete text decides. Fewer than
twenty characters never count as a repetition.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

# The note on such an answer.
REPEATED = "the stream said again what it had said; it was taken once"
# The note on an answer with an uncertain repetition.
DOUBTED = "the stream may have said again what it had said, or the answer repeats itself; all of it was kept"

# The number of characters from which a repetition is not due to chance.
_LEAST_LENGTH = 20
_LEAST_GROWTHS = 3
# Growth with revised ends: the growths that are certain, and the most characters of a piece that the next one replaces.
_LEAST_REVISED_GROWTHS = 6
_LONGEST_REVISION = 12
# The number of pieces that a system would not send again as a single piece.
_LEAST_PIECES = 4
# The largest number of words in a piece that is not a line.
_MOST_WORDS = 3
# The largest number of restarts of a stream.
_MOST_BEGINNINGS = 3
# The number of places to check for a second beginning: each check reads the text, up to this many characters.
_MOST_CHECKS = 10
_LONGEST_TEXT = 1_000_000  # characters; longer texts are not searched for repetitions
_SENTENCE_ENDS = (".", "!", "?", ":", ";", "…", "。", "！", "？", "\n")


@dataclass(frozen=True, slots=True)
class StreamText:
    """The text of a stream. `repeated` is True if repetitions by the server were removed. `once` is the text with
    uncertain repetitions removed as well, or "" if no repetition is uncertain."""

    text: str
    repeated: bool = False
    once: str = ""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The pieces of text from `begin` up to, but not including, `end`, all from one event with these names."""

    names: tuple[str, ...]
    begin: int
    end: int


def stream_text(pieces: Sequence[str], restarts: Collection[int] = (), whole: str = "") -> StreamText:
    """Join the pieces of a stream into its text. `restarts` has the indices of the pieces at which the server began
    again (with another id, or with the role a second time). `whole` is the complete text, if the stream sends it at
    its end."""
    said = [(number, piece) for number, piece in enumerate(pieces) if piece]
    known = _Reading(restarts, trusting=False)
    text = known.read(said)
    guessed = _Reading(restarts, trusting=True).read(said) if known.doubtful else text
    as_sent = "".join(pieces)
    if whole.strip() and whole.strip() in (as_sent.strip(), guessed.strip()):
        repeated = whole.strip() != as_sent.strip()
        return StreamText(guessed if repeated else as_sent, repeated)
    return StreamText(text, known.repeated, guessed if guessed != text else "")


def compare_kinds(pieces: Sequence[str], stretches: Sequence[Stretch]) -> tuple[bool, Stretch | None]:
    """Return whether events of several kinds contain text, and the stretch that repeats the complete text before it:
    the last one, if its event is the only one of its kind. Otherwise the stretch is None."""
    said = [one for one in stretches if "".join(pieces[one.begin : one.end]).strip()]
    kinds = Counter(one.names for one in said)
    if len(kinds) < 2:
        return False, None
    last = said[-1]
    whole, before = "".join(pieces[last.begin : last.end]).strip(), pieces[: last.begin]
    found = stream_text(before)
    possible = {one.strip() for one in ("".join(before), found.text, found.once)}
    return True, last if len(kinds) == 2 and kinds[last.names] == 1 and whole in possible else None


class _Reading:
    """One reading of the pieces. With `trusting`, every repetition counts as the server's. `repeated` is True if a
    repetition was removed, and `doubtful` if there may be a repetition."""

    def __init__(self, restarts: Collection[int], *, trusting: bool) -> None:
        self._restarts, self._trusting = restarts, trusting
        self.repeated = self.doubtful = False

    def read(self, said: Sequence[tuple[int, str]]) -> str:
        alone = [piece for _, piece in said]
        growths = _count_growths(alone)
        last = alone[-1].strip() if alone else ""
        grows = growths >= _LEAST_GROWTHS and len(last) >= _LEAST_LENGTH
        if (
            growths >= 0
            and (len(last) >= _LEAST_LENGTH or (growths and alone[0].strip()))
            and self._accept_repetition(grows)
        ):
            return alone[-1]
        if growths < 0 and len(last) >= _LEAST_LENGTH:
            revised = _count_revised_growths(alone)
            certain = revised >= _LEAST_GROWTHS and len(alone) > _LEAST_REVISED_GROWTHS
            if revised > 0 and len(alone) > _LEAST_GROWTHS and self._accept_repetition(certain):
                return alone[-1]
        if _is_in_pairs(alone):
            said_alone = [piece for piece in alone if piece.strip()]
            if self._accept_repetition(_streams_words(len(said_alone), sum(map(_is_line, said_alone)))):
                return "".join(alone[::2])
        text, beginnings = self._join_pieces(said)
        as_sent = text, self.repeated
        for _ in range(_MOST_BEGINNINGS):
            place = self._second_beginning(text, beginnings)
            if place is None:
                return text.lstrip() if self.repeated else text
            said, self.repeated = said[place:], True
            text, beginnings = self._join_pieces(said)
        text, self.repeated = as_sent
        return text  # more often means a model in a loop, whose words are an answer

    def _accept_repetition(self, known: bool) -> bool:
        """Return whether to remove a repetition. `known` is True if the server certainly made the repetition."""
        if known or self._trusting:
            self.repeated = True
            return True
        self.doubtful = True
        return False

    def _join_pieces(self, said: Sequence[tuple[int, str]]) -> tuple[str, list[tuple[int, int, bool]]]:
        """Return the text and the points at which the stream may have begun again. Each point is an index in `said`, a
        position in the text, and True if the stream certainly began again there."""
        taken: list[str] = []
        beginnings: list[tuple[int, int, bool]] = []
        length = solid = 0  # characters, and those up to the last visible one
        count = lines = 0  # pieces with words, and those that are lines
        last, spaced, summed = "", False, False
        for place, (number, piece) in enumerate(said):
            words = piece.strip()
            holds_all = 0 < solid <= len(piece) and (solid >= _LEAST_LENGTH or count > 1)
            if holds_all and words.startswith("".join(taken).strip()):
                known = solid >= _LEAST_LENGTH and (summed or count >= _LEAST_PIECES or number in self._restarts)
                if self._accept_repetition(known):
                    taken, beginnings, summed = [words], [], True
                    length = solid = len(words)
                    last = piece[-1:]
                    continue
            apart = last.isspace() or piece[:1].isspace()
            if length >= _LEAST_LENGTH and (number in self._restarts or (spaced and not apart)):
                # A model's own repetition is separated by a blank; pieces without one were joined by the server.
                beginnings.append((place, length, number in self._restarts or _streams_words(count, lines)))
            taken.append(piece)
            if words:
                solid = length + len(piece.rstrip())
                count, lines = count + 1, lines + _is_line(piece)
            length += len(piece)
            last, spaced = piece[-1:], spaced or " " in piece
        return "".join(taken), beginnings

    def _second_beginning(self, text: str, beginnings: Sequence[tuple[int, int, bool]]) -> int | None:
        if len(text) > _LONGEST_TEXT:
            return None
        opening = text[:_LEAST_LENGTH].strip()
        likely = [one for one in beginnings if text[one[1] : one[1] + 2 * _LEAST_LENGTH].lstrip().startswith(opening)]
        for place, at, known in likely[:_MOST_CHECKS]:
            if text[at:].strip().startswith(text[:at].strip()) and self._accept_repetition(known):
                return place
        return None


def _count_growths(pieces: Sequence[str]) -> int:
    """Count the pieces that are longer than the preceding piece. Returns -1 if a piece does not begin with the
    preceding piece."""
    if len(pieces) < 2 or not all(later.startswith(earlier) for earlier, later in pairwise(pieces)):
        return -1
    return sum(len(later) > len(earlier) for earlier, later in pairwise(pieces))


def _count_revised_growths(pieces: Sequence[str]) -> int:
    """Count the pieces that replace only the end of a preceding piece of some length and are longer than it. Returns
    -1 if a piece does anything else: lines of a list also begin alike, but do not grow from each to the next."""
    for earlier, later in pairwise(pieces):
        if len(later) <= len(earlier) or not later.startswith(earlier[: max(0, len(earlier) - _LONGEST_REVISION)]):
            return -1
    return sum(len(earlier) >= 2 * _LONGEST_REVISION for earlier in pieces[:-1])


def _is_in_pairs(pieces: Sequence[str]) -> bool:
    """Return whether each piece arrives twice in a row, with at least four different pieces."""
    halves = pieces[::2]
    return (
        len(pieces) >= 8
        and len(set(halves)) >= 4
        and sum(map(len, halves)) >= _LEAST_LENGTH
        and all(first == second for first, second in zip(halves, pieces[1::2], strict=False))
        and len(pieces) % 2 == 0
    )


def _streams_words(count: int, lines: int) -> bool:
    """Return whether a system streams words or parts of words, given the numbers of pieces and of lines."""
    return count >= _LEAST_PIECES and 2 * lines < count


def _is_line(piece: str) -> bool:
    return piece.rstrip(" ").endswith(_SENTENCE_ENDS) or len(piece.split()) > _MOST_WORDS
