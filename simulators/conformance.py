"""Checks that a simulated user keeps the promises of `User`.

    scenarios = [Scenario(topic) for topic in load_topics("fairweb-45").topics[:2]]
    findings = find_broken_promises(MyUser(), scenarios)
    assert_conforms(MyUser(), scenarios)          # in a test: fails and lists every finding

If the user gets words from a model or person, wrap it in `simulators.outside.SuppliedUser` first.
"""

import copy
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from protocols.answer import Answer
from protocols.labels import NOT_USEFUL, USEFUL
from protocols.route import Say, Stop
from simulators.memory import decode_memory, encode_memory
from simulators.promises import PROMISES, BrokenPromise, next_action
from simulators.reasons import MEANING
from simulators.user import Chance, EnumerableUser, Observation, Scenario, State, Streams, User

if TYPE_CHECKING:
    import numpy

# Answers the user sees, in all combinations. Each has words that no user has, so that an echo is detected.
ANSWERS: tuple[Observation, ...] = (
    Observation(Answer("Here are three: Alpha, Beta and Gamma. qzanswerone"), USEFUL),
    Observation(Answer("Which year do you mean? qzanswertwo"), None),
    Observation(Answer("Sorry, I cannot help with that. qzanswerthree"), NOT_USEFUL),
    Observation(Answer(""), NOT_USEFUL),
    Observation(Answer("HTTP 500 Internal Server Error: Traceback (most recent call last) qzanswerfour"), NOT_USEFUL),
)

_MARKS = tuple(f"qzanswer{number}" for number in ("one", "two", "three", "four"))

_DRAWS = 300  # determines a share to ±.03
_LEAST_P = 1e-6  # a false complaint once in a million checks


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken promise (a key of PROMISES), with the topic, the user turn and a description of what happened."""

    promise: str
    where: str
    detail: str

    def __str__(self) -> str:
        return f"{self.where}: {PROMISES[self.promise]}; but {self.detail}"


class _NotAnAction(Exception):
    """Raised when the user returns something that is not an action."""


@dataclass(frozen=True, slots=True)
class _RecordingStreams(Streams):
    """Streams that record the purposes of all draws. Derived streams share the record."""

    taken: list[tuple[str | int, ...]] = field(default_factory=list)

    def __call__(self, purpose: str) -> "numpy.random.Generator":
        self.taken.append((*self.names, purpose))
        return Streams.__call__(self, purpose)


def assert_conforms(user: User, scenarios: Iterable[Scenario], *, seeds: int = 10, most_turns: int = 500) -> None:
    """Raise AssertionError, which lists every broken promise, if a simulated user breaks promises of `User`. The
    arguments are as in `find_broken_promises`."""
    findings = find_broken_promises(user, scenarios, seeds=seeds, most_turns=most_turns)
    if findings:
        raise AssertionError(f"{len(findings)} promises are broken:\n" + "\n".join(str(one) for one in findings))


def find_broken_promises(
    user: User,
    scenarios: Iterable[Scenario],
    *,
    answers: Sequence[Observation] = ANSWERS,
    seeds: int = 10,
    most_turns: int = 500,
) -> list[Finding]:
    """Return the promises that the user breaks, at most one finding per promise and scenario. Each scenario is played
    once for each seed, with answers drawn from `answers`. A conversation of more than `most_turns` user turns is a
    finding. An error that the user raises in a conversation is not caught."""
    findings: list[Finding] = []
    if not isinstance(user.name, str) or not user.name.strip():
        findings.append(Finding("name", "the user", f"its name is {user.name!r}"))
    for scenario in scenarios:
        look = _ScenarioCheck(user, scenario, tuple(answers), {})
        with suppress(_NotAnAction):
            for seed in range(seeds):
                look.converse(seed, most_turns)
        findings.extend(look.found.values())
    return findings


@dataclass(frozen=True, slots=True)
class _Fork:
    state: State
    seen: Observation | None
    rng: Streams
    action: Say | Stop


@dataclass(slots=True)
class _ScenarioCheck:
    """The findings for one scenario. `looked` counts the decisions whose distribution was compared with draws."""

    user: User
    scenario: Scenario
    answers: tuple[Observation, ...]
    found: dict[str, Finding]
    looked: int = 0

    def add_finding(self, promise: str, turn: int, detail: str) -> None:
        self.found.setdefault(promise, Finding(promise, f"topic {self.scenario.id}, user turn {turn}", detail))

    def converse(self, seed: int, most_turns: int) -> None:
        rng = Streams(seed, (self.user.name, self.scenario.id, 1))
        system = Streams(seed, ("conformance",))
        state = self._start_state(rng)
        topic = self.scenario.topic
        other_gold = replace(topic.type, attributes=(*topic.type.attributes, "OTHER"))
        twin = self.user.start(replace(self.scenario, topic=replace(topic, type=other_gold)), rng.at(0))
        self._report_broken("order", 1, state, self.answers[0], rng.at(1), "an answer before the opening is taken")
        seen: Observation | None = None
        forks: list[_Fork] = []
        for turn in range(1, most_turns + 2):
            here = rng.at(turn)
            action, after = self._decide_turn(state, seen, here, turn)
            forks.append(_Fork(state, seen, here, action))
            done, twin = self.user.respond(twin, seen, here)
            if done != action:
                self.add_finding("gold", turn, "other attribute sets of the topic's type change what it does")
            if isinstance(action, Stop):
                self._check_stop(action, turn)
                self._report_broken("over", turn, after, self.answers[0], rng.at(turn + 1), "it goes on")
                self._visit_forks(forks)
                return
            self._check_words(action, turn)
            self._report_broken("order", turn, after, None, rng.at(turn + 1), "it goes on without an answer")
            state = after
            seen = self.answers[int(system(f"{turn}").integers(len(self.answers)))]
        self.add_finding("ends", most_turns, f"it goes on after {most_turns} turns")

    def _visit_forks(self, forks: Sequence[_Fork]) -> None:
        for turn, fork in enumerate(forks, 1):
            try:
                again, _ = self.user.respond(_copy_state(fork.state), fork.seen, fork.rng)
            except Exception as fault:
                self.add_finding("forks", turn, f"it then raises {type(fault).__name__}: {fault}")
            else:
                if again != fork.action:
                    self.add_finding("forks", turn, f"it then {_describe_action(again)}")

    def _start_state(self, rng: Streams) -> State:
        counted = _RecordingStreams(rng.seed, (*rng.names, 0))
        state = self.user.start(self.scenario, counted)
        self._streams(counted, 0)
        if self.user.start(self.scenario, rng.at(0)) != state:
            self.add_finding("determinism", 0, "a second start gives another memory")
        return self._restored_state(state, 0)

    def _decide_turn(self, state: State, seen: Observation | None, rng: Streams, turn: int) -> tuple[Say | Stop, State]:
        before = _describe_state(state)
        counted = _RecordingStreams(rng.seed, rng.names)
        # Every decision gets its own memory, so that a user that changes it only harms itself.
        given = _copy_state(state)
        action, after = self._call_user(given, seen, counted, turn)
        self._streams(counted, turn)
        if _describe_state(given) != before:
            self.add_finding("pure", turn, "the memory it was given is another one afterwards")
        again = self.user.respond(_copy_state(state), seen, rng)
        if again[0] != action or _describe_state(again[1]) != _describe_state(after):
            self.add_finding("determinism", turn, "asked again, it does something else")
        if isinstance(self.user, EnumerableUser) and "pure" not in self.found:
            self._check_enumeration(self.user, state, seen, action, turn)
        return action, self._restored_state(after, turn)

    def _call_user(self, state: State, seen: Observation | None, rng: Streams, turn: int) -> tuple[Say | Stop, State]:
        try:
            return next_action(self.user, state, seen, rng)
        except BrokenPromise as fault:
            self.add_finding(fault.promise, turn, fault.detail)
            raise _NotAnAction from None

    def _restored_state(self, state: State, turn: int) -> State:
        try:
            text = json.dumps(encode_memory(state), allow_nan=False)
            back = decode_memory(json.loads(text))
        except (TypeError, ValueError) as fault:
            self.add_finding("json", turn, f"the memory cannot be written: {fault}")
            return state
        # In a mapping a tuple is read back as a list, which is equivalent.
        if json.dumps(encode_memory(back)) != text or (not isinstance(state, Mapping) and back != state):
            self.add_finding("json", turn, "the memory is another one after a journey through JSON")
        return back

    def _streams(self, counted: _RecordingStreams, turn: int) -> None:
        twice = [names for names, times in Counter(counted.taken).items() if times > 1]
        if twice:
            self.add_finding("streams", turn, f"{twice[0]} is taken more than once")

    def _report_broken(
        self, promise: str, turn: int, state: State, seen: Observation | None, rng: Streams, otherwise: str
    ) -> None:
        try:
            self.user.respond(_copy_state(state), seen, rng)
        except ValueError:
            return
        self.add_finding(promise, turn, otherwise)

    def _check_words(self, action: Say, turn: int) -> None:
        if action.turn != turn:
            self.add_finding("turns", turn, f"it calls this turn {action.turn}")
        if not action.text.strip():
            self.add_finding("words", turn, "it says nothing")
        if not action.state.strip():
            self.add_finding("words", turn, "it does not say what it does (Say.state)")
        echoed = [mark for mark in _MARKS if mark in action.text.lower()]
        if echoed:
            self.add_finding("echo", turn, f"it says {action.text[:120]!r}")

    def _check_stop(self, action: Stop, turn: int) -> None:
        if turn == 1:
            self.add_finding("turns", turn, "it leaves before its first turn")
        if action.outcome != "user-stopped" or action.reason not in MEANING:
            self.add_finding("stop", turn, f"it stops with {action.outcome!r}, {action.reason!r}")

    def _check_enumeration(
        self, user: EnumerableUser, state: State, seen: Observation | None, action: Say | Stop, turn: int
    ) -> None:
        try:
            chances = user.distribution(state, seen)
        except TypeError:  # raised by a user over one that cannot be enumerated
            return
        total = math.fsum(chance.probability for chance in chances)
        if not chances or min(chance.probability for chance in chances) <= 0 or abs(total - 1) > 1e-9:
            self.add_finding("distribution", turn, f"it has {len(chances)} chances, together {total!r}")
            return
        if action not in {chance.action for chance in chances}:
            self.add_finding("draw", turn, f"it does what has no probability: it {_describe_action(action)}")
            return
        if self.looked < 5 and len(chances) > 1:
            self.looked += 1
            p = _fit_p_value(user, state, seen, chances)
            if p < _LEAST_P:
                self.add_finding("draw", turn, f"{_DRAWS} draws do not look like the distribution (p = {p:.1e})")


def _fit_p_value(user: User, state: State, seen: Observation | None, chances: Sequence[Chance]) -> float:
    """Return the p-value of a χ² test of the draws. Actions with fewer than 5 expected draws are pooled."""
    expected: dict[Say | Stop, float] = {}
    for chance in chances:
        expected[chance.action] = expected.get(chance.action, 0.0) + _DRAWS * chance.probability
    drawn = Counter(user.respond(state, seen, Streams(seed, ("draws",)))[0] for seed in range(_DRAWS))
    if drawn.keys() - expected.keys():
        return 0.0
    rare = [action for action, n in expected.items() if n < 5]
    cells = [(drawn[action], n) for action, n in expected.items() if n >= 5]
    if rare:
        cells.append((sum(drawn[action] for action in rare), sum(expected[action] for action in rare)))
    statistic = sum((seen_ - n) ** 2 / n for seen_, n in cells)
    # P(χ² ≥ statistic), by the cube-root approximation of Wilson and Hilferty (1931, PNAS 17, 684–688): good to 1e-3
    # of the probability if the fit is bad.
    freedom = len(cells) - 1
    if freedom < 1:
        return 1.0
    variance = 2 / (9 * freedom)
    z = ((statistic / freedom) ** (1 / 3) - (1 - variance)) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2)) / 2


def _describe_action(action: Say | Stop) -> str:
    if isinstance(action, Stop):
        return f"stops ({', '.join(filter(None, (action.outcome, action.reason)))})"
    return f"says {action.text!r} ({action.act or action.state})"


def _describe_state(state: State) -> str:
    try:
        return json.dumps(encode_memory(state), sort_keys=True)
    except (TypeError, ValueError):
        return repr(state)


def _copy_state(state: State) -> State:
    try:
        return copy.deepcopy(state)
    except (TypeError, ValueError):  # it has an invalid value, which was noted
        return state
