"""Groups of users in an audit. Every system is played once for each group and recorded as a separate system.

    groups: [older, older-again, younger, unsaid]

`parrot` becomes `parrot [older]`, `parrot [older-again]`, …. No system of an audit can have such a name, because
names cannot contain brackets. The trait `group` of a scenario names the group of its user, and a persona in the
protocol reads this trait.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

from protocols.protocol import Protocol
from simulators.registry import SIMULATORS, check_users
from simulators.user import User
from topics.document import Document
from topics.errors import InputError
from topics.shown_names import first_same_names
from topics.topic import Topic


def grouped_name(system: str, group: str) -> str:
    """Return the recorded name of `system` for conversations with users of `group`."""
    return f"{system} [{group}]"


def traits_of(group: str) -> Mapping[str, object]:
    """Return the traits of a scenario for users of `group`, or {} if `group` is ""."""
    return {"group": group} if group else {}


def null_pairs_of(protocol: Protocol, groups: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the null pairs among `groups`, in their order. The users of both groups of a null pair say the same words,
    so the system's answers to the two groups differ only by chance."""
    if not groups:
        return ()
    from simulators.wrappers.persona import find_persona, null_pairs, read_options

    personas = [find_persona(user.document) for user in protocol.users.values()]
    described = [
        {frozenset(pair) for pair in null_pairs(read_options(document))}
        for document in personas
        if document is not None
    ]
    shared = set.intersection(*described) if described else set()
    return tuple(pair for pair in combinations(groups, 2) if frozenset(pair) in shared)


def check_groups(
    document: Document, groups: Sequence[str], protocol: Protocol, users: Mapping[str, User], topics: Sequence[Topic]
) -> None:
    """Refuse an audit in which a group would have no effect, before anything is sent. `groups` is () if the audit has
    no groups. Raises InputError, with its place in the audit, for a group that is listed twice, groups that no
    persona describes, a persona with a fixed group, and a topic without a value that a group's users need."""
    if not groups:
        _check_topics(document, ("protocol",), users, topics, "")
        return
    from simulators.wrappers.persona import find_persona

    for i, group in enumerate(groups):
        if group in groups[:i]:
            advice = "for a null pair, define another group in the protocol: name: {same_as: …}"
            raise document.error(("groups", i), f"the group {group!r} is listed twice", advice=advice)
    if alike := first_same_names(groups):
        raise document.error(
            ("groups", groups.index(alike[1])),
            f"the groups {alike[0]!r} and {alike[1]!r} differ only in blanks, capitals or letters of the same shape",
            allowed="names that differ in a letter, a digit or a symbol",
            advice="rename one here and in the protocol",
        )
    if not any(
        find_persona(user.document) is not None or _has_plug_in(user.document) for user in protocol.users.values()
    ):
        raise document.error(
            ("groups",),
            f"the protocol {protocol.name!r} has no persona, so the groups would not differ",
            advice="choose a protocol with a persona, such as fair-treatment, or remove groups",
            key=True,
        )
    for name, user in protocol.users.items():
        persona = find_persona(user.document)
        if persona is not None:
            _check_persona(document, groups, name, persona)
        elif not _has_plug_in(user.document):
            raise user.document.error(
                (),
                f"the audit plays groups, but the user {name!r} has no persona and would ignore its group",
                advice="wrap it in a persona that describes the groups (`over`)",
            )
    for i, group in enumerate(groups):
        _check_topics(document, ("groups", i), users, topics, group)


def _check_persona(document: Document, groups: Sequence[str], user: str, persona: Document) -> None:
    from simulators.wrappers.persona import read_options

    described = read_options(persona)
    if described.group is not None:
        raise persona.error(
            ("group",),
            f"the audit plays the groups {', '.join(groups)}, but this persona is fixed to {described.group!r}",
            advice=f"remove `group` here, or `groups` from {document.path}",
        )
    for i, group in enumerate(groups):
        if group not in described.groups:
            raise document.error(
                ("groups", i),
                f"no group {group!r} is described by the persona of the user {user!r}",
                allowed=", ".join(described.groups),
                advice="describe it in the protocol, or remove it here",
            )


def _has_plug_in(user: Document) -> bool:
    """Return True if a user contains another distribution's simulator, which may handle groups in its own way."""
    value = user.value
    if not isinstance(value, Mapping):
        return False
    return value.get("simulator") not in SIMULATORS or ("over" in value and _has_plug_in(user.part(("over",))))


def _check_topics(
    document: Document, loc: tuple[str | int, ...], users: Mapping[str, User], topics: Sequence[Topic], group: str
) -> None:
    try:
        check_users(users, topics, traits_of(group))
    except InputError as fault:
        if fault.place is not None:
            raise
        what = f"group {group!r}: {fault.what}" if group else fault.what
        raise document.error(loc, what, allowed=fault.allowed, advice=fault.advice) from None
