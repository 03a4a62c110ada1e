"""Assess recorded conversations from judgments by people and models, down to single nuggets, for SWAN."""

from collections.abc import Mapping
from dataclasses import dataclass

from harvest.studies.scores.scorecard import Material, score_material
from scoring.measures.swan import SWAN
from scoring.measures.usefulness import MEAN_USEFUL
from scoring.measures.wan import WAN
from scoring.notation import Term
from scoring.scores import SHIPPED
from scoring.settings import scoring_settings
from scoring.swan.assessment import Assessment, TopicData, assess
from scoring.swan.item import ScoredItem
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import Schema, load_schema
from scoring.swan.weighting import Places
from scoring.table import ScoreTable
from topics.errors import HarvestError

_JUDGES = ("human", "model")


@dataclass(frozen=True, slots=True)
class WeighedScore:
    """A score with its criterion and the weight of the score in this criterion."""

    criterion: str
    scored: ScoredItem
    weight: float


@dataclass(frozen=True, slots=True)
class Leading:
    """The measure that a report begins with. `scorers` are the kinds of sources behind its scores, such as `people`,
    or "" if labels of the protocol's rules are behind it."""

    measure: str = MEAN_USEFUL.name
    scorers: str = ""


@dataclass(frozen=True, slots=True)
class Assessed:
    """Assessed conversations. `criteria` are the criteria of the schema that have a score in some conversation, in
    the schema's order. `each` has the assessments by system, topic and trial."""

    schema: Schema
    judges: Precedence | None
    criteria: tuple[str, ...]
    each: Mapping[tuple[str, str, int], Assessment]

    @property
    def terms(self) -> dict[str, Term]:
        """The measures based on these scores: SWAN, under the key "", and the WAN of each criterion. With a single
        criterion both are the same, so SWAN is left out."""
        named = {name: Term(WAN.name, (Term(self.schema[name].written_name),)) for name in self.criteria}
        return named if len(named) == 1 else {"": Term(SWAN.name), **named}

    @property
    def main_term(self) -> Term:
        """SWAN, or the WAN of the only criterion."""
        return next(iter(self.terms.values()))

    def weighed_scores(self, key: tuple[str, str, int]) -> list[WeighedScore]:
        """Return the scores of one conversation, ordered by turn and then by criterion."""
        found: list[WeighedScore] = []
        assessment = self.each[key]
        for name in self.criteria:
            scored = assessment.scored[name]
            weights = self.schema[name].weighting.weights(Places.from_items([one.item for one in scored])).tolist()
            found += [WeighedScore(name, one, weight * one.share) for one, weight in zip(scored, weights, strict=True)]
        return sorted(found, key=lambda one: (one.scored.item.turn, one.scored.item.start))


def assess_material(
    material: Material, schema: Schema | None = None, judges: Precedence | None = None
) -> Assessed | None:
    """Assess every valid conversation by the schema, which is the shipped schema by default. `judges` selects whose
    judgments count. Returns None if no person and no model judged anything that the schema asks for. Raises
    RunError for judgments that do not fit their conversation, and InputError for an invalid layer of scores."""
    chosen = schema or load_schema(SHIPPED)
    names = {one.name for one in chosen}
    if not any(
        layer.kind in _JUDGES and any(judgment.criterion in names for judgment in layer.judgments)
        for layer in material.layers
    ):
        return None
    judgments = Judgments.from_layers(material.layers, chosen, judges)
    settings = scoring_settings(material.scoring, material.topics, material.gold)
    topics = {topic.id: topic for topic in material.topics.topics}
    each = {
        (one.key.system, one.key.topic, one.key.trial): assess(
            one,
            chosen,
            judgments,
            TopicData(topics[one.key.topic], material.gold, material.topics.attributes, settings),
        )
        for one in material.finished
    }
    used = {name for one in each.values() for name, scored in one.scored.items() if scored}
    return Assessed(chosen, judges, tuple(one.name for one in chosen if one.name in used), each)


def score_assessed(
    material: Material, *, seed: int = 0, schema: Schema | None = None, judges: Precedence | None = None
) -> tuple[ScoreTable, Assessed | str | None]:
    """Score the default measures and, if anything was judged, SWAN. Returns the table and the assessment. If SWAN
    cannot be scored, the reason is returned instead of the assessment; if nothing was judged, None is returned
    instead. `seed` is for the bootstrap. `schema` and `judges` are as in `score_material`. Figures over single
    trials have no intervals."""
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
