"""M-measure of a two-layered summary: the expected U over the ways in which users may read it.

The first layer contains text and links; each link is for one intent and opens a text of the second layer. A user with
intent i reads the first layer up to the end of the link to i, then the text behind it, then the rest of the first
layer. That is the trailtext of i, and its probability is that of the intent.

Source: Kato et al., NTCIR-11 MobileClick, 2014; [GFRC] §2.2; [SWAN] §3 names it together with U-IA.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy.typing as npt

from scoring.measures.u_measure import Piece, expected_utility


def trailtext(first: Sequence[Piece], second: Mapping[str, Sequence[Piece]], intent: str | None) -> tuple[Piece, ...]:
    """Return the pieces that a user with this intent reads, in order.

    A piece of the first layer with a `link` equal to the intent opens `second[link]`, once. Without an intent, or
    without a link for it, only the first layer is read. Raises ValueError for a link to a missing text.
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
    """Return M, the sum over the trailtexts t of P(t)·U(t).

    `probabilities` are (T,) and sum to 1; `utilities` are (T,) with one common normaliser. M lies between the smallest
    and the largest U; NaN for T = 0, and if a possible trailtext has no U. As the normaliser is common, M is both the
    mean of the scores and the score of the mean.
    """
    return expected_utility(probabilities, utilities)
