"""U-measure of a trailtext, and two expectations of it: U-IA over intents, and the M-measure of a two-layered
summary.

    U = (1/N) · sum over the pieces of g · max(0, 1 - pos/L)

A *trailtext* is everything a user read, in reading order: a list's snippets and the pages that were clicked, a
conversation, or a summary and the pages behind its links. U uses neither ranks nor turns, so all of these are
comparable. R of a conversation is U with pos = WC - 1 words, L = 1250 and N = (L + 1)/2; for scripts without blanks
between words, pos and L count characters, with L = 1000 ([GFRC] §2.2).

U-IA is for a query with several possible intents. The intent is latent: all possible paths branch once, at the root,
and the same trailtext can then earn different gains.

In a recording, an attribute set can hold the intents: its groups are the intents, its shares P(i), and an entity has a
share above 0 of each intent that it serves.

The M-measure is for a summary in two layers. Each link of the first layer is for one intent and opens a text of the
second layer. A user with intent i reads the first layer up to the end of the link to i, then the text behind the
link, then the rest of the first layer. This is the trailtext of i, and its probability is the probability of the
intent.

Sources: Sakai and Dou, SIGIR 2013 (U with N = 1, U-IA); [GFRC] Eq. 2 for the discount; Kato et al., NTCIR-11
MobileClick, 2014 (M). [SWAN] §3 names U-IA and M as the ancestors of stochastic SWAN.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scoring.figure import Figure
from scoring.measure import Declaration, Measure, TermContext, read_plain_term
from scoring.measures.relevance import LIMITS, character_note
from scoring.notation import Term
from topics.arrays import Floats
from topics.counting import pluralize
from topics.errors import InputError

if TYPE_CHECKING:
    from scoring.material import Material


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text with its length. `nugget` is in the text, and `link` is the intent of a link in it, if any."""

    length: float
    nugget: str | None = None
    link: str | None = None


def linear_discount(positions: npt.ArrayLike, patience: float) -> Floats:
    """Return D(pos) = max(0, 1 - pos/L) for (...) positions: 1 at position 0, before anything is read, and 0 from L
    on. `patience` is L, above 0."""
    places = np.asarray(positions, dtype=np.float64)
    if not math.isfinite(patience) or patience <= 0:
        raise ValueError(f"patience must be a length above 0, not {patience}")
    if not np.all(places >= 0):
        raise ValueError("positions must not be negative")
    worth: Floats = np.maximum(0.0, 1.0 - places / patience)
    return worth


def reading_positions(trailtext: Iterable[Piece]) -> dict[str, float]:
    """Return the length read up to the end of each nugget's first piece. Repetitions cost length and earn nothing."""
    found: dict[str, float] = {}
    position = 0.0
    for piece in trailtext:
        if not math.isfinite(piece.length) or piece.length < 0:
            raise ValueError(f"the length of a piece must be at least 0, not {piece.length}")
        position += piece.length
        if piece.nugget is not None:
            found.setdefault(piece.nugget, position)
    return found


def u_measure(gains: npt.ArrayLike, positions: npt.ArrayLike, patience: float, *, normaliser: float = 1.0) -> float:
    """Return U of one trailtext.

    `gains` (n,) are at least 0, and `positions` (n,) are the lengths read before each gain. `patience` is L, in the
    unit of the positions. `normaliser` is N, above 0. With N = 1, U is as in the paper and grows with the number of
    gains; with N as the largest possible sum, U lies in [0, 1]. A trailtext without gains has 0, because it was read
    and contained nothing.
    """
    worth, discount = np.asarray(gains, dtype=np.float64), linear_discount(positions, patience)
    if worth.shape != discount.shape:
        raise ValueError(f"gains must have one value per position: {worth.size} gains, {discount.size} positions")
    if not np.all(np.isfinite(worth) & (worth >= 0)):
        raise ValueError("gains must be finite and not negative")
    if not math.isfinite(normaliser) or normaliser <= 0:
        raise ValueError(f"the normaliser must be a number above 0, not {normaliser}")
    return float((worth * discount).sum() / normaliser)


def expected_utility(probabilities: npt.ArrayLike, utilities: npt.ArrayLike) -> float:
    """Return the sum of P·U over (n,) cases, or NaN for n = 0 and if a possible case has no utility. Raises
    ValueError if the probabilities are negative or their sum differs from 1 by more than 1e-6."""
    shares, values = np.asarray(probabilities, dtype=np.float64), np.asarray(utilities, dtype=np.float64)
    if shares.shape != values.shape:
        raise ValueError(f"each utility must have a probability: {shares.size} probabilities, {values.size} utilities")
    if not shares.size:
        return math.nan
    if not np.all(shares >= 0) or abs(shares.sum() - 1) > 1e-6 * (1 + 1e-6):
        raise ValueError(f"probabilities must not be negative and must sum to 1, not to {shares.sum():.9g}")
    possible = shares > 0
    return float((shares[possible] * values[possible]).sum())


def u_ia(intents: npt.ArrayLike, utilities: npt.ArrayLike) -> float:
    """Return U-IA = Σ P(i)·U_i over (I,) intents, or NaN for I = 0 and if a possible intent has no U."""
    return expected_utility(intents, utilities)


def trailtext(first: Sequence[Piece], second: Mapping[str, Sequence[Piece]], intent: str | None) -> tuple[Piece, ...]:
    """Return the pieces that a user with this intent reads, in order. The first piece of the first layer with a
    `link` equal to the intent opens `second[link]`. If there is no intent or no link for the intent, only the first
    layer is read. Raises ValueError for a link to a missing text."""
    return tuple(_read_pieces(first, second, intent))


def _read_pieces(first: Sequence[Piece], second: Mapping[str, Sequence[Piece]], intent: str | None) -> Iterator[Piece]:
    followed = False
    for piece in first:
        yield piece
        if piece.link is None:
            continue
        if piece.link not in second:
            raise ValueError(f"the second layer has no text for the link to {piece.link!r}")
        if piece.link == intent and not followed:
            followed = True
            yield from second[piece.link]


def m_measure(probabilities: npt.ArrayLike, utilities: npt.ArrayLike) -> float:
    """Return M, the sum over the trailtexts t of P(t)·U(t). `probabilities` (T,) sum to 1, and `utilities` (T,) have
    a common normaliser. M lies between the smallest and the largest U, and is NaN for T = 0 or if a possible
    trailtext has no U. Because of the common normaliser, M is both the mean of the scores and the score of the mean."""
    return expected_utility(probabilities, utilities)


def _score(material: "Material", measure: Measure) -> Figure:
    earning = [nugget for nugget in material.nuggets if nugget.relevant]
    read_before = [nugget.position - 1 for nugget in earning]
    value = u_measure([nugget.gain for nugget in earning], read_before, material.patience)
    return Figure(measure.name, value, len(earning), unjudged=material.unjudged, note=character_note(material))


U_MEASURE = Declaration(
    name="U-measure",
    sentence="R without its divisor: the sum of gains, each discounted by the words read before it.",
    of="conversation",
    formula="Σ g·max(0, 1 - (WC - 1)/L); its mean over the trials of a topic is an M-measure",
    source="Sakai and Dou, SIGIR 2013; [GFRC] Eq. 2",
    undefined="nothing is known of the topic's entities; 0 without a relevant nugget",
    example="U-measure(L=600)",
    n="relevant nuggets",
    needs=("gold",),
    parameters=LIMITS,
    range=(0.0, math.inf),
    has_top=False,
    score=_score,
)


def read_intents(declaration: Declaration, term: Term, context: TermContext) -> tuple[Measure, ...]:
    """Return the measure over the intents of an attribute set. Raises InputError for an unknown set."""
    found = read_plain_term(declaration, term, context)
    known = context.topics.attributes
    if str(term.arguments[0]) not in known:
        raise InputError(
            f"{term}: there is no attribute set {str(term.arguments[0])!r}",
            allowed=", ".join(known) or "none",
            advice="declare the intents as an attribute set of the topics, with their probabilities as gold",
        )
    return found


def _score_intents(material: "Material", measure: Measure) -> Figure:
    attribute = material.attributes[str(measure.base.arguments[0])]
    earning = [nugget for nugget in material.nuggets if nugget.relevant]
    shares = [() if attribute.name in one.unknown else one.memberships[attribute.name] for one in earning]

    def value(*, otherwise: bool) -> float:
        """Return U-IA if entities of unknown intent serve all intents (`otherwise`) or none."""
        utilities = []
        for intent in range(len(attribute.groups)):
            own = [
                nugget
                for nugget, share in zip(earning, shares, strict=True)
                if (share[intent] > 0 if share else otherwise)
            ]
            places = [nugget.position - 1 for nugget in own]
            utilities.append(u_measure([nugget.gain for nugget in own], places, material.patience))
        return u_ia(attribute.gold, utilities)

    least, unknown = value(otherwise=False), sum(not share for share in shares)
    best = value(otherwise=True) if unknown else least
    missing = f"{pluralize(unknown, 'entity')} of unknown intent, which count for none" if unknown else ""
    note = "; ".join(filter(None, (missing, character_note(material))))
    return Figure(measure.name, least, len(earning), None, None, material.unjudged, unknown, note, least, best)


U_IA = Declaration(
    name="U-IA",
    sentence="U-measure expected over the possible intents behind a topic, each with its probability.",
    of="conversation",
    formula="Σ P(i)·U_i over the groups i of an attribute set; U_i: U-measure of the entities with a share of i",
    source="Sakai and Dou, SIGIR 2013; [SWAN] §3",
    undefined="nothing is known of the topic's entities; 0 without a relevant nugget",
    example="U-IA(ORIGIN, L=600)",
    n="relevant nuggets",
    needs=("gold",),
    parameters=LIMITS,
    written=("U-IA(SET)",),
    arguments=(1, 1),
    range=(0.0, math.inf),
    has_top=False,
    applies=lambda measure, topic: str(measure.base.arguments[0]) in topic.type.attributes,
    score=_score_intents,
    read=read_intents,
)
