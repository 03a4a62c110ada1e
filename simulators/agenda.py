"""The agenda user, which has a goal of constraints and requests, and a stack of acts that it still has to say.

J. Schatzmann, B. Thomson, K. Weilhammer, H. Ye, S. Young, "Agenda-Based User Simulation for Bootstrapping a POMDP
Dialogue System", NAACL-HLT 2007: the goal is G = (C, R), and the agenda A is a stack of acts. Here the top of the
stack is the act that waits for an answer. An act is removed only after it was answered. Each decision follows these
steps:

1. Opening: the first request is asked. Constraints are volunteered one after the other while a draw with probability
   `initiative` succeeds: P(k of n) = i^k·(1 - i) for k < n, i^n for k = n.
2. A clarifying question (`protocols.questions`), whatever its label, is answered with probability `cooperativeness`.
   The user says `inform` with the constraint or fact whose slot or value the question names, `unsure` for a slot it
   knows nothing about, `inform` with the `fallback` if there is a fallback, or else `no-preference`. If the user
   ignores the question (`insist`), the stack stays as it is, and nothing is said twice. If the question names several
   slots, the slot whose words make up most of the question is used.
3. If the top was not answered (label x; without a label: an empty answer, an error page or a refusal), the next
   unsaid constraint is added with probability `initiative` (`refine`). Otherwise the top is said again (`insist`).
4. If the top was answered, it is removed. Each unsaid constraint is said, in order, with probability `initiative`
   (`refine`, which then waits for an answer). If none is said, the next request follows (`ask`), if any is left.
5. If a change of the goal is due, it is said instead (`revise`) and then waits for an answer. Constraints and facts
   change with it. The goal is reached only after all changes were said; pending changes are then said early.

More than `patience` turns in a row without an answer end the conversation: as `frustrated` if the last reply was
useless, as `patience` if it was a question. If the option `questions` is given, questions are counted separately, and
more than `questions` in a row end the conversation as `patience`.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Annotated

from pydantic import Field, model_validator

from protocols.questions import Question, clarifying_question
from protocols.route import answer_class
from simulators.content_words import content_words, share_of_words
from simulators.memory import memory_kind, topic_for_user
from simulators.moves import Memory, Move, Plan, PlanningUser, check_traits
from simulators.phrasing import ItemWords, Phrasebook, Template, Variants, fill_template, phrasebook
from simulators.reasons import FRUSTRATED, GOAL_REACHED, PATIENCE
from simulators.scripted import judge_unlabelled
from simulators.stopping.hazard import Hazard
from simulators.stopping.library import StopOption
from simulators.stopping.model import Experience, update_experience
from simulators.user import Observation, Scenario, Streams
from topics.document import StrictModel, validation_error
from topics.errors import InputError, suggestion

WORDS: Mapping[str, tuple[str, ...]] = {
    "ask": ("{{ item }}",),
    "insist": ("That does not answer my question. {{ item }}", "Please answer this: {{ item }}", "Again: {{ item }}"),
    "refine": ("{{ item }}", "I should add: {{ item }}", "One more thing. {{ item }}"),
    "inform": ("{{ item }}", "To your question: {{ item }}"),
    "no-preference": ("It does not matter to me.", "No preference.", "Whatever you think is best."),
    "unsure": ("I do not know that.", "That is something I do not know."),
    "revise": ("{{ item }}",),
}

# `ask` a request, `insist` if it was not answered, `refine` it by volunteering a constraint, `inform`, `unsure` and
# `no-preference` as answers to the system's question, `revise` the need.
ACTS = tuple(WORDS)

_REQUEST, _REFINED = "request", "refined"
_SEPARATORS = re.compile(r"[_-]+")
Probability = Annotated[float, Field(ge=0, le=1)]


class Change(StrictModel):
    turn: int = Field(ge=2, le=1000, description="the user turn at which it is said, or earlier if all is answered")
    slot: str = Field(min_length=1, description="slot of the constraint or fact; a new slot becomes a constraint")
    say: Template = Field(description="how the user says it")
    becomes: Template | None = Field(
        default=None,
        description="the constraint or fact from then on; default: a constraint is dropped, a fact no longer known",
    )


class Options(StrictModel):
    """Options of the agenda user. The goal is the trait `goal`, else the option `goal`, else the topic's request."""

    requests: Variants = Field(
        default=("{{ topic.request }}",), description="requests, in the order in which they are asked"
    )
    constraints: dict[str, Template] = Field(default={}, description="how the user states each, by slot such as year")
    facts: dict[str, Template] = Field(default={}, description="facts the user tells if asked, by slot")
    unknown: tuple[str, ...] = Field(default=(), description="slots the user knows nothing about, and says so")
    changes: tuple[Change, ...] = Field(default=(), description="of constraints and facts, in the order of their turns")
    initiative: Probability = Field(default=0.5, description="probability of saying a constraint unasked")
    cooperativeness: Probability = Field(default=1.0, description="probability of answering a question of the system")
    patience: int = Field(
        default=3, ge=0, le=1000, description="turns in a row without an answer that the user tolerates"
    )
    questions: int | None = Field(
        default=None,
        ge=0,
        le=1000,
        description="questions in a row that the user tolerates; default: they count as turns without an answer",
    )
    fallback: Template | None = Field(
        default=None, description="the reply to a question that names no constraint; default: no preference"
    )
    words: ItemWords = Field(default={}, description="ways to say each act")
    stop: StopOption | None = Field(default=Hazard(), description="stop model; null: leaves only by goal and patience")

    @model_validator(mode="after")
    def _check_goal(self) -> "Options":
        known = Counter((*self.constraints, *self.facts, *self.unknown))
        for where in ("constraints", "facts", "unknown"):
            if not all(map(str.strip, getattr(self, where))):
                raise validation_error(f"{where}: a slot has no name", allowed="a name such as year", at=(where,))
        if twice := next((slot for slot, count in known.items() if count > 1), None):
            at = ("unknown", self.unknown.index(twice)) if twice in self.unknown else ("facts", twice)
            raise validation_error(
                f"the slot {twice!r} is given twice, in constraints, facts or unknown",
                allowed="one entry for each slot",
                advice="remove or rename it in one place",
                at=at,
            )
        for number, (before, one) in enumerate(pairwise(self.changes), 1):
            if one.turn <= before.turn:
                raise validation_error(
                    "changes: each change must be at a later turn than the previous one",
                    allowed=f"a turn after {before.turn}",
                    advice="list the changes by turn, at most one for each turn",
                    at=("changes", number, "turn"),
                )
        slots = {*self.constraints, *self.facts}
        for number, change in enumerate(self.changes):
            if change.becomes is None and change.slot not in slots:
                raise validation_error(
                    f"changes: there is no {change.slot!r} to drop{suggestion(change.slot, slots)}",
                    allowed=", ".join(sorted(slots)) or "none: there are no constraints or facts by then",
                    advice="name one of them, or give its new value",
                    at=("changes", number, "slot"),
                )
            slots = slots | {change.slot} if change.becomes is not None else slots - {change.slot}
        return self


@memory_kind("agenda")
@dataclass(frozen=True, slots=True, kw_only=True)
class AgendaMemory(Memory):
    """The memory of the agenda user.

    - `stack`: pairs (kind, text), with the top last.
    - `constraints`, `facts`: pairs (slot, text).
    - `said`, `unknown`: slots that were said, and slots the user knows nothing about.
    - `requests`: the initial number of requests.
    - `changes`: pending changes as (turn, slot, words, text), with "" as the text of a dropped slot.
    - `without`: the number of turns in a row without an answer.
    - `asked`: the number of unanswered questions among these turns, if counted separately.
    - `passed_over`: the questions of the system that the user ignored.
    - `fallback`: the text for questions that match no slot, or "".
    """

    stack: tuple[tuple[str, str], ...]
    constraints: tuple[tuple[str, str], ...]
    requests: int
    said: tuple[str, ...] = ()
    without: int = 0
    passed_over: int = 0
    fallback: str = ""
    asked: int = 0
    facts: tuple[tuple[str, str], ...] = ()
    unknown: tuple[str, ...] = ()
    changes: tuple[tuple[int, str, str, str], ...] = ()
    experience: Experience = field(default_factory=Experience)

    @property
    def top_part(self) -> str:
        return self.stack[-1][1]

    @property
    def remaining_parts(self) -> tuple[tuple[str, str], ...]:
        return tuple(one for one in self.constraints if one[0] not in self.said)

    def change_move(self) -> "Move[AgendaMemory]":
        """Return the move that says the next change, with probability 1."""
        _, slot, words, text = self.changes[0]
        was = {**dict(self.constraints), **dict(self.facts)}.get(slot)
        constraints = tuple(one for one in self.constraints if one[0] != slot)
        facts = tuple(one for one in self.facts if one[0] != slot)
        a_fact = len(facts) < len(self.facts)
        unknown = tuple(one for one in self.unknown if one != slot)
        if not text:
            unknown = (*unknown, slot) if a_fact else unknown
        elif a_fact:
            facts = (*facts, (slot, text))
        else:
            constraints = (*constraints, (slot, text))
        # Requests of the old need no longer wait for an answer.
        stack = tuple(one for one in self.stack if one != (_REFINED, was))
        after = replace(
            self,
            constraints=constraints,
            facts=facts,
            unknown=unknown,
            said=(*self.said, slot) if slot not in self.said else self.said,
            stack=(*stack, (_REFINED, words)),
            changes=self.changes[1:],
        )
        return Move(1.0, "revise", words, after)


@dataclass(frozen=True)
class AgendaUser(PlanningUser[AgendaMemory]):
    """A user that works through an agenda, as described in the module docstring.

    The trait `goal` is {requests: [text, …], constraints: {slot: text}, facts: {slot: text}, unknown: [slot, …]},
    where only `requests` is required. The coverage for stop models is the share of requests answered. The user leaves
    as `goal-reached`, `frustrated` or `patience`, or with the stop model's reason.
    """

    options: Options
    phrasebook: Phrasebook
    name: str = "agenda"
    memory = AgendaMemory

    def start(self, scenario: Scenario, rng: Streams) -> AgendaMemory:
        check_traits(scenario, ("goal",), self.name)
        requests, constraints, facts, unknown = self._read_goal(scenario)
        changes = tuple(
            (
                one.turn,
                one.slot,
                fill_template(one.say, scenario.topic, f"the change of {one.slot!r}"),
                fill_template(one.becomes, scenario.topic, f"the change of {one.slot!r}") if one.becomes else "",
            )
            for one in self.options.changes
        )
        said = [*constraints.values(), *(text for _, slot, _, text in changes if text and slot not in facts)]
        told = [*facts.values(), *(text for _, slot, _, text in changes if text and slot in facts)]
        words = [words for _, _, words, _ in changes]
        fallback = fill_template(self.options.fallback, scenario.topic, "the fallback") if self.options.fallback else ""
        known = [*said, *told, *filter(None, [fallback])]
        asked = [*requests, _join_texts(requests[0], said)]
        self.phrasebook.check(
            scenario.topic,
            {"ask": asked, "insist": [*asked, *said, *words], "refine": said, "inform": known, "revise": words},
        )
        return AgendaMemory(
            topic=topic_for_user(scenario.topic),
            stack=tuple((_REQUEST, request) for request in reversed(requests)),
            constraints=tuple(constraints.items()),
            requests=len(requests),
            fallback=fallback,
            facts=tuple(facts.items()),
            unknown=unknown,
            changes=changes,
        )

    def _read_goal(self, scenario: Scenario) -> tuple[list[str], dict[str, str], dict[str, str], tuple[str, ...]]:
        topic, given = scenario.topic, scenario.traits.get("goal")
        if given is None:
            return (
                [fill_template(one, topic, f"request {number}") for number, one in enumerate(self.options.requests, 1)],
                {
                    slot: fill_template(one, topic, f"constraint {slot!r}")
                    for slot, one in self.options.constraints.items()
                },
                {slot: fill_template(one, topic, f"fact {slot!r}") for slot, one in self.options.facts.items()},
                self.options.unknown,
            )
        match given:
            case {"requests": [*requests], **rest} if set(rest) <= {"constraints", "facts", "unknown"}:
                constraints, facts = rest.get("constraints", {}), rest.get("facts", {})
                unknown = rest.get("unknown", ())
                if (
                    isinstance(constraints, Mapping)
                    and isinstance(facts, Mapping)
                    and isinstance(unknown, (list, tuple))
                    and requests
                    and all(
                        isinstance(one, str) and one.strip()
                        for one in (*requests, *constraints, *constraints.values(), *facts, *facts.values(), *unknown)
                    )
                ):
                    return (
                        [str(one) for one in requests],
                        {str(slot): str(text) for slot, text in constraints.items()},
                        {str(slot): str(text) for slot, text in facts.items()},
                        tuple(map(str, unknown)),
                    )
        raise InputError(
            f"topic {topic.id!r}: the trait 'goal' does not have the form of a goal",
            allowed="{requests: [text, …], constraints: {slot: text}, facts: {slot: text}, unknown: [slot, …]}, at "
            "least one request, no empty text or slot",
        )

    def plan(self, memory: AgendaMemory, observation: Observation | None) -> Plan[AgendaMemory]:
        if observation is None:
            return Plan(memory, self.phrasebook, (), self._opening_moves(memory))
        # Labels judge an answer for a study; the user itself recognises a question.
        question = clarifying_question(observation.answer)
        took = (
            "question"
            if question
            else answer_class(observation.label) or judge_unlabelled(memory.topic, observation.answer)
        )
        answered = took in ("useful", "answered")
        if answered:
            memory = replace(memory, stack=memory.stack[:-1], without=0, asked=0)
        elif question and self.options.questions is not None:
            memory = replace(memory, asked=memory.asked + 1)
        else:
            memory = replace(memory, without=memory.without + 1)
        waiting = sum(1 for kind, _ in memory.stack if kind == _REQUEST)
        covered = 1 - waiting / memory.requests
        lived = update_experience(memory.experience, observation, covered)
        learnt = replace(memory, experience=lived)
        planned = partial(Plan, learnt, self.phrasebook, took=took, coverage=covered)
        if not (self._is_waiting(learnt) or learnt.changes):
            return planned(((GOAL_REACHED, 1.0),), ())
        if self.options.questions is not None and learnt.asked > self.options.questions:
            return planned(((PATIENCE, 1.0),), ())
        if learnt.without > self.options.patience:
            return planned(((PATIENCE if question else FRUSTRATED, 1.0),), ())
        exits = self.options.stop.exits(lived, observation) if self.options.stop else ()
        if learnt.changes and (learnt.turn + 1 >= learnt.changes[0][0] or not self._is_waiting(learnt)):
            return planned(exits, (learnt.change_move(),))
        if question:
            return planned(exits, self._answer_question(question, learnt))
        if not answered:
            return planned(exits, self._repeat_top(learnt))
        moves, reached = self._next_moves(learnt)
        if reached and learnt.changes:
            others = [replace(move, probability=move.probability * (1 - reached)) for move in moves]
            return planned(exits, (*others, replace(learnt.change_move(), probability=reached)))
        if reached:
            staying = 1 - sum(probability for _, probability in exits)
            exits = (*exits, (GOAL_REACHED, staying * reached))
        return planned(exits, moves)

    def _is_waiting(self, memory: AgendaMemory) -> bool:
        return bool(memory.stack or (memory.remaining_parts and self.options.initiative))

    def _opening_moves(self, memory: AgendaMemory) -> tuple[Move[AgendaMemory], ...]:
        eager, n = self.options.initiative, len(memory.remaining_parts)
        moves = []
        for k in range(n + 1):
            item = _join_texts(memory.top_part, [text for _, text in memory.remaining_parts[:k]])
            chance = eager**k * (1 - eager if k < n else 1)
            said = tuple(slot for slot, _ in memory.remaining_parts[:k])
            moves.append(Move(chance, "ask", item, replace(memory, said=said)))
        return tuple(moves)

    def _answer_question(self, question: Question, memory: AgendaMemory) -> tuple[Move[AgendaMemory], ...]:
        helpful, asked = self.options.cooperativeness, content_words(question.text)
        known = (*memory.constraints, *memory.facts)
        # By its slot first: "which year?" names no value, and a value may contain words of another slot.
        slots = (*(slot for slot, _ in known), *memory.unknown)
        shares = {slot: share_of_words(_SEPARATORS.sub(" ", slot), question.text) for slot in slots}
        best = max(shares, key=lambda slot: shares[slot], default="")
        by_slot = (one for one in known if one[0] == best and shares[best])
        by_text = (one for one in known if content_words(one[1]) & asked)
        named = next(by_slot, None) if shares.get(best) else next(by_text, None)
        if best in memory.unknown and shares[best]:
            reply = Move(helpful, "unsure", "", memory)
        elif named:
            slot, text = named
            said = (*memory.said, slot) if slot not in memory.said else memory.said
            reply = Move(helpful, "inform", text, replace(memory, said=said))
        elif memory.fallback:
            reply = Move(helpful, "inform", memory.fallback, memory)
        else:
            reply = Move(helpful, "no-preference", "", memory)
        return reply, Move(1 - helpful, "insist", memory.top_part, replace(memory, passed_over=memory.passed_over + 1))

    def _repeat_top(self, memory: AgendaMemory) -> tuple[Move[AgendaMemory], ...]:
        if not memory.remaining_parts:
            return (Move(1.0, "insist", memory.top_part, memory),)
        eager, (slot, text) = self.options.initiative, memory.remaining_parts[0]
        refine = Move(eager, "refine", text, replace(memory, said=(*memory.said, slot)))
        return refine, Move(1 - eager, "insist", memory.top_part, memory)

    def _next_moves(self, memory: AgendaMemory) -> tuple[tuple[Move[AgendaMemory], ...], float]:
        eager, silent = self.options.initiative, 1.0
        moves = []
        for slot, text in memory.remaining_parts:
            then = replace(memory, said=(*memory.said, slot), stack=(*memory.stack, (_REFINED, text)))
            moves.append(Move(silent * eager, "refine", text, then))
            silent *= 1 - eager
        if memory.stack:
            return (*moves, Move(silent, "ask", memory.top_part, memory)), 0.0
        return tuple(replace(move, probability=move.probability / (1 - silent)) for move in moves), silent


def _join_texts(request: str, texts: Sequence[str]) -> str:
    return " ".join([request, *texts])


def build(options: Options) -> AgendaUser:
    """Build the user. Raises InputError if the options give words for an unknown act."""
    return AgendaUser(options, phrasebook(options.words, WORDS))
