"""The judgments that people have made of a run: the newest judgments, the changes in an import, and the agreement."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from recordings.judged.judgments import UNSURE, Judgment, Layer
from scoring.annotations.agreement import Agreement, agreement
from topics.decimals import decimal, percent

Key = tuple[object, ...]


def judgment_key(judgment: Judgment) -> Key:
    """Return a key of the thing and the criterion of a judgment."""
    return (judgment.criterion, *sorted(judgment.about.items()))


def newest_judgments(layers: Iterable[Layer]) -> dict[Key, Judgment]:
    """Return the newest judgment for each thing and criterion. All `layers` are of one person, oldest first."""
    return {judgment_key(judgment): judgment for layer in layers for judgment in layer.judgments}


def people_means(layers: Iterable[Layer]) -> dict[Key, float]:
    """Return people's mean score for each thing, without adjudications. `layers` are in order, oldest first."""
    said: dict[Key, dict[str, object]] = {}
    for layer in layers:
        if layer.kind == "human" and not layer.adjudicates:
            for judgment in layer.judgments:
                said.setdefault(judgment_key(judgment), {})[layer.author] = judgment.value
    scores = {key: [value for value in own.values() if isinstance(value, (int, float))] for key, own in said.items()}
    return {key: sum(own) / len(own) for key, own in scores.items() if own}


@dataclass(frozen=True, slots=True)
class ImportChanges:
    """How an import differs from its author's earlier judgments. `noted` counts judgments with only a new note."""

    new: int
    changed: int
    noted: int
    same: int

    @property
    def has_changes(self) -> bool:
        return self.new + self.changed + self.noted > 0


def compare_with_earlier(judgments: Sequence[Judgment], before: Mapping[Key, Judgment]) -> ImportChanges:
    """Compare an import with `before`, the same author's judgments under the same version of the guideline."""
    new = changed = noted = 0
    for judgment in judgments:
        old = before.get(judgment_key(judgment))
        new += old is None
        changed += old is not None and old.value != judgment.value
        noted += old is not None and old.value == judgment.value and old.note != judgment.note
    return ImportChanges(new, changed, noted, len(judgments) - new - changed - noted)


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """The agreement of `people` on one criterion. If somebody decided about several conversations at once, these are
    one unit of the interval, and `apart` is the number of units; otherwise, it is 0."""

    criterion: str
    people: tuple[str, ...]
    found: Agreement
    apart: int = 0


def agreements(layers: Iterable[Layer], criteria: Iterable[str]) -> tuple[PeopleAgreement, ...]:
    """Return the agreement on each criterion: of all people, and if there are three or more, of each pair of
    people. Criteria are included if at least two people judged the same thing. Intervals resample conversations,
    or sets of conversations; those about which somebody decided at once are one unit. `layers` are the layers of
    people, oldest first. Each person's newest judgment counts, whatever the version of the guideline."""
    mine: dict[str, list[Layer]] = {}
    for layer in layers:
        if not layer.adjudicates:  # adjudicators saw the other judgments, so theirs is not agreement
            mine.setdefault(layer.author, []).append(layer)
    said: dict[str, dict[Key, dict[str, float | str | None]]] = {name: {} for name in criteria}
    decided: dict[str, dict[str, list[Key]]] = {name: {} for name in criteria}
    for author, own in mine.items():
        for key, judgment in newest_judgments(own).items():
            value = judgment.value
            if judgment.criterion not in said or value == UNSURE:
                continue
            if judgment.decision:
                decided[judgment.criterion].setdefault(judgment.decision, []).append(key)
            if value is None or isinstance(value, (int, float, str)):
                said[judgment.criterion].setdefault(key, {})[author] = value
    return tuple(
        one for name, rows in said.items() for one in _agreements_of(name, rows, _units(decided[name].values()))
    )


def _units(decided: Iterable[Sequence[Key]]) -> Mapping[Key, Key]:
    """Return a unit for each conversation about which somebody decided together with another one."""
    units: dict[Key, set[Key]] = {}
    for keys in decided:
        own = set(map(_conversation, keys))
        for other in {id(unit): unit for one in own if (unit := units.get(one)) is not None}.values():
            own |= other
        units |= dict.fromkeys(own, own)
    return {one: min(unit, key=str) for one, unit in units.items() if len(unit) > 1}


def _conversation(key: Key) -> Key:
    """Return the conversation of a judged thing; the thing itself if it belongs to none."""
    about: dict[object, object] = dict(part for part in key[1:] if isinstance(part, tuple))
    return (about["trial"], about.get("attempt")) if "trial" in about else key


# Things with a rare judgment below which their number is printed: alpha depends on them.
_FEW_RARE = 10


def agreement_words(of: PeopleAgreement) -> str:
    """Return the figures of an agreement, such as `equal 83% (n=18)  alpha 0.42 [-0.24, 0.86] (n=12)`."""
    agreement, own = of.found, of.found.interval
    ends = f" [{decimal(own.low, 2)}, {decimal(own.high, 2)}]" if own.is_defined else ""
    alpha = "n/a" if math.isnan(agreement.alpha) else f"{decimal(agreement.alpha, 2)}{ends}"
    few = f"; {agreement.rare} with a score or value other than the most frequent one"
    few = few if own.is_defined and agreement.rare < _FEW_RARE else ""
    few += f"; {of.apart} judged apart" if own.is_defined and of.apart else ""
    return f"equal {percent(agreement.equal)} (n={agreement.things})  alpha {alpha} (n={agreement.scored}{few})"


def adjudicated_by(layers: Iterable[Layer], criteria: Iterable[str]) -> dict[str, Counter[str]]:
    """Count the things on which each adjudicator decided, by criterion. `layers` are the layers of people, oldest
    first."""
    asked, mine = set(criteria), dict[str, list[Layer]]()
    for layer in layers:
        if layer.kind == "human" and layer.adjudicates:
            mine.setdefault(layer.author, []).append(layer)
    found: dict[str, Counter[str]] = {}
    for author, own in mine.items():
        for judgment in newest_judgments(own).values():
            if judgment.criterion in asked and judgment.value != UNSURE:
                found.setdefault(judgment.criterion, Counter())[author] += 1
    return found


def _agreements_of(
    criterion: str, rows: Mapping[Key, Mapping[str, float | str | None]], together: Mapping[Key, Key]
) -> Iterator[PeopleAgreement]:
    shared = {key: row for key, row in rows.items() if len(row) > 1}
    everybody = sorted({author for row in shared.values() for author in row})
    groups = [tuple(everybody), *(combinations(everybody, 2) if len(everybody) > 2 else ())]
    for people in groups:
        own = {key: [row[name] for name in people if name in row] for key, row in shared.items()}
        conversations = list(map(_conversation, own))
        found = agreement(own.values(), [together.get(one, one) for one in conversations])
        if found.things:
            merged = not together.keys().isdisjoint(conversations)
            yield PeopleAgreement(criterion, people, found, found.units if merged else 0)
