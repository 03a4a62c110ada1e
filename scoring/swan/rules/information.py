"""Information in a conversation (names, numbers, links, yes and no), so that two conversations can be compared."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from scoring.swan.nugget import Nugget
from scoring.swan.rules.normal_form import ClaimForm, Claims, Value, claim_form
from scoring.swan.rules.own_words import blank_quotations
from scoring.swan.rules.rule import Sight
from topics.late_pattern import lazy_pattern

_REFUSALS = frozenset({"REJECT", "HEDGE", "APOLOGY"})
_COURTESY = frozenset({"CONVENTIONAL-OPENING", "CONVENTIONAL-CLOSING", "THANKING", "ACKNOWLEDGE"})
_NAME = lazy_pattern(r"(?<![\w'])[A-ZÀ-ÖØ-Þ][\w'’-]*[^\W\d_][\w-]*")
_ANSWERS = {"YES-ANSWER": "yes", "NO-ANSWER": "no"}
_NO_NAMES = frozenset({"I", "I'm", "I'd", "I've", "I'll"})
_GAP = lazy_pattern(r"\s+")
_MOST_VALUES = 400  # values of a conversation that are compared with those of another


@dataclass(frozen=True, slots=True)
class Information:
    """The information that the system gave in one conversation. `names` has names of things in lower case, links,
    blocks of code, and `yes` and `no`. `values` has numbers and dates, and `claims` the claims in normal form.
    `refused` is true if the system only refused or said that it does not know."""

    names: frozenset[str]
    values: tuple[Value, ...]
    claims: tuple[ClaimForm, ...]
    refused: bool

    @staticmethod
    def from_sight(sight: Sight) -> "Information":
        """Collect the information of all system turns, because an answer may be spread over several turns."""
        names: set[str] = set()
        values: dict[Value, None] = {}
        claims: list[ClaimForm] = []
        own = [one for one in sight.nuggets if one.speaker == "system" and one.type != "E"]
        names.update(one.entity for one in sight.nuggets if one.type == "E" and one.speaker == "system")
        for nugget in own:
            if nugget.rule == "code":
                names.add(_GAP.sub(" ", nugget.text))
                continue
            if nugget.act in _REFUSALS or nugget.act in _COURTESY:
                continue
            if nugget.act in _ANSWERS:
                names.add(_ANSWERS[nugget.act])
            form = claim_form(nugget.text)
            if form.shaded:
                continue
            claims.append(form)
            values.update(dict.fromkeys(form.values))
            names.update(_capitalised_names(nugget))
        refused = bool(own) and all(one.act in _REFUSALS for one in own)
        return Information(frozenset(names), tuple(values)[:_MOST_VALUES], tuple(claims), refused)

    @property
    def size(self) -> int:
        return len(self.names) + len(self.values)


def _capitalised_names(nugget: Nugget) -> Iterable[str]:
    """Yield words with a capital letter. The first word of a sentence counts only in a list item, or if no word in
    lower case follows."""
    plain = blank_quotations(nugget.text)
    for found in _NAME.finditer(plain):
        word = found[0].removesuffix("'s")
        first = not plain[: found.start()].strip(" *_-(\t") or plain[: found.start()].rstrip()[-1:] in ".!?:"
        if first and nugget.rule != "item" and re.match(r"\s+[a-zà-öø-þ]", plain[found.end() :]):
            continue
        if word not in _NO_NAMES and not (first and nugget.act):
            yield word.lower()


def similarity(one: Information, other: Information) -> float:
    """Return the similarity of two conversations in [0, 1], or NaN if they have nothing to compare. The similarity is
    the share of the names and values of the smaller conversation that are also in the larger conversation. It is 0 if
    the conversations contradict each other or exactly one of them refused, and 1 if both refused."""
    if one.refused or other.refused:
        return float(one.refused and other.refused) if _has_information(one) and _has_information(other) else math.nan
    told = claim_agreements(one, other)
    if False in told:
        return 0.0
    if one.size and other.size:
        shared = len(one.names & other.names)
        shared += min(_count_matches(one.values, other.values), _count_matches(other.values, one.values))
        return shared / min(one.size, other.size)
    return 1.0 if told else math.nan


def claim_agreements(one: Information, other: Information) -> set[bool]:
    """Compare the claims of two conversations. The result contains True if any agree, and False if any differ."""
    claims = Claims[None]()
    for form in other.claims:
        claims.add(form, None)
    return {agree for form in dict.fromkeys(one.claims) for agree, _ in claims.compare(form)}


def _has_information(one: Information) -> bool:
    return one.refused or bool(one.size or one.claims)


def _count_matches(values: tuple[Value, ...], among: tuple[Value, ...]) -> int:
    return sum(any(one.unit == other.unit and one.agrees(other) for other in among) for one in values)


def mean_similarity(pairs: Iterable[tuple[Information, Information]]) -> tuple[float, int]:
    """Return the mean similarity over the pairs that can be compared, and their number. The mean is NaN without such
    pairs."""
    known = [value for one, other in pairs if not math.isnan(value := similarity(one, other))]
    return (math.fsum(known) / len(known), len(known)) if known else (math.nan, 0)
