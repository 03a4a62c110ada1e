"""Reading of protocols from parsed files. Every fault that would make a run fail is reported, with its position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain, count
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from protocols.answer import Offer
from protocols.graph import find_endless_loop, reachable_states, states_with_way_out
from protocols.labels import Label
from protocols.presses import Press, press_refusal
from protocols.protocol import Protocol
from protocols.rules.registry import read_rule, rule_kinds
from protocols.rules.rule import Rule
from protocols.states import Edge, SimulatedUser, State, Target
from protocols.wording import Fault, Wording, locate_fault, template_faults
from topics.cut_text import Said
from topics.document import Document, StrictModel, name_validator
from topics.errors import InputError, Place, nearest_name, suggestion
from topics.names import LONGEST, WRONG_CHARACTERS, first_lookalikes, name_fault
from topics.unseen_characters import has_visible_text
from topics.yaml_values import Loc

FORMAT = "harvest-protocol/1"

_SIGNS = "_-"  # of names, besides letters and digits


def _check_not_empty(text: str) -> str:
    if not has_visible_text(text):
        raise PydanticCustomError("no_words", "this text is empty")
    return text


class TargetEntry(StrictModel):
    """The target of an edge in a file: either `go: STATE` or `stop: OUTCOME`."""

    go: str | None = None
    stop: Literal["completed", "breakdown"] | None = None

    @model_validator(mode="after")
    def _check_one_target(self) -> TargetEntry:
        if (self.go is None) == (self.stop is None):
            given = "both are given" if self.go is not None else "neither is given"
            raise PydanticCustomError("one_way", "give either `go` or `stop`: {given}", {"given": given})
        return self


class EdgeEntry(TargetEntry):
    """An edge in a file: `{if: RULE, label: o, go: STATE}` or `{otherwise: true, label: x, stop: OUTCOME}`. RULE is
    the name of a rule, or the rule itself."""

    if_: object = Field(default=None, alias="if")
    otherwise: Literal[True] | None = None
    label: Label

    @model_validator(mode="after")
    def _check_one_condition(self) -> EdgeEntry:
        if (self.if_ is None) == (self.otherwise is None):
            given = "both are given" if self.if_ is not None else "neither is given"
            raise PydanticCustomError("one_condition", "give either `if` or `otherwise`: {given}", {"given": given})
        return self


class StateEntry(StrictModel):
    """A state in a file: its words, the simulated user who speaks or the button that is pressed, and the edges that
    depend on the answer. `each`, `then` and `empty` are only for states that go through the topic's turns, and `absent`
    is where a conversation goes on from a state with `press` if there is no such button."""

    say: Annotated[Said, AfterValidator(_check_not_empty)] | None = None
    user: str | None = None
    press: str | int | None = None
    absent: TargetEntry | None = None
    attach: bool = False
    edges: tuple[EdgeEntry, ...] = Field(min_length=1)
    each: Literal["topic.turns"] | None = None
    then: TargetEntry | None = None
    empty: TargetEntry | None = None

    @model_validator(mode="after")
    def _check_one_voice(self) -> StateEntry:
        if self.press is None and (self.say is None) == (self.user is None):
            given = "both are given" if self.say is not None else "neither is given"
            raise PydanticCustomError("one_voice", "give either `say` or `user`: {given}", {"given": given})
        if self.press is not None and (self.say is not None or self.user is not None):
            raise PydanticCustomError("one_act", "a state with `press` must not have `say` or `user`")
        if (self.press is None) != (self.absent is None):
            what = "press and absent belong together: absent is where to go if there is no such button"
            raise PydanticCustomError("absent", what)
        only_said = {"each": self.each, "then": self.then, "empty": self.empty, "attach": self.attach}
        if self.say is None and (key := next((key for key, value in only_said.items() if value), "")):
            raise PydanticCustomError(
                "user_list",
                "`{key}` is only for states with `say`, not for states with `{voice}`",
                {"key": key, "voice": "user" if self.user is not None else "press"},
            )
        return self

    @model_validator(mode="after")
    def _check_list_keys(self) -> StateEntry:
        if self.each is not None and self.then is None:
            raise PydanticCustomError("no_then", "`each` also needs `then`, the target after the last item")
        if self.each is None and (self.then or self.empty):
            key = "then" if self.then else "empty"
            raise PydanticCustomError("no_each", "`{key}` is only for states with `each`", {"key": key})
        return self


class NoMatchEntry(StrictModel):
    """The label of an answer that matches no edge. The conversation then ends with the outcome `no-match`."""

    label: Label


class ProtocolEntry(StrictModel):
    format: Literal["harvest-protocol/1"]
    name: Annotated[str, Field(max_length=LONGEST), name_validator(_SIGNS, first="letter")]
    version: int = Field(ge=1)
    about: str = ""
    turn_limit: int | None = Field(default=None, ge=1, le=10_000)
    rules: dict[str, object] = Field(default_factory=dict)
    users: dict[str, dict[str, object]] = Field(default_factory=dict)
    start: str
    states: dict[str, StateEntry] = Field(min_length=1)
    no_match: NoMatchEntry | None = None
    allow: tuple[Annotated[str, AfterValidator(_check_not_empty)], ...] = ()
    greeted: bool = False


# In a state that goes through a list: `go: next` says the next item.
NEXT = "next"

_RESERVED = {"states": (NEXT,), "rules": ("otherwise", "no-match")}


def read_protocol(document: Document) -> Protocol:
    """Return the protocol in `document`. Raises InputError at the position of the first fault."""
    entry = document.validate_as(ProtocolEntry)
    names: dict[str, Iterable[str]] = {"rules": entry.rules, "users": entry.users, "states": entry.states}
    for key, given in names.items():
        for name in given:
            if name in _RESERVED.get(key, ()):
                raise document.error((key, name), f"{name!r} is a reserved name", advice="rename it", key=True)
            if not _is_name(name):
                fault = "" if len(name) > LONGEST else name_fault(name, _SIGNS, first="letter")
                why = "" if fault in ("", WRONG_CHARACTERS) else f": it {fault}"
                raise document.error(
                    (key, name),
                    f"{name!r} is not a valid name{why}",
                    allowed="a letter, then letters, digits, - and _ (60 characters at most)",
                    key=True,
                )
        if alike := first_lookalikes(given):
            what = f"the names {alike[0]!r} and {alike[1]!r} look alike"
            raise document.error((key, alike[1]), what, advice="rename one", key=True)
    rules = _Rules(document, entry)
    rules.read_all()
    if entry.start not in entry.states:
        raise _unknown_name(document, ("start",), "state", entry.start, entry.states)
    users = {name: _read_user(document, name, options) for name, options in entry.users.items()}
    states = {name: _read_state(document, name, state, entry, rules) for name, state in entry.states.items()}
    protocol = Protocol(
        name=entry.name,
        version=entry.version,
        start=entry.start,
        states=MappingProxyType(states),
        rules=MappingProxyType(rules.in_order()),
        turn_limit=entry.turn_limit,
        no_match=entry.no_match.label if entry.no_match else None,
        about=entry.about,
        users=MappingProxyType(users),
        allow=entry.allow,
        greeted=entry.greeted,
    )
    if states[entry.start].press is not None and not entry.greeted:
        what = f"{entry.start!r} presses a button, but nothing is offered yet"
        raise document.error(("start",), what, advice="start with `say` or `user`, or write `greeted: true`")
    _check_graph(document, protocol)
    for name in protocol.users:
        if name not in {state.user for state in protocol.states.values()}:
            raise document.error(
                ("users", name),
                f"user {name!r} is not used in any state",
                advice=f"give a state user: {name}, or remove it",
                key=True,
            )
    return protocol


def _is_name(name: str) -> bool:
    return 0 < len(name) <= LONGEST and not name_fault(name, _SIGNS, first="letter")


class _Rules:
    def __init__(self, document: Document, entry: ProtocolEntry) -> None:
        self.document, self.entry = document, entry
        self.read: dict[str, Rule] = {}
        self.open: list[str] = []
        self.inline: dict[str, Rule] = {}

    def read_all(self) -> None:
        for name in self.entry.rules:
            self.read_named(name, ("rules", name))

    def in_order(self) -> dict[str, Rule]:
        """Return the named rules in the order of the file, and then those of the edges."""
        return {**{name: self.read[name] for name in self.entry.rules}, **self.inline}

    def read_condition(self, condition: object, loc: Loc) -> str:
        """Return the name of an edge's rule. A rule that is written in the edge gets a name: its kind, with a number
        if another rule has this name. Edges with equal rules share a name, so the file is as if it named the rule."""
        if isinstance(condition, str):
            if condition not in self.entry.rules and condition in rule_kinds():
                what = f"no rule of this file is called {condition!r}, which is a kind of rule"
                raise self.document.error(loc, what, advice=f"write the rule itself: {{{condition}: {{…}}}}")
            self.read_named(condition, loc)
            return condition
        if not isinstance(condition, dict):
            raise self.document.error(
                loc,
                "`if` must be a rule",
                allowed="the name of a rule in this file, or one kind with its options, such as {urls: {at_least: 1}}",
            )
        rule = read_rule(self.document, loc, condition, self.read_named)
        for name, other in self.inline.items():
            if other == rule:
                return name
        kind = next(iter(condition))
        kind = kind if _is_name(f"{kind}-999") and kind not in _RESERVED["rules"] else "rule"
        names = chain([kind], (f"{kind}-{number}" for number in count(2)))
        name = next(name for name in names if name not in self.entry.rules and name not in self.inline)
        self.inline[name] = rule
        return name

    def read_named(self, name: str, loc: Loc) -> Rule:
        if name not in self.entry.rules:
            raise _unknown_name(self.document, loc, "rule", name, self.entry.rules)
        if name in self.open:
            way = " → ".join((*self.open[self.open.index(name) :], name))
            raise self.document.error(loc, f"rule {name!r} refers to itself: {way}")
        if name not in self.read:
            self.open.append(name)
            self.read[name] = read_rule(self.document, ("rules", name), self.entry.rules[name], self.read_named)
            self.open.pop()
        return self.read[name]


def _unknown_name(document: Document, loc: Loc, what: str, name: str, known: Iterable[str]) -> InputError:
    hint = suggestion(name, known)
    return document.error(loc, f"unknown {what} {name!r}{hint}", allowed=", ".join(known) or f"no {what}s in this file")


def _read_user(document: Document, name: str, options: dict[str, object]) -> SimulatedUser:
    """Read a simulated user from the file. Its options are checked when the simulator is built."""
    loc: Loc = ("users", name)
    if "simulator" not in options:
        meant = nearest_name("simulator", options)
        raise document.error(
            loc,
            f"user {name!r} has no simulator" + (f": did you mean {meant!r}?" if meant else ""),
            advice="add simulator: NAME, for example simulator: markov",
            key=True,
        )
    simulator = options["simulator"]
    if not isinstance(simulator, str):
        raise document.error((*loc, "simulator"), "the simulator's name is not text", allowed="a name such as markov")
    given = {key: plain_value(value) for key, value in options.items() if key != "simulator"}
    return SimulatedUser(simulator, MappingProxyType(given), document.part(loc))


def plain_value(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): plain_value(part) for key, part in value.items()}
    return [plain_value(part) for part in value] if isinstance(value, (list, tuple)) else value


def _read_state(document: Document, name: str, state: StateEntry, entry: ProtocolEntry, rules: _Rules) -> State:
    loc: Loc = ("states", name)
    if state.user is not None and state.user not in entry.users:
        raise _unknown_name(document, (*loc, "user"), "user", state.user, entry.users)
    wording = None if state.say is None else Wording(state.say, each=state.each is not None)
    fault = next(iter(template_faults(wording)), None) if wording else None
    if fault and state.say is not None:
        place = _place_in_template(document, (*loc, "say"), state.say, fault)
        raise InputError(f"states.{name}.say: {fault.what}", place=place, allowed=fault.allowed)
    edges = []
    for number, edge in enumerate(state.edges):
        here = (*loc, "edges", number)
        if number and state.edges[number - 1].otherwise:
            raise document.error(here, "this edge is never reached because it follows `otherwise`", advice="move it up")
        rule = "" if edge.if_ is None else rules.read_condition(edge.if_, (*here, "if"))
        if edge.go != NEXT:
            target = _read_target(document, here, edge, entry)
        elif state.each is not None:
            target = Target(state=name)
        else:
            what = "`next` is only for states with `each`; this one has no list"
            raise document.error((*here, "go"), what, allowed=", ".join(entry.states))
        edges.append(Edge(rule, edge.label, target))
    if not state.edges[-1].otherwise and entry.no_match is None:
        raise document.error(
            (*loc, "edges"),
            f"state {name!r} has no edge for answers that match none of its rules",
            advice="end it with {otherwise: true, label: x, …}, or add no_match: {label: x} to the protocol",
            key=True,
        )
    return State(
        name,
        wording,
        tuple(edges),
        then=_read_target(document, (*loc, "then"), state.then, entry) if state.then else None,
        empty=_read_target(document, (*loc, "empty"), state.empty, entry) if state.empty else None,
        user=state.user or "",
        press=None if state.press is None else _read_press(document, (*loc, "press"), state.press, entry.allow),
        absent=_read_target(document, (*loc, "absent"), state.absent, entry) if state.absent else None,
        attach=state.attach,
    )


def _read_press(document: Document, loc: Loc, written: str | int, allow: tuple[str, ...]) -> Press:
    press = Press(written)
    try:
        press.check()
    except ValueError as fault:
        allowed = 'first, the number of a button, its title, or a bounded pattern such as "/hotel|inn/"'
        raise document.error(loc, f"press: {fault}", allowed=allowed) from None
    if press.title and (refused := press_refusal(Offer(press.title), allow)):
        advice = f"if that is harmless for this system, add {press.title!r} to `allow` of the protocol"
        raise document.error(loc, f"{press.title!r} may not be pressed: {refused}", advice=advice)
    return press


def _read_target(document: Document, loc: Loc, target: TargetEntry, entry: ProtocolEntry) -> Target:
    if target.go is not None and target.go not in entry.states:
        raise _unknown_name(document, (*loc, "go"), "state", target.go, entry.states)
    return Target(state=target.go or "", outcome=target.stop or "")


def _check_graph(document: Document, protocol: Protocol) -> None:
    alive = reachable_states(protocol.start, protocol.states)
    for name in protocol.states:
        if name not in alive:
            raise document.error(
                ("states", name),
                f"state {name!r} is never reached from {protocol.start!r}",
                advice="add an edge to it, or remove it",
                key=True,
            )
    loop = find_endless_loop(protocol.start, protocol.states, silent=True)
    if loop:
        raise document.error(
            ("states", loop[0]),
            f"the protocol has an endless loop without any words: {' → '.join((*loop, loop[0]))}",
            advice="let `then` or `empty` leave the loop",
            key=True,
        )
    if protocol.turn_limit is not None:
        return
    ending = states_with_way_out(protocol.states)
    for name in protocol.states:
        if name not in ending:
            raise document.error(
                ("states", name),
                f"state {name!r} has no path to a stop",
                advice="add an edge with stop: completed, or a turn_limit",
                key=True,
            )
    loop = find_endless_loop(protocol.start, protocol.states)
    if loop:
        raise document.error(
            ("states", loop[0]),
            f"the protocol has an endless loop: {' → '.join((*loop, loop[0]))}",
            advice="add a turn_limit, or an edge that leaves the loop",
            key=True,
        )


def _place_in_template(document: Document, loc: Loc, template: str, fault: Fault) -> Place:
    start = document.place(loc)
    lines = document.source.splitlines(keepends=True)
    if not lines or not start.line:
        return start
    offset = sum(len(line) for line in lines[: start.line - 1]) + start.column - 1
    block = document.source[offset : offset + 1] in ("|", ">")
    if not fault.words:
        return Place(start.path, start.line + fault.line, 1) if block else start
    expression, before = locate_fault(fault, template)
    for number, match in enumerate(re.finditer(expression, document.source[offset:])):
        if number == before:
            found = offset + match.start()
            line, line_begins = document.source.count("\n", 0, found) + 1, document.source.rfind("\n", 0, found)
            return Place(start.path, line, found - line_begins)
    return start
