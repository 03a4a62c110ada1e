"""Factors of an audit. Each combination of their levels is an arm.

    factors:
      patience: {patient: {}, hasty: {users: {visitor: {patience: 0}}}}
      cooperation: {willing: {}, unwilling: {users: {visitor: {cooperativeness: 0.2}}}}
      skill: {skilled: {}, unskilled: {wording: {typos: 0.1}}}

A level can change everything that an arm can change. It sets only the named options of a simulated user; all further
options come from the protocol or from the levels of other factors. The combination of all first levels is the control.
An arm is named after its levels: `patient + willing + skilled`. The factors of a design (`harvest.audits.design`) come
first, and are combined with the audit's own factors.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

from harvest.audits.arms import Arm, ArmEntry, read_arm, refuse_similar_names
from harvest.audits.design import Design
from harvest.audits.vantage import merge_options
from protocols.protocol import Protocol
from topics.document import Document
from topics.shown_names import normalise_name
from topics.topic import Topic
from topics.yaml_values import Loc

# Arms: each is played as a separate system.
_MOST_ARMS = 64

Factors = Mapping[str, Mapping[str, ArmEntry]]


def read_factors(
    document: Document,
    factors: Factors,
    protocol: Protocol,
    topics: Sequence[Topic],
    *,
    design: Design | None = None,
    grouped: bool = False,
) -> tuple[Arm, ...]:
    """Read the arms of an audit's factors and its design, with the control first. `grouped` is as in `read_arm`. Raises
    InputError, with its place in the audit, for a factor with fewer than two levels, for levels of two factors that
    change the same option, and for arms that cannot be played."""
    every: dict[str, Sequence[str]] = dict(design.levels) if design is not None else {}
    for name, own in factors.items():
        if name in every:
            what = f"the design has a factor {name!r} already"
            raise document.error(("factors", name), what, advice="give this factor another name", key=True)
        every[name] = tuple(own)
        if len(own) < 2:
            what = f"the factor {name!r} needs at least two levels, but has only one"
            raise document.error(("factors", name), what, advice="add another level, or remove it", key=True)
    whole: Loc = ("design",) if design is not None else ("factors",)
    if (arms := prod(map(len, every.values()))) > _MOST_ARMS:
        raise document.error(
            whole,
            f"the factors have {arms} combinations of levels, and each is an arm",
            allowed=f"at most {_MOST_ARMS} arms",
            key=True,
        )
    if arms < 2:
        what = "the design has one cell only: one language, one template, one persona and one place"
        raise document.error(whole, what, advice="add a level to one of them, or leave out the design", key=True)
    refuse_similar_names(document, ("factors",), factors, "factors")
    for factor, own in factors.items():
        refuse_similar_names(document, ("factors", factor), own, f"levels of {factor!r}")

    def place_of(factor: str, level: str) -> Loc:
        return ("factors", factor, level) if design is None or factor in factors else design.place_of(factor, level)

    found: list[Arm] = []
    combinations: dict[str, tuple[str, ...]] = {}
    for chosen in product(*every.values()):
        levels = dict(zip(every, chosen, strict=True))
        name = " + ".join(chosen)  # `--beside` takes names with a comma between
        other = combinations.setdefault(normalise_name(name), chosen)
        if other is not chosen:  # names of levels may contain " + "
            factor = next(one for one, ours, theirs in zip(every, chosen, other, strict=True) if ours != theirs)
            raise document.error(
                place_of(factor, levels[factor]),
                f"the levels {_level_list(other)} and {_level_list(chosen)} make arms with the same name, {name!r}",
                allowed="levels whose names, joined by ` + `, differ in every combination",
                advice="rename one of these levels",
                key=True,
            )
        arm = _combined_arm(document, factors, levels, name, protocol, topics, design=design, grouped=grouped)
        arm = replace(arm, levels=levels)
        for earlier in found:
            if earlier.definition == arm.definition:
                apart = next(factor for factor in levels if earlier.levels[factor] != levels[factor])
                what = f"the levels {earlier.levels[apart]!r} and {levels[apart]!r} of {apart!r} are the same"
                at = place_of(apart, levels[apart])[:2]
                raise document.error(at, what, advice="change one, or remove it", key=True)
        found.append(arm)
    return tuple(found)


def _level_list(levels: Sequence[str]) -> str:
    return " and ".join(map(repr, levels))


def _combined_arm(
    document: Document,
    factors: Factors,
    levels: Mapping[str, str],
    name: str,
    protocol: Protocol,
    topics: Sequence[Topic],
    *,
    design: Design | None,
    grouped: bool,
) -> Arm:
    value: dict[str, Any] = {}
    set_by: dict[Loc, str] = {}
    loc: Loc = ("arms", name)
    marks, keys = {loc: document.marks.get(("factors",), (1, 1))}, {loc: document.key_marks.get(("factors",), (1, 1))}
    for factor, level in levels.items():
        if factor not in factors:  # a factor of the design
            continue
        where: Loc = ("factors", factor, level)
        given = factors[factor][level].model_dump(exclude_unset=True)
        for way, leaf in _leaves(given):
            clash = next((other for other in set_by if other[: len(way)] == way or way[: len(other)] == other), None)
            if clash is not None:
                raise document.error(
                    (*where, *way),
                    f"two factors change {'.'.join(map(str, way))}: {set_by[clash]!r} and {factor!r}",
                    advice="let only one factor change this option",
                )
            set_by[way] = factor
            inside = value
            for key in way[:-1]:
                inside = inside.setdefault(str(key), {})
            inside[str(way[-1])] = leaf
        depth = len(where)
        marks |= {(*loc, *way[depth:]): mark for way, mark in document.marks.items() if way[:depth] == where}
        keys |= {(*loc, *way[depth:]): mark for way, mark in document.key_marks.items() if way[:depth] == where}
    for user, options in value.get("users", {}).items():
        own = protocol.users.get(user)
        if own is not None and options.get("simulator", own.simulator) == own.simulator:
            assert isinstance(own.document.value, Mapping)
            value["users"][user] = merge_options(own.document.value, options)
    whole = Document(document.path, {"arms": {name: value}}, marks, keys, document.source)
    arm = ArmEntry.model_validate(value)
    if design is None:
        return read_arm(whole, loc, name, arm, protocol, topics, grouped=grouped)
    if arm.texts is not None:
        what = "the design says the words of every cell, so no factor can replace them by texts"
        raise document.error(("design",), what, advice="remove texts from the factors", key=True)
    return read_arm(
        whole,
        loc,
        name,
        arm,
        protocol,
        topics,
        grouped=grouped,
        words=design.words(levels),
        vantage=design.vantage(levels),
    )


def _leaves(value: Mapping[str, Any], way: Loc = ()) -> Iterator[tuple[Loc, Any]]:
    for key, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield from _leaves(inner, (*way, key))
        else:
            yield (*way, key), inner
