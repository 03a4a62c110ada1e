"""Judgments from several layers: which judgments count if they differ, and where they come from.

Layers are never merged. A *precedence* such as `human,rule` lists the kinds, or `kind:author` pairs, that may be
used, in order of preference. For each author the newest layer counts; among layers made at the same time, the layer
with the last version and file name. If several authors who judged the same item match the same entry, their votes are
combined (`scoring.swan.precedence`). Figures therefore do not depend on the order in which layers are read or
imported. Kinds that are not listed are not used: a model's scores count only if the precedence names `model`.

All nuggets in use are from one extractor. The default extractor is the rules. A precedence can name another
extractor (`sentences`, `turns`, or the author of a layer), and must do so for a model.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from recordings.files.errors import RunError
from recordings.files.times import unix_seconds
from recordings.judged.judgments import KINDS, UNSURE, Judgment, Layer, Target
from recordings.judged.source_layers import LOOK_UP
from recordings.judged.wanted import HELD
from scoring.swan.extraction import BUILT_IN_EXTRACTORS, Extractor
from scoring.swan.item import Source
from scoring.swan.nugget import Candidate, Nugget, place_nuggets
from scoring.swan.precedence import DEFAULT_FOLDING, Opinion, Precedence, Vote, combine_votes
from scoring.swan.rules.rule import Rule
from scoring.swan.schema import Criterion, Schema
from scoring.words import Passage
from topics.errors import InputError, Place
from topics.identity import content_hash

# The criterion of a judgment that marks a nugget and its type.
NUGGET = "nugget"
# The criterion of a judgment that declares a layer complete for a conversation, even without nuggets.
EXTRACTION = "extraction"

Key = tuple[Target, str]
SetKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class NuggetLayer:
    """The layer with the nuggets of one conversation. `refused` counts proposed nuggets that could not be placed.
    `said` is the `words_hash` of the conversation that the layer was made for, or "" if unknown. `equals` names other
    authors whose nuggets have the same precedence."""

    layer: Layer
    found: list[tuple[Target, Judgment, Place]]
    refused: int = 0
    said: str = ""
    equals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgments:
    """The judgments of a run under one precedence and one schema.

    The schema's own rules are run again with the current settings and gold, so their recorded scores are not read.

    - `opinions`: by (trial, attempt), then by target and criterion. `sets` are by (system, topic, criterion).
    - `layers`: the layer whose nuggets are used, by (trial, attempt).
    - `refused`: the number of judgments left out because the schema does not let their source (a model, or a rule
      that the schema does not name) score the criterion.
    - `unknown`: the criteria that have judgments but are not in the schema.
    - `unplaced`: the number of judgments whose target does not have the level of the criterion.
    - `unjudged`: the number of items that a model was asked about and did not judge, by author and reason.
    - `opinions_by_kind`: if models are used, the opinions of people and of models (`human`, `model`), whatever the
      precedence.
    """

    precedence: Precedence = field(default_factory=Precedence)
    opinions: Mapping[tuple[str, int], Mapping[Key, Opinion]] = field(default_factory=dict)
    sets: Mapping[SetKey, Opinion] = field(default_factory=dict)
    layers: Mapping[tuple[str, int], NuggetLayer] = field(default_factory=dict)
    refused: int = 0
    unknown: tuple[str, ...] = ()
    unplaced: int = 0
    unjudged: Mapping[tuple[str, str], int] = field(default_factory=dict)
    opinions_by_kind: Mapping[str, Mapping[tuple[str, int], Mapping[Key, Opinion]]] = field(default_factory=dict)

    @staticmethod
    def from_layers(layers: Iterable[Layer], schema: Schema, precedence: Precedence | None = None) -> "Judgments":
        """Read the judgments of layers, skipping criteria that the schema does not have. Raises RunError, with file
        and line, for a score that is neither null nor in [0, 1], and InputError if the precedence names nuggets that
        no layer has."""
        chosen = precedence or Precedence()
        layers = tuple(layers)
        criteria = {one.name: one for one in schema}
        opinions: dict[tuple[str, int], dict[Key, _ByAuthor]] = {}
        sets: dict[SetKey, _ByAuthor] = {}
        nuggets = _nugget_layers(layers, chosen)
        refused, unplaced, unknown, unjudged = 0, 0, set[str](), Counter[tuple[str, str]]()
        entries = (*chosen.entries, ("human", "")) if chosen.uses("model") else chosen.entries
        for rank, layer in _rank_layers(layers, replace(chosen, entries=entries)):
            by, counts = Source(layer.kind, layer.author, layer.version), rank < len(chosen.entries)
            for judgment, place in _place_judgments(layer):
                criterion = criteria.get(judgment.criterion)
                if criterion is None:
                    # What was looked up about sources was never meant for a score.
                    if judgment.criterion not in (NUGGET, EXTRACTION, HELD, "gold") and layer.author != LOOK_UP:
                        unknown.update([judgment.criterion] if counts else [])
                    continue
                if layer.kind == "rule" and layer.author in map(str, (*criterion.rules, *criterion.set_rules)):
                    continue
                if not criterion.may_score(layer.kind) or layer.kind == "rule":
                    refused += counts
                    continue
                target = (
                    Target.from_dialogue_judgment(judgment)
                    if criterion.level == "dialogue"
                    else Target.from_judgment(judgment)
                )
                silent = judgment.value == UNSURE or judgment.unjudged
                given = (
                    None
                    if silent
                    else Vote(_judged_value(judgment, criterion, place), by, rank, place, layer.adjudicates)
                )
                if judgment.unjudged:
                    unjudged[layer.author, judgment.unjudged] += 1
                if target is not None and criterion.level != "set":
                    here = opinions.setdefault((target.trial, target.attempt), {})
                    _record_opinion(here, (target, judgment.criterion), by, given)
                match judgment.about:
                    case {"system": str(system), "topic": str(topic)} if criterion.level == "set":
                        _record_opinion(sets, (system, topic, judgment.criterion), by, given)
                    case _:
                        unplaced += counts and (target is None or criterion.level == "set")
        opinions_by_kind = {
            kind: {trial: _opinions_by_kind(here, kind, chosen.folding) for trial, here in opinions.items()}
            for kind in (("human", "model") if chosen.uses("model") else ())
        }
        return Judgments(
            chosen,
            {trial: _chosen_opinions(here, chosen) for trial, here in opinions.items()},
            _chosen_opinions(sets, chosen),
            nuggets,
            refused,
            tuple(sorted(unknown)),
            unplaced,
            dict(unjudged),
            opinions_by_kind,
        )

    def rules_in_use(self, criterion: Criterion) -> list[tuple[Rule, int]]:
        """Return the criterion's rules for items that the precedence uses, with the rank of each."""
        ranked = [(rule, self.precedence.rank("rule", str(rule))) for rule in criterion.rules]
        return [(rule, rank) for rule, rank in ranked if rank is not None]

    @property
    def extractor(self) -> Extractor | None:
        """The built-in extractor that the precedence names, or None if it names none."""
        return BUILT_IN_EXTRACTORS.get(self.precedence.nuggets)

    def lacks_nuggets(self, trial: str, attempt: int, exchanged: Iterable[Passage]) -> bool:
        """Return whether nothing can be scored because no layer has the requested nuggets for this text."""
        if not self.precedence.nuggets or self.extractor is not None:
            return False
        known = self.layers.get((trial, attempt))
        return known is None or known.said not in ("", words_hash(exchanged))

    def nuggets(self, trial: str, attempt: int, exchanged: Iterable[Passage]) -> tuple[Nugget, ...] | None:
        """Return the nuggets of types F and O in the layer of a conversation, or None if no layer has nuggets. Raises
        RunError, with file and line, for a nugget that does not fit the text."""
        known = self.layers.get((trial, attempt))
        if known is None:
            return None
        layer = known.layer
        sides = {(one.turn, one.speaker): one for one in exchanged}
        groups: dict[tuple[int, str, str], list[tuple[Candidate, Place]]] = {}
        for target, judgment, place in known.found:
            match judgment.value:
                case {"type": "F" | "O" as kind, **rest} if (target.turn, target.speaker) in sides:
                    text = rest.get("text")
                    one = Candidate(
                        target.start,
                        target.end,
                        kind,
                        str(rest.get("rule") or layer.kind),
                        str(rest.get("act") or ""),
                        text=text if isinstance(text, str) else None,
                    )
                    version = str(rest.get("version") or f"{layer.author}/{layer.version}")
                    groups.setdefault((target.turn, target.speaker, version), []).append((one, place))
                case _:
                    missing = (target.turn, target.speaker) not in sides
                    raise RunError(
                        "the turn does not exist" if missing else "the nugget is not of type F or O", place=place
                    )
        found: list[Nugget] = []
        for (turn, speaker, version), group in groups.items():
            found += _place_group(sides[turn, speaker], group, version)
        return tuple(sorted(found, key=lambda one: (one.turn, one.speaker == "system", one.start, one.end)))


def _nugget_layers(layers: Sequence[Layer], precedence: Precedence) -> dict[tuple[str, int], NuggetLayer]:
    name = precedence.nuggets
    if name in BUILT_IN_EXTRACTORS:
        return {}
    if name:
        chosen = [one for one in layers if one.kind != "gold" and name in (one.author, f"{one.author}/{one.version}")]
        own = _rank_layers(chosen, Precedence(tuple((kind, "") for kind in KINDS)))
    else:
        own = [(rank, layer) for rank, layer in _rank_layers(layers, precedence) if layer.kind != "model"]
    found: dict[tuple[str, int], NuggetLayer] = {}
    authors: dict[tuple[tuple[str, int], int], dict[str, None]] = {}
    for rank, layer in own:
        for judgment, place in _place_judgments(layer):
            where = _extraction_of(judgment)
            if where is None:
                continue
            if where not in found or found[where].layer is not layer:
                equal = authors.setdefault((where, rank), {})
                equal[layer.author] = None
                found[where] = NuggetLayer(layer, [], equals=tuple(sorted(equal.keys() - {layer.author})))
            target = Target.from_judgment(judgment)
            if target is not None:
                found[where].found.append((target, judgment, place))
            else:
                value = judgment.value if isinstance(judgment.value, dict) else {}
                refused, said = value.get("refused"), value.get("said")
                counts = refused.values() if isinstance(refused, dict) else ()
                found[where] = replace(
                    found[where],
                    refused=sum(one for one in counts if isinstance(one, int)),
                    said=said if isinstance(said, str) else "",
                )
    versions = _nugget_versions(layer for _, layer in own) if name else set()
    if len(versions) > 1:
        raise InputError(f"there are several versions of the nuggets of {name!r}", allowed=", ".join(sorted(versions)))
    if name and not versions:
        raise InputError(
            f"there is no layer with nuggets of {name!r}",
            allowed=", ".join(
                sorted({*_nugget_versions(layers), *(one for one in BUILT_IN_EXTRACTORS if "/" not in one)})
            ),
            advice="extract nuggets with a model: harvest judge extract RUN --with FILE",
        )
    return found


def _extraction_of(judgment: Judgment) -> tuple[str, int] | None:
    match judgment:
        case Judgment(about={"trial": str(trial), "attempt": int(attempt), **rest}):
            if judgment.criterion == NUGGET and Target.from_judgment(judgment) is not None:
                return trial, attempt
            if judgment.criterion == EXTRACTION and not rest:
                return trial, attempt
    return None


def words_hash(exchanged: Iterable[Passage]) -> str:
    """Return a hash of everything said in a conversation, because the text may change when a page is read again."""
    return content_hash("harvest-words", [[one.speaker, one.text] for one in exchanged], size=8)


def _nugget_versions(layers: Iterable[Layer]) -> set[str]:
    return {
        f"{one.author}/{one.version}"
        for one in layers
        if any(_extraction_of(judgment) is not None for judgment in one.judgments)
    }


def _place_group(passage: Passage, group: list[tuple[Candidate, Place]], version: str) -> tuple[Nugget, ...]:
    try:
        return place_nuggets(passage, [one for one, _ in group], version=version)
    except ValueError as fault:
        for i, (_, place) in enumerate(group, start=1):
            try:
                place_nuggets(passage, [one for one, _ in group[:i]], version=version)
            except ValueError as first:
                raise RunError(str(first), place=place) from None
        raise RunError(str(fault)) from None


def _rank_layers(layers: Iterable[Layer], precedence: Precedence) -> list[tuple[int, Layer]]:
    """Return the usable layers, the best last, because an author's later judgments replace earlier judgments."""
    found = []
    for layer in layers:
        rank = precedence.rank(layer.kind, layer.author)
        if rank is not None and layer.kind != "gold":
            found.append((rank, layer))
    found.sort(
        key=lambda one: (
            -one[0],
            unix_seconds(one[1].made_at),
            one[1].made_at,
            one[1].author,
            one[1].version,
            one[1].path.rpartition("/")[2],
        )
    )
    return found


def _place_judgments(layer: Layer) -> Iterator[tuple[Judgment, Place]]:
    for number, judgment in enumerate(layer.judgments, 2):
        yield judgment, Place(layer.path, number) if layer.path else Place(f"the judgments of {layer.author}")


def _judged_value(judgment: Judgment, criterion: Criterion, place: Place) -> float | str | None:
    value = judgment.value
    if value is None:
        return None
    if criterion.values:
        if value not in criterion.value_names:
            raise RunError(
                f"the value for {judgment.criterion} is {str(value)[:40]!r}",
                place=place,
                allowed=f"{', '.join(criterion.value_names)}, or null if the criterion does not apply",
            )
        return str(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise RunError(
            f"the score for {judgment.criterion} is {str(value)[:40]!r}",
            place=place,
            allowed="a number from 0 to 1 (1 is good), or null if the criterion does not apply",
        )
    return float(value)


# The newest judgment of each author, by kind and author.
_ByAuthor = dict[tuple[str, str], Vote]

_About = TypeVar("_About")


def _record_opinion(known: dict[_About, _ByAuthor], about: _About, by: Source, given: Vote | None) -> None:
    """Record an opinion. If `given` is None, the author was unsure, and the author's earlier judgment is removed."""
    here = known.setdefault(about, {})
    if given is not None:
        here[by.kind, by.author] = given
        return
    here.pop((by.kind, by.author), None)
    if not here:
        del known[about]


def _chosen_opinions(known: Mapping[_About, _ByAuthor], chosen: Precedence) -> dict[_About, Opinion]:
    named = {about: [one for one in given.values() if one.rank < len(chosen.entries)] for about, given in known.items()}
    found = {about: combine_votes(given, chosen.folding) for about, given in named.items()}
    return {about: opinion for about, opinion in found.items() if opinion is not None}


def _opinions_by_kind(known: Mapping[_About, _ByAuthor], kind: str, folding: str) -> dict[_About, Opinion]:
    """Return the opinions of one kind of source, whatever the precedence, since a model is checked against all
    people. If the folding uses none of the judgments or cannot decide between them, the default folding is used
    instead."""
    found: dict[_About, Opinion] = {}
    for about, given in known.items():
        own = [one for by, one in given.items() if by[0] == kind]
        opinion = combine_votes(own, folding)
        if opinion is None or opinion.equals:
            opinion = combine_votes(own, DEFAULT_FOLDING)
        if opinion is not None:
            found[about] = opinion
    return found
