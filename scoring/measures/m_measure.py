"""M-measure of a two-layered summary: the expected U over the ways users may read it.

The first layer contains text and links; each link stands for an intent and opens a text of the second layer. A user
with intent i reads the first layer up to the end of the link to i, then the text behind it, then the rest of the first
layer: that is the trailtext of i, and the intent's probability is the trailtext's.

Source: Kato et al., NTCIR-11 MobileClick, 2014; [GFRC] §2.2; [SWAN] §3 names it together with U-IA.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy.typing as npt

from scoring.measures.u_measure import Piece, expected_utility


def trailtext(first: Sequence[Piece], second: Mapping[str, Sequence[Piece]], intent: str | None) -> tuple[Piece, ...]:
    """The pieces that a user with this intent reads, in order; with no intent, or no link for it, the first layer
    only.

    Pieces of the first layer with a `link` open `second[link]`, once. Raises ValueError for one that opens nothing.
    """
    return tuple(_reading(first, second, intent))


def _reading(first: Sequence[Piece], second: Mapping[str, Sequence[Piece]], intent: str | None) -> Iterator[Piece]:
    followed = False
    for piece in first:
        yield piece
        if piece.link is None:
            continue
        if piece.link not in second:
            raise ValueError(f"the link to {piece.link!r} opens nothing")
        if piece.link == intent and not followed:
            followed = True
            yield from second[piece.link]


def m_measure(probabilities: npt.ArrayLike, utilities: npt.ArrayLike) -> float:
    """M = sum over the trailtexts t of P(t)·U(t).

    probabilities: (T,) of the trailtexts, sum 1. utilities: (T,) U of each, all with the same normaliser. Between the
    smallest and the largest U. NaN for T = 0, and if a possible trailtext has no U. With one normaliser the mean of the
    scores is the score of the mean: M is both the expected and the pooled reading.
    """
    return expected_utility(probabilities, utilities)
