"""The text of a stream, from its pieces: what servers and gateways say again is taken once.

    what comes                                        what is taken
    each piece holds all that came before             the last piece
    a piece equals all that came before, or begins    that piece, in place of what it repeats
    with it
    each piece comes twice                            one of each two
    the stream begins again, and says the same        what it says from there on

Whole repetitions alone are recognised. A model can say the same thing twice in its own words, so what could be the
model's is left as it is: fewer than twenty characters, and a second beginning that nothing but its words gives away.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise

# The note on such an answer.
REPEATED = "the stream said again what it had said; it was taken once"

# Characters from which a repetition is no chance.
_LEAST = 20
# How often a stream may begin again.
_MOST_BEGINNINGS = 3
# Places that are looked at for a second beginning: each look reads the whole text, of at most this many characters.
_MOST_LOOKS = 10
_LONGEST = 1_000_000


def told_once(pieces: Sequence[str], restarts: Collection[int] = ()) -> tuple[str, bool]:
    """The text that the pieces make, and whether any of it came again. restarts: the numbers of pieces, from 0, at
    which the server itself began again (another id, the role a second time)."""
    said = [(number, piece) for number, piece in enumerate(pieces) if piece]
    alone = [piece for _, piece in said]
    if _grows(alone):
        return alone[-1], True
    if _in_pairs(alone):
        return "".join(alone[::2]), True
    text, again, beginnings = _joined(said, restarts)
    as_sent = text, again
    for _ in range(_MOST_BEGINNINGS):
        place = _second_beginning(text, beginnings)
        if place is None:
            return (text.lstrip() if again else text), again
        said, again = said[place:], True
        text, _, beginnings = _joined(said, restarts)
    return as_sent  # so often: that is a model in a loop, and its words are an answer


def _joined(said: Sequence[tuple[int, str]], restarts: Collection[int]) -> tuple[str, bool, list[tuple[int, int]]]:
    """The text, whether a piece repeated all before it, and where the stream may have begun again: the place in `said`,
    and in the text."""
    taken: list[str] = []
    beginnings: list[tuple[int, int]] = []
    length = solid = 0  # characters, and those up to the last visible one
    last, spaced, again = "", False, False
    for place, (number, piece) in enumerate(said):
        words = piece.strip()
        if _LEAST <= solid <= len(piece) and words.startswith("".join(taken).strip()):
            taken, beginnings, again = [words], [], True
            length = solid = len(words)
        else:
            apart = last.isspace() or piece[:1].isspace()
            if length >= _LEAST and (number in restarts or (spaced and not apart)):
                # What a model says again stands apart; what is joined without a blank was put together.
                beginnings.append((place, length))
            taken.append(piece)
            if words:
                solid = length + len(piece.rstrip())
            length += len(piece)
        last, spaced = piece[-1:], spaced or " " in piece
    return "".join(taken), again, beginnings


def _second_beginning(text: str, beginnings: Sequence[tuple[int, int]]) -> int | None:
    """The place of the first beginning behind which the text says all that it said before; None for none."""
    if len(text) > _LONGEST:
        return None
    opening = text[:_LEAST].strip()
    likely = [one for one in beginnings if text[one[1] : one[1] + 2 * _LEAST].lstrip().startswith(opening)]
    for place, at in likely[:_MOST_LOOKS]:
        if text[at:].strip().startswith(text[:at].strip()):
            return place
    return None


def _grows(pieces: Sequence[str]) -> bool:
    """Whether each piece holds all that came before."""
    if len(pieces) < 2 or len(pieces[-1]) < _LEAST or (len(pieces) == 2 and len(pieces[0]) < _LEAST):
        return False
    return all(later.startswith(earlier) for earlier, later in pairwise(pieces))


def _in_pairs(pieces: Sequence[str]) -> bool:
    """Whether each piece comes twice: at least four different ones, which no speech does."""
    halves = pieces[::2]
    return (
        len(pieces) >= 8
        and len(set(halves)) >= 4
        and sum(map(len, halves)) >= _LEAST
        and all(first == second for first, second in zip(halves, pieces[1::2], strict=False))
        and len(pieces) % 2 == 0
    )
