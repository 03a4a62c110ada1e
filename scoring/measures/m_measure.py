"""M-measure(SET): U-measure expected over the intents of users who open the texts behind the links of an answer.

The first layer is the conversation. The second layer consists of the texts of sources, as far as a recording has them.
A user with intent i reads up to the end of the first link for i, then the text behind it, and then on, as in
`u_measure.trailtext`. A link is for the intent that its title names, or else for those that its entity serves by the
gold table. Without a link for an intent, a user with this intent reads the first layer alone, as in U-IA.

Sources: Kato et al., NTCIR-11 MobileClick, 2014; [GFRC] §2.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.answer import Answer, Source
from scoring.figure import Figure
from scoring.measure import Declaration, Measure
from scoring.measures.relevance import LIMITS, character_note
from scoring.measures.u_measure import U_IA, m_measure, read_intents, u_measure
from scoring.nuggets import occurrences
from scoring.words import Passage, length
from topics.attributes import AttributeSet
from topics.counting import pluralize
from topics.gold import GoldEntry
from topics.links import find_urls

if TYPE_CHECKING:
    from scoring.material import Material


@dataclass(frozen=True, slots=True)
class _LinkedText:
    """A text of the second layer. `opened_at` is the position of the end of its link in the first layer. `found` has
    the position of each entity in the text. `intents` are indices of groups."""

    opened_at: int
    length: int
    found: Mapping[str, int]
    intents: frozenset[int]


def _second_layer(material: Material, attribute: AttributeSet, known: Mapping[str, GoldEntry]) -> Iterator[_LinkedText]:
    """Yield the texts behind the links of a conversation, in the order of the links."""
    kind = material.topic.type.url
    assert kind is not None, "a conversation without a kind of URL is not scored"
    answers = {turn.number: turn.reply.answer for turn in material.conversation.turns if turn.reply is not None}
    for passage in material.passages:
        here = answers[passage.turn].sources if passage.speaker == "system" else ()
        opened = [(_link_end(source, passage), source) for source in here if source.text.strip()]
        for opened_at, source in sorted(opened, key=lambda one: one[0]):
            size = length(source.text, material.unit)
            text = Passage(passage.turn, "system", source.text, 0, size, material.unit)
            found: dict[str, int] = {}
            for entity, _, _, _, position in occurrences(Answer.of(source.text), text, kind):
                found.setdefault(entity, position)
            entry = known.get(kind.key(source.href) or "")
            shares = entry.groups.get(attribute.name, ()) if entry is not None else ()
            named = [i for i, group in enumerate(attribute.groups) if group.casefold() == source.title.casefold()]
            intents = named or [i for i, share in enumerate(shares) if share > 0]
            yield _LinkedText(opened_at, size, found, frozenset(intents))


def _link_end(source: Source, passage: Passage) -> int:
    """Return the position of the last word of a link, or of the passage that the source supports, or of the turn."""
    links = (one for one in find_urls(passage.text) if source.href and one.href == source.href)
    end = next((one.end for one in links), source.end if source.start >= 0 else len(passage.text))
    return passage.positions([end])[0]


def _score(material: Material, measure: Measure) -> Figure:
    assert material.gold is not None, "the declaration needs gold"
    attribute, known = material.attributes[str(measure.base.arguments[0])], material.gold.of(material.topic.id)
    texts = tuple(_second_layer(material, attribute, known))
    if not texts:
        note = "no answer has a text behind a link"
        return Figure(measure.name, math.nan, 0, unjudged=material.unjudged, note=note)
    first = {nugget.entity: nugget.position for nugget in material.nuggets if not nugget.duplicate}
    named = dict.fromkeys([*first, *(entity for text in texts for entity in text.found)])
    gains = {one: material.settings.gain(known[one].grade) for one in named if one in known}
    earning = {entity: gain for entity, gain in gains.items() if gain > 0}
    shares = {entity: known[entity].groups.get(attribute.name, ()) for entity in earning}

    def value(*, otherwise: bool) -> float:
        """Return M if entities of unknown intent serve all intents (`otherwise`) or none."""
        utilities = []
        for intent in range(len(attribute.groups)):
            opened = next((text for text in texts if intent in text.intents), None)
            places = _trailtext_places(first, opened)
            own = [one for one in places if one in earning and (shares[one][intent] > 0 if shares[one] else otherwise)]
            positions = [places[one] - 1 for one in own]
            utilities.append(u_measure([earning[one] for one in own], positions, material.patience))
        return m_measure(attribute.gold, utilities)

    least, unknown = value(otherwise=False), sum(not one for one in shares.values())
    closed = sum(not text.intents for text in texts)
    notes = (
        f"{pluralize(unknown, 'entity')} of unknown intent, which count for none" if unknown else "",
        f"{pluralize(closed, 'text')} behind a link of unknown intent, which nobody opens" if closed else "",
        character_note(material),
    )
    best = value(otherwise=True) if unknown else least
    unjudged = len(named) - len(gains)
    note = "; ".join(filter(None, notes))
    return Figure(measure.name, least, len(earning), None, None, unjudged, unknown, note, least, best)


def _trailtext_places(first: Mapping[str, int], opened: _LinkedText | None) -> dict[str, int]:
    """Return the position of each entity in the text that a user reads who opens this text, or none."""
    if opened is None:
        return dict(first)
    places = {one: at if at <= opened.opened_at else at + opened.length for one, at in first.items()}
    for entity, position in opened.found.items():
        places[entity] = min(opened.opened_at + position, places.get(entity, opened.opened_at + position))
    return places


M_MEASURE = Declaration(
    name="M-measure",
    sentence="U-measure expected over users who each open the text behind the link for their intent.",
    of="conversation",
    formula="Σ P(i)·U_i over the groups i of an attribute set; U_i: U-measure of what a user with intent i reads",
    source="Kato et al., NTCIR-11 MobileClick, 2014; [GFRC] §2.2",
    undefined="nothing is known of the topic's entities, or no source has a text; 0 without a relevant nugget",
    example="M-measure(ORIGIN, L=600)",
    n="relevant entities of both layers",
    needs=("gold",),
    parameters=LIMITS,
    written=("M-measure(SET)",),
    arguments=(1, 1),
    range=(0.0, math.inf),
    has_top=False,
    applies=U_IA.applies,
    score=_score,
    read=read_intents,
)
