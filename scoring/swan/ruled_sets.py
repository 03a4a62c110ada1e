"""Application of rules to sets: all conversations of one system on one topic."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from recordings.conversations.conversation import Conversation
from scoring.swan.item import Source
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Opinion
from scoring.swan.rules.rule import SetRule, SetSight, SetVerdict, Sight
from scoring.swan.schema import Schema

# The name of a system in recordings for a group of users, or in an arm.
_GROUPED = re.compile(r"(?P<system>.*\S) \[(?P<group>[^\[\]]+)\]")

# System, topic and criterion.
SetKey = tuple[str, str, str]


def set_verdicts(
    conversations: Iterable[Conversation], schema: Schema, sight: Callable[[Conversation], Sight]
) -> Mapping[SetKey, tuple[SetVerdict, SetRule]]:
    """Return the first verdict of a rule on each set. `sight` makes the view of a conversation for rules."""
    criteria = [one for one in schema if one.level == "set" and one.set_rules]
    if not criteria:
        return {}
    seen: dict[tuple[str, str], list[Sight]] = {}
    for one in conversations:
        seen.setdefault((one.key.system, one.key.topic), []).append(sight(one))
    found: dict[SetKey, tuple[SetVerdict, SetRule]] = {}
    for (system, topic), own in seen.items():
        whole = SetSight(system, topic, tuple(own), _sights_by_group(system, topic, seen))
        for criterion in criteria:
            for rule in criterion.set_rules:
                verdict = rule.judge(whole)
                if verdict is not None:
                    found[system, topic, criterion.name] = verdict, rule
                    break
    return found


def judge_sets(
    judgments: Judgments,
    conversations: Iterable[Conversation],
    schema: Schema,
    sight: Callable[[Conversation], Sight],
) -> Judgments:
    """Add the verdicts of set rules to the judgments. A verdict counts unless the precedence leaves out rules or
    prefers an existing judgment."""
    if not judgments.precedence.uses("rule"):
        return judgments
    sets = dict(judgments.sets)
    for key, (verdict, rule) in set_verdicts(conversations, schema, sight).items():
        rank = judgments.precedence.rank("rule", str(rule))
        if rank is None:
            continue
        known = sets.get(key)
        if known is not None and known.rank <= rank:
            sets[key] = replace(known, disputed=known.disputed or known.value != verdict.value)
        else:
            differs = known is not None and known.value != verdict.value
            sets[key] = Opinion(verdict.value, Source("rule", str(rule), rule.version), differs, rank, ())
    return replace(judgments, sets=sets)


def _sights_by_group(
    system: str, topic: str, seen: Mapping[tuple[str, str], list[Sight]]
) -> dict[str, tuple[Sight, ...]]:
    base = _GROUPED.fullmatch(system)
    if base is None:
        return {}
    found: dict[str, tuple[Sight, ...]] = {}
    for (name, on), sights in seen.items():
        one = _GROUPED.fullmatch(name)
        if on == topic and one is not None and one["system"] == base["system"]:
            found[one["group"]] = tuple(sights)
    return found
