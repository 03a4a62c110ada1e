"""The clarification user, which first states only part of its need and adds the rest when asked or misunderstood.

Patience and cooperativeness follow A. Salle, S. Malmasi, O. Rokhlenko, E. Agichtein, "Studying the Effectiveness of
Conversational Search Refinement Through User Simulation", ECIR 2021. Rules recognise a clarifying question
(`protocols.questions`). A text covers the hidden facet of the need if share(facet, text) ≥ `overlap`.

| answer | act of the user |
|---|---|
| a question that names the facet | `confirm` |
| a closed question that does not | `correct` (says the facet) with probability cooperativeness, else `deny` |
| an open question | `tell` (says the facet) with probability cooperativeness, else `dismiss` |
| one that covers the facet, and is no useless answer | leaves: `satisfied` |
| anything else | `redirect` (says the facet) with probability initiative, else `insist` |

Useless are answers labelled `x`, the user's own words given back and, without a label, refusals and error pages.
More than `patience` clarifying questions end the conversation as `patience`, and more than `tries` other answers that
miss the facet end it as `frustrated`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

from pydantic import Field

from protocols.labels import NOT_USEFUL
from protocols.questions import clarifying_question
from protocols.rules.echo import gives_back
from simulators.content_words import content_words, share_of_words
from simulators.memory import memory_kind, topic_for_user
from simulators.moves import Memory, Move, Plan, PlanningUser, check_traits
from simulators.phrasing import ItemWords, Phrasebook, Template, fill_template, phrasebook
from simulators.reasons import FRUSTRATED, PATIENCE, SATISFIED
from simulators.scripted import judge_unlabelled
from simulators.stopping.hazard import Hazard
from simulators.stopping.library import StopOption
from simulators.stopping.model import Experience, update_experience
from simulators.user import Observation, Scenario, Streams
from topics.document import StrictModel
from topics.errors import InputError

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

# `ask` opens; `confirm`, `correct`, `deny`, `tell` and `dismiss` answer a question; `redirect` and `insist` follow an
# answer that misses the facet.
ACTS = tuple(WORDS)

# The acts whose words may use `item`, the facet.
ABOUT_THE_FACET = ("confirm", "correct", "tell", "redirect")

Probability = Annotated[float, Field(ge=0, le=1)]


class Options(StrictModel):
    """Options of the clarification user. The facet is the trait `facet`, or else the option."""

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
    words: ItemWords = Field(default={}, description="ways to say each act")
    stop: StopOption | None = Field(default=Hazard(), description="stop model; null: leaves only by the rules above")


@memory_kind("clarification")
@dataclass(frozen=True, slots=True, kw_only=True)
class ClarificationMemory(Memory):
    """The hidden facet of the need, with the number of the system's questions and the number of answers without the
    facet."""

    facet: str
    questions: int = 0
    beside: int = 0
    experience: Experience = field(default_factory=Experience)


@dataclass(frozen=True)
class ClarificationUser(PlanningUser[ClarificationMemory]):
    """A user with a hidden facet, the text in the trait `facet`. The module docstring describes the decisions. The
    coverage for stop models is the largest share of the facet's words in any answer. The user leaves as `satisfied`,
    `patience` or `frustrated`, or with the stop model's reason."""

    options: Options
    phrasebook: Phrasebook
    name: str = "clarification"
    memory = ClarificationMemory

    def start(self, scenario: Scenario, rng: Streams) -> ClarificationMemory:
        check_traits(scenario, ("facet",), self.name)
        topic, facet = scenario.topic, scenario.traits.get("facet")
        if facet is None and self.options.facet is not None:
            facet = fill_template(self.options.facet, topic, "the facet")
        if not isinstance(facet, str) or not content_words(facet):
            raise InputError(
                f"topic {topic.id!r} has no facet for the clarification user, or its facet has no content words",
                advice="give the option facet, for example facet: '{{ topic.fields.facet }}'",
            )
        self.phrasebook.check(topic, dict.fromkeys(ABOUT_THE_FACET, (facet,)))
        return ClarificationMemory(topic=topic_for_user(topic), facet=facet)

    def plan(self, memory: ClarificationMemory, observation: Observation | None) -> Plan[ClarificationMemory]:
        if observation is None:
            return Plan(memory, self.phrasebook, (), (Move(1, "ask", "", memory),))
        question = clarifying_question(observation.answer)
        text = question.text if question else observation.answer.text
        unlabelled = not question and observation.label is None
        if unlabelled and judge_unlabelled(memory.topic, observation.answer) != "answered":
            text = ""  # "I cannot help with films on a low budget." gives the user nothing
        elif not question and self._is_given_back(memory, text):
            text = ""  # an echo has all words of the facet, once the user has said it
        share = share_of_words(memory.facet, text)
        # Coverage never decreases, so the last entry is the largest.
        covered = memory.experience.coverage[-1] if memory.experience.coverage else 0.0
        lived = update_experience(memory.experience, observation, covered if question else max(covered, share))
        speaks_of_it = share >= self.options.overlap
        learnt = replace(memory, experience=lived)
        took = "question" if question else "on-the-facet" if speaks_of_it else "beside-the-facet"
        planned = partial(Plan, took=took, coverage=lived.coverage[-1])
        exits = self.options.stop.exits(lived, observation) if self.options.stop else ()
        if question:
            learnt = replace(learnt, questions=memory.questions + 1)
            if learnt.questions > self.options.patience:
                return planned(learnt, self.phrasebook, ((PATIENCE, 1.0),), ())
            moves = self._answer_question(learnt, named=speaks_of_it, closed=question.closed)
        elif speaks_of_it and observation.label != NOT_USEFUL:
            return planned(learnt, self.phrasebook, ((SATISFIED, 1.0),), ())
        else:
            learnt = replace(learnt, beside=memory.beside + 1)
            if learnt.beside > self.options.tries:
                return planned(learnt, self.phrasebook, ((FRUSTRATED, 1.0),), ())
            eager = self.options.initiative
            moves = Move(eager, "redirect", memory.facet, learnt), Move(1 - eager, "insist", "", learnt)
        return planned(learnt, self.phrasebook, exits, moves)

    def _is_given_back(self, memory: ClarificationMemory, text: str) -> bool:
        said = (
            self.phrasebook.text(act, variant, memory.topic, memory.turn, memory.facet)
            for act in ABOUT_THE_FACET
            for variant in range(self.phrasebook.variants(act))
        )
        return any(gives_back(text, words) for words in (memory.topic.request, *said))

    def _answer_question(
        self, memory: ClarificationMemory, *, named: bool, closed: bool
    ) -> tuple[Move[ClarificationMemory], ...]:
        helpful, facet = self.options.cooperativeness, memory.facet
        if named:
            return (Move(1, "confirm", facet, memory),)
        if closed:
            return Move(helpful, "correct", facet, memory), Move(1 - helpful, "deny", "", memory)
        return Move(helpful, "tell", facet, memory), Move(1 - helpful, "dismiss", "", memory)


def build(options: Options) -> ClarificationUser:
    """Build the user. Raises InputError if the options give words for an unknown act."""
    return ClarificationUser(options, phrasebook(options.words, WORDS))
