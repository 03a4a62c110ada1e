"""What people and models judged of recorded conversations, down to the single nugget: what SWAN is made of."""

from collections.abc import Mapping
from dataclasses import dataclass

from harvest.studies.scores.scorecard import Material, score_material
from scoring.measures.swan import SWAN
from scoring.measures.wan import WAN
from scoring.notation import Term
from scoring.scores import SHIPPED
from scoring.settings import scoring_settings
from scoring.swan.assessment import Assessment, PageText, assess
from scoring.swan.item import Scored
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import Schema, load_schema
from scoring.swan.weighting import Places
from scoring.table import ScoreTable
from topics.errors import HarvestError

_JUDGES = ("human", "model")


@dataclass(frozen=True, slots=True)
class Weighed:
    """A score that counts, of which criterion it is, and how much it weighs there."""

    criterion: str
    scored: Scored
    weight: float


@dataclass(frozen=True, slots=True)
class Assessed:
    """criteria: those of single conversations that score anything, as the schema orders them. each: by system, topic
    and trial."""

    schema: Schema
    judges: Precedence | None
    criteria: tuple[str, ...]
    each: Mapping[tuple[str, str, int], Assessment]

    @property
    def terms(self) -> dict[str, Term]:
        """The measures that say it: SWAN (by ""), and the WAN of each criterion."""
        named = {name: Term(WAN.name, (Term(name.replace(" ", "_")),)) for name in self.criteria}
        return {"": Term(SWAN.name), **named}

    def weighed(self, key: tuple[str, str, int]) -> list[Weighed]:
        """The scores of one conversation, by turn and then in the order of the criteria."""
        found: list[Weighed] = []
        assessment = self.each[key]
        for name in self.criteria:
            scored = assessment.scored[name]
            weights = self.schema[name].weighting.weights(Places.of([one.item for one in scored])).tolist()
            found += [Weighed(name, one, weight * one.share) for one, weight in zip(scored, weights, strict=True)]
        return sorted(found, key=lambda one: (one.scored.item.turn, one.scored.item.start))


def assess_material(
    material: Material, schema: Schema | None = None, judges: Precedence | None = None
) -> Assessed | None:
    """Every valid conversation by the schema, the shipped one by default; None where no person and no model judged
    anything that it asks about. judges: whose judgments count.

    Raises RunError for a layer that does not fit its conversation, and InputError for one that is no layer of scores.
    """
    chosen = schema or load_schema(SHIPPED)
    names = {one.name for one in chosen}
    if not any(
        layer.kind in _JUDGES and any(judgment.criterion in names for judgment in layer.judgments)
        for layer in material.layers
    ):
        return None
    judgments = Judgments.of(material.layers, chosen, judges)
    settings = scoring_settings(material.scoring, material.topics, material.gold)
    topics = {topic.id: topic for topic in material.topics.topics}
    each = {
        (one.key.system, one.key.topic, one.key.trial): assess(
            one,
            chosen,
            judgments,
            PageText(topics[one.key.topic], material.gold, material.topics.attributes, settings),
        )
        for one in material.finished
    }
    used = {name for one in each.values() for name, scored in one.scored.items() if scored}
    return Assessed(chosen, judges, tuple(one.name for one in chosen if one.name in used), each)


def score_assessed(
    material: Material, *, seed: int = 0, schema: Schema | None = None, judges: Precedence | None = None
) -> tuple[ScoreTable, Assessed | str | None]:
    """Score all that is always shown, and SWAN where anybody judged; and what they judged, why that cannot be scored,
    or None where nobody did.

    seed: of the bootstrap. schema, judges: of SWAN, as `score_material` takes them. The figures over single trials have
    no intervals.
    """
    try:
        assessed = assess_material(material, schema, judges)
        if assessed is not None:
            terms = tuple(assessed.terms.values())
            scores = score_material(
                material, seed=seed, measures=terms, schema=assessed.schema, judges=judges, trial_intervals=False
            )
            return scores, assessed
    except HarvestError as refused:
        return score_material(material, seed=seed, trial_intervals=False), str(refused)
    return score_material(material, seed=seed, trial_intervals=False), None
