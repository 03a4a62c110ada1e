"""Arms of an audit: the same topics are played in several ways, with the same random draws.

    arms:
      as written: {}                               # the first is the control
      typos: {wording: {typos: 0.1}}
      keywords: {wording: {keywords: 1}}
      french: {texts: french.yaml}
      impatient: {users: {visitor: {simulator: agenda, patience: 1}}}

Every system is played once in each arm and recorded as a separate system: `parrot` becomes `parrot [typos]`. The arms
of a trial are played in the same block, in random order, and their users draw the same random numbers. The arms
therefore differ only in the declared change and in the system's own randomness.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import Field

from harvest.audits.vantage import Vantage
from protocols.protocol import Protocol
from protocols.states import SimulatedUser
from simulators.registry import build_users, check_users, file_hashes
from simulators.scripted import ScriptedUser
from simulators.user import User
from topics.document import Document, StrictModel
from topics.errors import InputError
from topics.shown_names import first_same_names
from topics.topic import Topic
from topics.yaml_values import Loc

if TYPE_CHECKING:
    from simulators.wrappers.given_words import WordsByState


class ArmEntry(StrictModel):
    """An arm as written in the audit file. `wording` has rates of `simulators.wrappers.paraphrasing`, which apply to
    every user turn. `texts` is a file of wordings that replace the protocol's wordings. `users` has options, by user
    name, that replace options of the protocol's simulated users."""

    wording: dict[str, Any] | None = None
    texts: str | None = None
    users: dict[str, dict[str, Any]] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm, ready to be played. `protocol` is the audit's protocol with the simulated users of this arm. `user`
    plays the protocol and rewords turns if the arm says so. `rewords` is True if the protocol's own turns may be
    reworded. `definition` identifies the arm. `levels` has the level of each factor if the arm is a combination of
    levels. `vantage` is the place from which the systems are asked, or None if the arm names none."""

    name: str
    protocol: Protocol
    user: User
    rewords: bool
    definition: Mapping[str, Any]
    levels: Mapping[str, str] = field(default_factory=dict)
    vantage: Vantage | None = None


def read_arms(
    document: Document,
    entries: Mapping[str, ArmEntry],
    protocol: Protocol,
    topics: Sequence[Topic],
    *,
    grouped: bool = False,
) -> tuple[Arm, ...]:
    """Read the arms of an audit, with the control first. `grouped` is as in `read_arm`. Raises InputError, with its
    place in the audit, for an arm that cannot be played or that equals an earlier arm."""
    refuse_similar_names(document, ("arms",), entries, "arms")
    found: list[Arm] = []
    for name, entry in entries.items():
        arm = read_arm(document, ("arms", name), name, entry, protocol, topics, grouped=grouped)
        for other in found:
            if other.definition == arm.definition:
                what = f"the arms {other.name!r} and {name!r} are the same"
                raise document.error(("arms", name), what, advice="change one, or remove it", key=True)
        found.append(arm)
    if len(found) == 1:
        raise document.error(
            ("arms",), "an audit with arms needs at least two arms", advice="add another arm", key=True
        )
    return tuple(found)


def refuse_similar_names(document: Document, loc: Loc, names: Iterable[str], what: str) -> None:
    """Raise InputError at the second of two names that look alike in tables. `loc` is the position of the mapping whose
    keys are the names."""
    if alike := first_same_names(names):
        raise document.error(
            (*loc, alike[1]),
            f"the {what} {alike[0]!r} and {alike[1]!r} differ only in blanks, capitals or letters of the same shape",
            allowed="names that differ in a letter, a digit or a symbol",
            advice="rename one",
            key=True,
        )


def read_arm(
    document: Document,
    loc: Loc,
    name: str,
    entry: ArmEntry,
    protocol: Protocol,
    topics: Sequence[Topic],
    *,
    grouped: bool = False,
    words: Mapping[str, Mapping[str, str]] | None = None,
    vantage: Vantage | None = None,
) -> Arm:
    """Read an arm. `loc` is its location in the audit. If `grouped`, the users belong to groups, and `check_groups`
    checks later whether every topic has the values that the users need. `words` (by topic and state) and `vantage` come
    from a design. Raises InputError, with its place in the audit, if the arm cannot be played."""
    from simulators.wrappers import paraphrasing  # late: most audits have no arms
    from simulators.wrappers.given_words import WordsByState, replace_user_words

    wording = None
    texts = WordsByState(topics=words) if words is not None else None
    if entry.wording is not None:
        wording = document.part((*loc, "wording")).validate_as(paraphrasing.Options)
    if entry.texts is not None:
        texts = _read_texts(document, (*loc, "texts"), entry.texts, protocol, topics)
    simulated = dict(protocol.users)
    for user, options in entry.users.items():
        where = (*loc, "users", user)
        if user not in simulated:
            raise document.error(
                where,
                f"the protocol {protocol.name!r} has no user {user!r}",
                allowed=", ".join(simulated) or "none: the protocol has no simulated users",
                key=True,
            )
        given = {key: value for key, value in options.items() if key != "simulator"}
        simulated[user] = SimulatedUser(str(options.get("simulator", "")), given, document.part(where))
    variant = replace(protocol, users=MappingProxyType(simulated))
    users = build_users(variant)
    if not grouped:
        with document.add_place((*loc, "users")):
            check_users(users, topics)
    playing: User = ScriptedUser(variant, users)
    if texts is not None:
        playing = replace_user_words(playing, texts)
    if wording is not None:
        playing = paraphrasing.build(wording, playing)
    definition: dict[str, Any] = {}
    if wording is not None:
        definition["wording"] = wording.model_dump(mode="json", exclude_unset=True)
    if texts is not None:
        definition["texts"] = texts.identity
    if entry.users:
        definition["users"] = entry.users
        definition |= {"files": files} if (files := file_hashes(variant)) else {}
    if vantage is not None:
        definition["place"] = vantage.as_json()
    rewords = texts is not None or (wording is not None and any(wording.rates.values()))
    return Arm(name, variant, playing, rewords, MappingProxyType(definition), vantage=vantage)


def _read_texts(document: Document, loc: Loc, name: str, protocol: Protocol, topics: Sequence[Topic]) -> "WordsByState":
    """Read a file of wordings. An error in the whole file has the place of the file's name in the audit."""
    from simulators.wrappers.given_words import read_wordings

    path = Path(document.path).parent / name
    try:
        return read_wordings(path, protocol, topics)
    except InputError as fault:
        if fault.place is not None and fault.place.line:
            raise
        what = f"{path}: {fault.what}"
        advice = fault.advice or "name a file of words, relative to the folder of this one"
        raise document.error(loc, what, allowed=fault.allowed, advice=advice) from None
