"""The clarification user: asks for less than it means, and says what it means only when it is asked, or misunderstood.

It has a hidden facet of its need. The parameters are those of A. Salle, S. Malmasi, O. Rokhlenko, E. Agichtein,
"Studying the Effectiveness of Conversational Search Refinement Through User Simulation", ECIR 2021: patience and
cooperativeness. A clarifying question is recognised by rules on the answer (`simulators.questions`); whether text
speaks of the facet, by its content words: share(facet, text) ≥ `overlap`.

| the answer | what the user does |
|---|---|
| is a question that names the facet | `confirm` |
| is a closed question that does not | `correct` (says the facet) with probability cooperativeness, else `deny` |
| is an open question | `tell` (says the facet) with probability cooperativeness, else `dismiss` |
| speaks of the facet, and was not judged useless | leaves: `satisfied` |
| anything else | `redirect` (says the facet) with probability initiative, else `insist` |

More than `patience` clarifying questions end the conversation (`patience`), and so do more than `tries` other answers
beside the facet (`frustrated`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from protocols.route import Say, Stop
from simulators.memory import encode_topic
from simulators.moves import Move, Plan, check_traits, drawn, enumerated, opened
from simulators.phrasing import ItemWords, Phrasebook, Template, filled, phrasebook
from simulators.questions import clarifying_question, content_words, share_of_words
from simulators.reasons import FRUSTRATED, PATIENCE, SATISFIED
from simulators.scenario import Chance, Observation, Scenario, State
from simulators.stopping import experience
from simulators.stopping.hazard import Hazard
from simulators.stopping.library import StopOption
from simulators.streams import Streams
from topics.document import StrictModel
from topics.errors import InputError

__all__ = ["ACTS", "ClarificationUser", "Options", "build"]

WORDS: Mapping[str, tuple[str, ...]] = {
    "ask": ("{{ topic.request }}",),
    "confirm": ("Yes.", "Yes, exactly: {{ item }}.", "Yes, I mean {{ item }}."),
    "correct": ("No, I mean {{ item }}.", "No. {{ item }}.", "Not that. I am interested in {{ item }}."),
    "deny": ("No.", "No, that is not it."),
    "tell": ("I mean {{ item }}.", "{{ item }}.", "I am interested in {{ item }}."),
    "dismiss": ("I do not know. Just answer, please.", "Please just give me an answer.", "Does it matter?"),
    "redirect": ("That is not what I mean: {{ item }}.", "I am interested in {{ item }}, not in this."),
    "insist": ("That is not what I asked for. {{ topic.request }}", "Once more: {{ topic.request }}"),
}

ACTS = tuple(WORDS)
"""`ask` opens; `confirm`, `correct`, `deny`, `tell` and `dismiss` answer a question; `redirect` and `insist` follow an
answer that is beside the facet."""

ABOUT_THE_FACET = ("confirm", "correct", "tell", "redirect")
"""The acts whose words may say `item`, the facet; the others keep it to themselves."""

Probability = Annotated[float, Field(ge=0, le=1)]


class Options(StrictModel):
    """The facet is the trait `facet`, else the one given here."""

    facet: Template | None = Field(default=None, description="what is meant but not said at first")
    patience: int = Field(default=3, ge=0, le=1000, description="clarifying questions that the user tolerates")
    tries: int = Field(default=2, ge=0, le=1000, description="answers that miss the facet that the user tolerates")
    cooperativeness: Probability = Field(default=0.8, description="probability of telling the facet when asked")
    initiative: Probability = Field(
        default=0.5, description="probability of telling the facet after an answer that misses it"
    )
    overlap: float = Field(
        default=0.5, gt=0, le=1, description="share of the facet's words a text must contain to mention it"
    )
    words: ItemWords = Field(default={}, description="by act: ways to say it")
    stop: StopOption | None = Field(default=Hazard(), description="stop model; null: leaves only by the rules above")


@dataclass(frozen=True)
class ClarificationUser:
    """Trait: `facet`, a text. Acts: see `ACTS`.

    Coverage, for stop models: the largest share of the facet's words that an answer had. Leaves with `satisfied`,
    `patience`, `frustrated`, or the stop model's reason.
    """

    options: Options
    phrasebook: Phrasebook
    name: str = "clarification"

    def start(self, scenario: Scenario, rng: Streams) -> State:
        """The memory before anything was said. Raises InputError where there is no facet, or words that the topic
        lacks."""
        check_traits(scenario, ("facet",), self.name)
        topic, facet = scenario.topic, scenario.traits.get("facet")
        if facet is None and self.options.facet is not None:
            facet = filled(self.options.facet, topic, "the facet")
        if not isinstance(facet, str) or not content_words(facet):
            raise InputError(
                f"topic {topic.id!r} has no facet for the clarification user, or one without words",
                advice="give the option facet, for example facet: '{{ topic.fields.facet }}'",
            )
        self.phrasebook.check(topic, dict.fromkeys(ABOUT_THE_FACET, (facet,)))
        return {
            "topic": encode_topic(topic),
            "turn": 0,
            "over": False,
            "experience": experience.begin(),
            "facet": facet,
            "questions": 0,
            "beside": 0,
        }

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        """The next act, or leaving, and the memory after it. Raises ValueError for what is out of turn."""
        return drawn(self._plan(state, observation), rng)

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        """Everything that `respond` may do, with its probability."""
        return enumerated(self._plan(state, observation))

    def _plan(self, state: State, observation: Observation | None) -> Plan:
        opened(state, observation)
        match state:
            case {
                "facet": str(facet),
                "questions": int(questions),
                "beside": int(beside),
                "experience": Mapping() as lived,
            }:
                pass
            case _:
                raise ValueError("not a memory of a clarification user")
        if observation is None:
            return Plan(state, self.phrasebook, (), (_move(1, "ask", ""),))
        question = clarifying_question(observation.answer)
        text = question.text if question else observation.answer.text
        share = share_of_words(facet, text)
        covered = max((0.0, *experience.Experience.of(lived).coverage))
        lived = experience.after(lived, observation, covered if question else max(covered, share))
        speaks_of_it = share >= self.options.overlap
        learnt = {**state, "experience": lived}
        exits = self.options.stop.exits(lived, observation) if self.options.stop else ()
        if question:
            learnt["questions"] = questions + 1
            if questions + 1 > self.options.patience:
                return Plan(learnt, self.phrasebook, ((PATIENCE, 1.0),), ())
            moves = self._to_question(facet, named=speaks_of_it, closed=question.closed)
        elif speaks_of_it and observation.label != "x":
            return Plan(learnt, self.phrasebook, ((SATISFIED, 1.0),), ())
        else:
            learnt["beside"] = beside + 1
            if beside + 1 > self.options.tries:
                return Plan(learnt, self.phrasebook, ((FRUSTRATED, 1.0),), ())
            eager = self.options.initiative
            moves = _move(eager, "redirect", facet), _move(1 - eager, "insist", "")
        return Plan(learnt, self.phrasebook, exits, moves)

    def _to_question(self, facet: str, *, named: bool, closed: bool) -> tuple[Move, ...]:
        helpful = self.options.cooperativeness
        if named:
            return (_move(1, "confirm", facet),)
        if closed:
            return _move(helpful, "correct", facet), _move(1 - helpful, "deny", "")
        return _move(helpful, "tell", facet), _move(1 - helpful, "dismiss", "")


def _move(probability: float, act: str, item: str) -> Move:
    return Move(probability, act, item, {})


def build(options: Options) -> ClarificationUser:
    """Raises InputError for words of an act this user does not do."""
    return ClarificationUser(options, phrasebook(options.words, WORDS))
