"""The Markov user: a table gives the probability of the next act after the last one or two acts and the last answer.

The table is given in the options (`rows`), or was fitted to recordings (`counts`, see `simulators.act_table.fit`).
One column is the probability of leaving, so the table also determines the length of conversations. With `stretches`
the rows also depend on the turn (`simulators.turn_table`). If the options have a stop model, that model decides and
the column is ignored. If leaving is the only outcome of a row, the user leaves with the reason `left`, whatever the
stop model says.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from pydantic import Field, model_validator

from protocols.labels import NOT_USEFUL, USEFUL
from protocols.route import answer_class
from simulators.act_table import START, STOP, UNKNOWN, ActTable, Context, ProbabilityTable
from simulators.memory import memory_kind, topic_for_user
from simulators.moves import Memory, Move, Plan, PlanningUser, check_traits
from simulators.phrasing import Phrasebook, Words
from simulators.reasons import LEFT
from simulators.stopping.library import StopOption
from simulators.stopping.model import Experience, update_experience
from simulators.turn_table import TurnTable
from simulators.user import Observation, Scenario, Streams
from topics.document import StrictModel, validation_error
from topics.errors import InputError

# Illustrative rows, not fitted to anyone.
ILLUSTRATIVE = ProbabilityTable(
    ("ask", "more", "insist", "detail"),
    1,
    {
        ((START,), "*"): {"ask": 1.0},
        (("ask",), USEFUL): {"more": 0.45, "detail": 0.2, STOP: 0.35},
        (("ask",), NOT_USEFUL): {"insist": 0.65, STOP: 0.35},
        (("more",), USEFUL): {"more": 0.4, "detail": 0.15, STOP: 0.45},
        (("more",), NOT_USEFUL): {"insist": 0.4, STOP: 0.6},
        (("insist",), USEFUL): {"more": 0.4, "detail": 0.1, STOP: 0.5},
        (("insist",), NOT_USEFUL): {"insist": 0.3, STOP: 0.7},
        (("detail",), USEFUL): {"more": 0.3, "detail": 0.2, STOP: 0.5},
        (("detail",), NOT_USEFUL): {"insist": 0.4, STOP: 0.6},
        (("ask",), "*"): {"more": 0.3, "detail": 0.2, "insist": 0.1, STOP: 0.4},
        (("more",), "*"): {"more": 0.3, "detail": 0.1, "insist": 0.1, STOP: 0.5},
        (("insist",), "*"): {"more": 0.2, "detail": 0.1, "insist": 0.2, STOP: 0.5},
        (("detail",), "*"): {"more": 0.2, "detail": 0.2, "insist": 0.1, STOP: 0.5},
    },
)

WORDS: Mapping[str, tuple[str, ...]] = {
    "ask": ("{{ topic.request }}",),
    "more": ("Can you name a few more?", "What else is there?", "Are there any others?"),
    "insist": ("That is not what I asked for. {{ topic.request }}", "Please look again: {{ topic.request }}"),
    "detail": ("Can you tell me more about the first one?", "Why do you suggest these?"),
}


_TABLES = "rows: [{after: [ACT], answer: o, next: {ACT: 0.6, stop: 0.4}}, …], or counts of the same form"


class Row(StrictModel):
    after: tuple[str, ...] = Field(
        default=(), max_length=2, description="the last acts, oldest first; `start` for the opening"
    )
    answer: str = Field(default="*", min_length=1, description="the answer to the last of them; `*`: any answer")
    next: dict[str, float] = Field(description="probability of each act and of `stop`, sum 1")


class Count(StrictModel):
    after: tuple[str, ...] = Field(min_length=1, max_length=2, description="the last acts, oldest first")
    answer: str = Field(default=UNKNOWN, min_length=1, description="the answer to the last of them; `-`: unknown")
    next: dict[str, int] = Field(description="how often each act, or `stop`, followed")


class Stretch(StrictModel):
    turn: int = Field(ge=1, description="the first user turn of the stretch, which ends before the next entry's")
    counts: tuple[Count, ...] = Field(description="the counts of the table that fall into it")


class Options(StrictModel):
    """Options of the Markov user: `rows`, `counts`, or neither for the illustrative table."""

    acts: tuple[str, ...] = Field(
        default=(), description="the acts of the rows or counts; default: those that occur in them"
    )
    order: Literal[1, 2] = Field(default=1, description="number of last acts in a context of the rows or counts")
    rows: tuple[Row, ...] = Field(default=(), description="given probabilities")
    counts: tuple[Count, ...] = Field(default=(), description="counts of recordings")
    smoothing: Literal["witten-bell", "additive"] = Field(default="witten-bell", description="smoothing of the counts")
    weight: float = Field(default=0.5, ge=0, le=1000, description="additive smoothing: added to each count")
    least: int = Field(
        default=1, ge=1, description="additive smoothing: for a context seen less often, a shorter one is used"
    )
    stretches: tuple[Stretch, ...] = Field(
        default=(), description="the counts after the opening, by stretches of turns: rows then depend on the turn too"
    )
    words: Words = Field(default={}, description="ways to say each act")
    stop: StopOption | None = Field(default=None, description="a stop model instead of the table's `stop` column")
    enough: int = Field(
        default=3, ge=1, le=1000, description="useful answers that count as the whole need (for stop models)"
    )

    @model_validator(mode="after")
    def _check_one_table(self) -> Self:
        if self.rows and self.counts:
            raise validation_error("give either rows or counts, not both")
        if not self.rows and not self.counts:
            self._refuse_unused_options(("acts", "order"), "rows or counts")
        if not self.counts:
            self._refuse_unused_options(("smoothing", "weight", "least", "stretches"), "counts")
        try:
            table = self.table()
            turns = self.turn_table()
            if turns is not None and isinstance(table, ActTable):
                _check_stretches(turns, table)
        except ValueError as fault:
            raise validation_error(str(fault)) from None
        return self

    def _refuse_unused_options(self, names: tuple[str, ...], needed: str) -> None:
        """Refuse options without effect. Ignoring them would play another table than intended."""
        idle = [name for name in names if getattr(self, name) != type(self).model_fields[name].default]
        if idle:
            raise validation_error(f"{' and '.join(idle)} cannot be given without {needed}", allowed=_TABLES)

    def turn_table(self) -> TurnTable | None:
        """Return the counts by stretches of turns, or None. Raises ValueError."""
        if not self.stretches:
            return None
        found = [(one.turn, {(row.after, row.answer): row.next for row in one.counts}) for one in self.stretches]
        return TurnTable(found, self.order)

    def table(self) -> ActTable | ProbabilityTable:
        if not self.rows and not self.counts:
            return ILLUSTRATIVE
        contexts: list[Context] = [(entry.after, entry.answer) for entry in self.rows or self.counts]
        if len(set(contexts)) < len(contexts):
            raise ValueError("a context appears twice in the table")
        named = {act for entry in self.rows or self.counts for act in (*entry.after, *entry.next)} - {START, STOP}
        acts = self.acts or tuple(sorted(named))
        if self.rows:
            return ProbabilityTable(acts, self.order, {(row.after, row.answer): row.next for row in self.rows})
        if self.counts and not any(n for row in self.counts for n in row.next.values()):
            raise ValueError("nothing was counted: every count is 0")
        counts = {(row.after, row.answer): row.next for row in self.counts}
        return ActTable(acts, self.order, counts, self.smoothing, self.weight, self.least)


def _check_stretches(turns: TurnTable, table: ActTable) -> None:
    """Raise ValueError if the counts of the stretches do not sum to the counts of the table after the opening."""
    found: dict[Context, Counter[str]] = {}
    for _, rows in turns.stretches:
        for context, row in rows.items():
            found.setdefault(context, Counter()).update(row)
    wanted = {context: Counter(row) for context, row in table.counts.items() if context[0] != (START,)}
    for context in dict.fromkeys((*wanted, *found)):
        if +found.get(context, Counter()) != +wanted.get(context, Counter()):
            raise ValueError(
                f"stretches: after {' '.join(context[0])} ({context[1]}) the stretches sum to "
                f"{_list_counts(found.get(context, {}))}, "
                f"but the table counts {_list_counts(wanted.get(context, {}))}; restore the counts, or remove stretches"
            )


def _list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{act} {count}" for act, count in counts.items()) or "nothing"


@memory_kind("markov")
@dataclass(frozen=True, slots=True, kw_only=True)
class MarkovMemory(Memory):
    """The memory of the Markov user. `acts` are the last two acts, oldest first."""

    acts: tuple[str, ...] = ()
    experience: Experience = field(default_factory=Experience)


@dataclass(frozen=True)
class MarkovUser(PlanningUser[MarkovMemory]):
    """A user that draws each act from a row of `table`. The possible acts are those in the table, and no traits are
    read.

    The coverage for stop models is the number of useful answers so far divided by `enough`, at most 1. The user
    leaves with the reason `left` (by the table) or the stop model's reason. `turns` has the same counts by stretches
    of turns.
    """

    table: ActTable | ProbabilityTable
    phrasebook: Phrasebook
    stop: StopOption | None = None
    enough: int = 3
    name: str = "markov"
    memory = MarkovMemory
    turns: TurnTable | None = None

    @property
    def acts(self) -> tuple[str, ...]:
        return self.table.acts

    def start(self, scenario: Scenario, rng: Streams) -> MarkovMemory:
        check_traits(scenario, (), self.name)
        self.phrasebook.check(scenario.topic, {})
        return MarkovMemory(topic=topic_for_user(scenario.topic))

    def row(self, before: Sequence[str], answer: str, turn: int) -> dict[str, float]:
        """Return the table's probability of each act and of leaving, after the last acts, oldest first, the last answer
        and `turn` user turns."""
        row = self.table.row(before, answer)
        return row if self.turns is None or not turn else self.turns.row(before, answer, turn, row)

    def plan(self, memory: MarkovMemory, observation: Observation | None) -> Plan[MarkovMemory]:
        before = memory.acts
        answer = (observation.label if observation else None) or UNKNOWN
        row = self.row(before, answer, memory.turn)
        leaving = row.pop(STOP, 0.0)
        exits: tuple[tuple[str, float], ...] = ((LEFT, leaving),) if leaving else ()
        covered: float | None = None
        if observation is not None:
            useful = memory.experience.labels.count(USEFUL) + (observation.label == USEFUL)
            covered = min(1.0, useful / self.enough)
            lived = update_experience(memory.experience, observation, covered)
            memory = replace(memory, experience=lived)
            if self.stop is not None and leaving < 1:
                exits = self.stop.exits(lived, observation)
        staying = sum(row.values())
        moves = tuple(
            Move(p / staying, act, "", replace(memory, acts=(*before, act)[-2:]))
            for act, p in row.items()
            if staying and p
        )
        took = answer_class(observation.label if observation else None)
        return Plan(memory, self.phrasebook, exits, moves, took, covered if self.stop is not None else None)


def build(options: Options) -> MarkovUser:
    """Build the user. Raises InputError for an act without words, and for empty rows or counts."""
    empty = [name for name in ("rows", "counts") if name in options.model_fields_set and not getattr(options, name)]
    if empty and not options.rows and not options.counts:
        raise InputError(
            f"the option {empty[0]} is empty",
            allowed=_TABLES,
            advice=f"write some, or remove {empty[0]} to play the illustrative table",
        )
    table = options.table()
    return MarkovUser(
        table,
        phrase_acts(table.acts, options.words, "Markov user"),
        options.stop,
        options.enough,
        turns=options.turn_table(),
    )


def phrase_acts(acts: Sequence[str], words: Words, user: str) -> Phrasebook:
    """Return the words of each act: the given words, or else the default words. `user` is the user's name in
    messages. Raises InputError for an act without words, and for words of an unknown act."""
    for act in acts:
        if act not in WORDS and act not in words:
            raise InputError(
                f"the act {act!r} of the {user} has no words",
                allowed=f"acts with words in the options, and {', '.join(WORDS)}, which have words",
                advice=f"add it to the options: words: {{{act}: […]}}",
            )
    for act in words:
        if act not in acts:
            raise InputError(f"the act {act!r} has words but is not in the table", allowed=", ".join(acts))
    return Phrasebook({act: words.get(act) or WORDS[act] for act in acts})
