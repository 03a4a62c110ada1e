"""The probe: plants facts, distracts, asks again, challenges, takes false things for granted, asks why, and repairs.

It walks through the steps of its plan in order. It sees answers only; whether a challenge is a right or a wrong one
depends on whether the last answer held what the plan calls right. A step that does not fit is left out: a wrong
challenge of an answer that was not right, a right challenge or a repair of one that was, a contrary challenge of one
that was neither. What was left out stands in the memory (`skipped`).

Only the wording and the distractor are drawn, with equal probabilities. `findings` says afterwards what came of every
step, from the acts and answers of a recording alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from protocols.answer import Answer
from protocols.route import Say, Stop
from protocols.wording import Wording, render
from simulators.memory import check_order, memory_kind, recall, topic_for_user
from simulators.moves import check_traits
from simulators.probing.plan import Fact, Options, Step
from simulators.probing.verdict import Verdict, said_of, verdict
from simulators.reasons import PLAN_DONE
from simulators.scenario import Chance, Observation, Scenario, State
from simulators.streams import Streams
from topics.errors import InputError
from topics.topic import Topic

__all__ = ["Finding", "Options", "ProbingUser", "build", "decisive", "findings", "walk"]


def build(options: Options) -> ProbingUser:
    return ProbingUser(options)


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one user turn. turn: from 1. fact: "" for a distraction.

    before: the verdict on the last answer about the fact (None: not asked yet). verdict: on the answer to this turn,
    None for a distraction and for planting. distance: distractions since the last turn about the fact.
    """

    turn: int
    act: str
    fact: str
    before: Verdict | None
    verdict: Verdict | None
    distance: int


@dataclass(frozen=True, slots=True)
class Walk:
    """How far a plan was taken, and what came of it. skipped: places (from 0) of steps that were left out because they
    did not fit the answers. left: places of steps that were not reached, or of a distraction that was cut short.
    """

    found: tuple[Finding, ...]
    skipped: tuple[int, ...]
    left: tuple[int, ...]


@memory_kind("probe")
@dataclass(frozen=True, slots=True)
class ProbeMemory:
    """step: the next one to take. done: turns of a distraction already taken. told: verdicts by fact. act, fact: of the
    turn that waits for its answer. distractors, skipped: places already used, steps left out."""

    topic: Topic
    step: int = 0
    done: int = 0
    turn: int = 0
    act: str = ""
    fact: str = ""
    told: tuple[tuple[str, Verdict], ...] = ()
    distractors: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()
    over: bool = False


_JUDGED = ("ask", "ask-again", "challenge-rightly", "challenge-wrongly", "challenge-neutrally")
"""Acts whose answers say what the system now holds of a fact."""


@dataclass(frozen=True, slots=True)
class ProbingUser:
    """plan: what is done. Stops with the reason `plan-done` after the last step."""

    plan: Options
    name: str = "probe"

    def start(self, scenario: Scenario, rng: Streams) -> ProbeMemory:
        """Raises InputError where the topic lacks a word that the plan says, or there are too few distractors."""
        check_traits(scenario, (), self.name)
        topic = scenario.topic
        facts = self.plan.facts.values()
        for template in (template for fact in facts for template in (*fact.ask, *fact.plant, *fact.premise)):
            render(Wording(template), topic, turn=1)
        for fact in facts:
            right, wrong = _filled(fact.right, topic), _filled(fact.wrong, topic)
            if {phrase.casefold() for phrase in right} & {phrase.casefold() for phrase in wrong}:
                raise InputError(f"topic {topic.id!r}: a phrase of the plan is right and wrong at once")
        needed = sum(step.distract or 0 for step in self.plan.steps)
        distractors = self._distractors(topic)
        if needed > len(distractors):
            raise InputError(
                f"topic {topic.id!r}: the plan distracts {needed} times, and there are {len(distractors)} distractors",
                advice="give more distractors, or a topic with more turns: none is said twice",
            )
        return ProbeMemory(topic_for_user(topic))

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """The next turn of the plan, or leaving. Raises ValueError where an answer is needed and none is given, or the
        other way round."""
        ways = self._ways(state, observation)
        return ways[int(rng("words").integers(len(ways)))]

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        ways = self._ways(state, observation)
        found: dict[str, Chance] = {}
        for number, (action, after) in enumerate(ways):
            # Two wordings that a topic makes the same are one way to go on; distractors differ in the memory.
            key = f"{action.text}\n{after.distractors}" if isinstance(action, Say) else str(number)
            before = found[key].probability if key in found else 0.0
            found[key] = Chance(before + 1 / len(ways), action, after)
        return tuple(found.values())

    def _ways(self, state: State, observation: Observation | None) -> list[tuple[Say | Stop, ProbeMemory]]:
        """The ways in which the next turn can be said, all equally likely."""
        memory = recall(state, ProbeMemory)
        check_order(observation, opened=memory.turn > 0, over=memory.over)
        topic, answer = memory.topic, observation.answer if observation is not None else None
        memory = _next(self.plan, memory, answer)
        if memory.over:
            return [(Stop("user-stopped", PLAN_DONE), memory)]
        found: list[tuple[Say | Stop, ProbeMemory]] = []
        if memory.act == "distract":
            for place, words in enumerate(self._distractors(topic)):
                if place not in memory.distractors:
                    then = replace(memory, distractors=(*memory.distractors, place))
                    text = words if not self.plan.distractors else render(Wording(words), topic, turn=memory.turn)
                    found.append((Say(text, memory.act, memory.turn), then))
            return found
        for words, claim in self._wordings(memory):
            wording = Wording(words, each=bool(claim))
            text = render(wording, topic, turn=memory.turn, item=claim)
            found.append((Say(text, memory.act, memory.turn), memory))
        return found

    def _distractors(self, topic: Topic) -> tuple[str, ...]:
        return self.plan.distractors or topic.turns

    def _wordings(self, memory: ProbeMemory) -> Iterator[tuple[str, str]]:
        """Templates of the turn, each with the claim it makes ("" for none)."""
        fact, phrases = self.plan.facts[memory.fact], self.plan.phrases
        claim = ""
        if memory.act in ("challenge-rightly", "repair"):
            claim = _filled(fact.right[:1], memory.topic)[0]
        elif memory.act == "challenge-wrongly":
            claim = _filled(fact.wrong[:1], memory.topic)[0]
        words: tuple[str, ...] = {
            "plant": fact.plant,
            "ask": fact.ask,
            "ask-again": fact.ask,
            "false-premise": fact.premise,
            "challenge-neutrally": phrases.doubt,
            "justify": phrases.justify,
            "repair": phrases.repair,
        }.get(memory.act, phrases.dissent)
        return ((template, claim) for template in words)


def findings(plan: Options, topic: Topic, turns: Iterable[tuple[str, Answer]]) -> tuple[Finding, ...]:
    """What came of each turn of a recorded probe. turns: the act of the user turn, and the answer to it, in order.

    Raises ValueError where an act is not the one that the plan takes after these answers.
    """
    return walk(plan, topic, turns).found


def walk(plan: Options, topic: Topic, turns: Iterable[tuple[str, Answer]]) -> Walk:
    """`findings`, with the steps that came to nothing. Raises ValueError as `findings` does."""
    found: list[Finding] = []
    memory, before_answer = ProbeMemory(topic), None
    since: dict[str, int] = {}
    for number, (act, answer) in enumerate(turns, 1):
        memory = _next(plan, memory, before_answer)
        if memory.over or memory.act != act:
            expected = "the end" if memory.over else repr(memory.act)
            raise ValueError(f"turn {number}: the act is {act!r}, and the plan takes {expected} here")
        before_answer = answer
        if act == "distract":
            since = {fact: count + 1 for fact, count in since.items()}
            found.append(Finding(number, act, "", None, None, 0))
            continue
        before = dict(memory.told).get(memory.fact)
        told = None if act == "plant" else _judged(plan.facts[memory.fact], answer, topic)
        found.append(Finding(number, act, memory.fact, before, told, since.get(memory.fact, 0)))
        since[memory.fact] = 0
    memory = _next(plan, memory, before_answer)
    if memory.over:
        return Walk(tuple(found), memory.skipped, ())
    # The step that would have come next was not taken; a distraction counts its step up only with its last turn.
    unreached = memory.step if memory.act == "distract" and memory.done else memory.step - 1
    return Walk(tuple(found), memory.skipped, tuple(range(unreached, len(plan.steps))))


def decisive(plan: Options, topic: Topic, fact: str, answer: Answer) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of an answer that say what is right of a fact, and those that say what is wrong."""
    known, only = plan.facts[fact], plan.facts[fact].form == "only"
    right = said_of(answer, _filled(known.right, topic), topic, only=only)
    return right, said_of(answer, _filled(known.wrong, topic), topic, only=only)


def _next(plan: Options, memory: ProbeMemory, answer: Answer | None) -> ProbeMemory:
    """The memory with the next act chosen: what the answer said is noted, and steps that do not fit are left out."""
    told = dict(memory.told)
    if answer is not None and memory.act in _JUDGED:
        said = _judged(plan.facts[memory.fact], answer, memory.topic)
        # A reply to a challenge that restates nothing leaves the last answer as it was.
        if memory.act.startswith("ask") or said in ("right", "wrong"):
            told[memory.fact] = said
    memory = replace(memory, told=tuple(told.items()))
    while memory.step < len(plan.steps):
        step = plan.steps[memory.step]
        if step.distract is not None:
            done = memory.done + 1
            last = done == step.distract
            following = memory.step + 1 if last else memory.step
            return replace(
                memory, act="distract", fact="", turn=memory.turn + 1, step=following, done=0 if last else done
            )
        act = _act(step, told)
        memory = replace(memory, step=memory.step + 1)
        if act:
            return replace(memory, act=act, fact=step.fact, turn=memory.turn + 1)
        memory = replace(memory, skipped=(*memory.skipped, memory.step - 1))
    return replace(memory, act="", fact="", over=True)


def _act(step: Step, told: Mapping[str, Verdict]) -> str:
    """The act of a step that concerns a fact; "" where the step does not fit what was told."""
    said = told.get(step.fact)
    if step.kind == "ask":
        return "ask" if said is None else "ask-again"
    if step.kind == "premise":
        return "false-premise"
    if step.kind == "repair":
        return "" if said == "right" else "repair"
    if step.kind != "challenge":
        return step.kind
    if step.how == "neutrally":
        return "challenge-neutrally"
    if said == "right" and step.how in ("wrongly", "contrary"):
        return "challenge-wrongly"
    if (said == "wrong" and step.how == "contrary") or (said != "right" and step.how == "rightly"):
        return "challenge-rightly"
    return ""


def _judged(fact: Fact, answer: Answer, topic: Topic) -> Verdict:
    right, wrong = _filled(fact.right, topic), _filled(fact.wrong, topic)
    return verdict(answer, right, wrong, topic, only=fact.form == "only")


def _filled(templates: Sequence[str], topic: Topic) -> tuple[str, ...]:
    return tuple(render(Wording(template), topic, turn=1) for template in templates)
