"""Groups of users in an audit: every system is played once for each, as a system of its own in the recording.

    groups: [older, older-again, younger, unsaid]

`parrot` becomes `parrot [older]`, `parrot [older-again]`, …: no system of an audit can be called so, since a name holds
no brackets. The trait `group` of every scenario says which one the user is of; a persona of the protocol reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from protocols.protocol import Protocol
from simulators.registry import SIMULATORS, check_users
from simulators.user import User
from topics.document import Document
from topics.errors import InputError
from topics.shown_names import first_alike
from topics.topic import Topic

if TYPE_CHECKING:  # late: most audits have no groups
    from simulators.wrappers.persona import Options


def grouped_name(system: str, group: str) -> str:
    """What a system is called where it meets users of `group`."""
    return f"{system} [{group}]"


def traits_of(group: str) -> Mapping[str, object]:
    """The traits of a scenario of that group; none for ""."""
    return {"group": group} if group else {}


def noise_pairs(protocol: Protocol, groups: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The null pairs among `groups`, in their order. Both groups of a null pair say the same words, so any difference
    between them is due to chance."""
    if not groups:
        return ()
    from simulators.wrappers.persona import null_pairs

    pairs: set[frozenset[str]] | None = None
    for options in _personas(protocol).values():
        own = {frozenset(pair) for pair in null_pairs(options)}
        pairs = own if pairs is None else pairs & own
    return tuple(
        (one, other)
        for place, one in enumerate(groups)
        for other in groups[place + 1 :]
        if pairs and frozenset((one, other)) in pairs
    )


def _personas(protocol: Protocol) -> dict[str, Options]:
    """The outermost persona of every user that has one, by the user's name."""
    from simulators.wrappers.persona import persona_in, written_options

    found = {name: persona_in(user.document) for name, user in protocol.users.items()}
    return {name: written_options(document) for name, document in found.items() if document is not None}


def check_groups(
    document: Document, groups: Sequence[str], protocol: Protocol, users: Mapping[str, User], topics: Sequence[Topic]
) -> None:
    """Refuse an audit in which a group would have no effect, before anything is sent. document: the audit's. groups: ()
    where it names none.

    Raises InputError, with its place, for groups given twice, groups without a persona that describes them, a persona
    whose group is fixed, and a topic that lacks a word of a group's.
    """
    if not groups:
        _check(document, ("protocol",), users, topics, "")
        return
    from simulators.wrappers.persona import persona_in

    for i, group in enumerate(groups):
        if group in groups[:i]:
            advice = "a null pair is a group of its own: name: {same_as: …} in the protocol"
            raise document.error(("groups", i), f"the group {group!r} is given twice", advice=advice)
    if alike := first_alike(groups):
        raise document.error(
            ("groups", groups.index(alike[1])),
            f"the groups {alike[0]!r} and {alike[1]!r} have one name but for blanks and capitals",
            allowed="names that differ in a letter, a digit or a sign",
            advice="rename one here and in the protocol",
        )
    if not any(persona_in(user.document) is not None or _foreign(user.document) for user in protocol.users.values()):
        raise document.error(
            ("groups",),
            f"the protocol {protocol.name!r} has no persona, so nothing would show which group a user belongs to",
            advice="take a protocol with a persona, such as fair-treatment, or remove groups",
            key=True,
        )
    for name, user in protocol.users.items():
        _check_user(document, groups, name, user.document)
    for i, group in enumerate(groups):
        _check(document, ("groups", i), users, topics, group)


def _check_user(document: Document, groups: Sequence[str], name: str, user: Document) -> None:
    from simulators.wrappers.persona import persona_in, written_options

    persona = persona_in(user)
    if persona is None:
        if _foreign(user):
            return
        raise user.error(
            (),
            f"the audit plays groups, and the user {name!r} has no persona: its group would be lost",
            advice="put it under `over` of a persona that describes the groups",
        )
    described = written_options(persona)
    if described.group is not None:
        raise persona.error(
            ("group",),
            f"the audit plays the groups {', '.join(groups)}, and this persona is of {described.group!r} alone",
            advice=f"remove `group` here, or `groups` from {document.path}",
        )
    for i, group in enumerate(groups):
        if group not in described.groups:
            raise document.error(
                ("groups", i),
                f"no group {group!r} is described by the persona of the user {name!r}",
                allowed=", ".join(described.groups),
                advice="describe it in the protocol, or remove it here",
            )


def _foreign(user: Document) -> bool:
    """Whether a simulator of another distribution is in it: what that one makes of a group, only it can say."""
    value = user.value
    if not isinstance(value, Mapping):
        return False
    return value.get("simulator") not in SIMULATORS or ("over" in value and _foreign(user.part(("over",))))


def _check(
    document: Document, loc: tuple[str | int, ...], users: Mapping[str, User], topics: Sequence[Topic], group: str
) -> None:
    try:
        check_users(users, topics, traits_of(group))
    except InputError as fault:
        if fault.place is not None:
            raise
        what = f"group {group!r}: {fault.what}" if group else fault.what
        raise document.error(loc, what, allowed=fault.allowed, advice=fault.advice) from None
