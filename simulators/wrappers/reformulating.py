"""The reformulating user, which sometimes asks again, in one of several ways, instead of continuing.

After every answer one act is drawn from the row of a table for the label of that answer (`o`, `x`, `-` for none). The
table may have other rows to use after some acts (`after`):

    go-on      the inner user takes its turn (and may stop)
    repeat     the last words again           restart   the opening again; the inner user is back where it was then
    rephrase   the need in other words        refine    the next constraint of a list
    simplify   the need as keywords           change    another need of a list
    stop

Only `repeat` says the last words again: ways to rephrase, simplify or restart that would do so are left out. The
chances of acts that are impossible now (no constraint left, no other words, `most` reformulations in a row) are
distributed to the other acts of the row in proportion; if no act is left, the inner user continues. The inner user is
called only when it continues, and sees the latest answer as the reply to its own last words.

The default table is ILLUSTRATIVE. Give a table with its `origin`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from protocols.labels import MISSING, NOT_USEFUL, USEFUL, Judged, usefulness
from protocols.route import Choice, Say, Stop, answer_class
from protocols.wording import Wording, render
from simulators.memory import check_order, memory_kind, recall, topic_for_user
from simulators.moves import merge_chances
from simulators.phrasing import check_words
from simulators.promises import initial_state, next_action
from simulators.reasons import FRUSTRATED, PATIENCE, SATISFIED
from simulators.user import Chance, Observation, Scenario, State, Streams, User
from simulators.wrappers.changes import keyword_form, synonym_form
from simulators.wrappers.wrapped import can_enumerate, inner_chances
from topics.cut_text import Said
from topics.document import StrictModel, validation_error
from topics.topic import Topic

Act = Literal["go-on", "repeat", "rephrase", "simplify", "refine", "change", "restart", "stop"]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Row = dict[Act, Share]
ACTS: tuple[str, ...] = get_args(Act)
LABELS: tuple[str, ...] = get_args(Judged)
REFORMULATIONS = frozenset(ACTS) - {"go-on", "stop"}

# ILLUSTRATIVE: not fitted. Only the share of repeated requests comes from data (34% after an irrelevant answer, 12%
# after a relevant answer).
_ILLUSTRATIVE_ROWS: Mapping[str, Mapping[str, float]] = {
    USEFUL: {"go-on": 0.80, "rephrase": 0.03, "simplify": 0.02, "refine": 0.07, "change": 0.03, "stop": 0.05},
    NOT_USEFUL: {
        "go-on": 0.50,
        "repeat": 0.06,
        "rephrase": 0.14,
        "simplify": 0.05,
        "refine": 0.06,
        "change": 0.06,
        "restart": 0.03,
        "stop": 0.10,
    },
    MISSING: {
        "go-on": 0.66,
        "repeat": 0.03,
        "rephrase": 0.08,
        "simplify": 0.04,
        "refine": 0.06,
        "change": 0.04,
        "restart": 0.02,
        "stop": 0.07,
    },
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the probabilities of each act. `rows` are by label, and each row sums to 1. `after` has the rows
    that are used instead after an act. `origin` describes the source of the numbers for a report."""

    rows: Mapping[str, Mapping[str, float]]
    after: Mapping[str, Mapping[str, Mapping[str, float]]]
    origin: str

    def row(self, label: str, before: str) -> Mapping[str, float]:
        return self.after.get(before, {}).get(label) or self.rows[label]


ILLUSTRATIVE = Table(
    MappingProxyType({label: MappingProxyType({**row}) for label, row in _ILLUSTRATIVE_ROWS.items()}),
    MappingProxyType({}),
    "illustrative: fitted to nothing",
)


class Phrases(StrictModel):
    """Templates over the topic and `item`, the turn's words. One template of a list is drawn."""

    rephrase: tuple[Said, ...] = Field(
        default=(
            "In other words: {{ item }}",
            "Let me put it differently. {{ item }}",
            "What I mean is this: {{ item }}",
        ),
        min_length=1,
    )
    simplify: tuple[Said, ...] = Field(default=("{{ item }}", "In short: {{ item }}"), min_length=1)
    restart: tuple[Said, ...] = Field(
        default=("Let us start again. {{ item }}", "Let me start over. {{ item }}"), min_length=1
    )

    @model_validator(mode="after")
    def _check_options(self) -> "Phrases":
        for name in ("rephrase", "simplify", "restart"):
            for template in getattr(self, name):
                check_words(name, template, lost="turn")
        return self


class Options(StrictModel):
    table: dict[Judged, Row] | None = Field(
        default=None,
        description="probability of each act, by label of the last answer; default: illustrative",
    )
    after: dict[Act, dict[Judged, Row]] = Field(
        default={}, description="rows that replace those of `table` after an act"
    )
    origin: str | None = Field(default=None, description="the source of the table; required with a table")
    most: int = Field(default=3, ge=1, le=100, description="maximum number of reformulations in a row")
    constraints: tuple[Said, ...] = Field(default=(), description="templates for `refine`, each said once")
    changes: tuple[Said, ...] = Field(default=(), description="templates for `change`, each said once")
    phrases: Phrases = Field(default_factory=Phrases, description="ways to repeat a need")

    @model_validator(mode="after")
    def _check_options(self) -> "Options":
        if self.table is None and (self.origin is not None or self.after):
            raise validation_error("origin and after can only be given with a table")
        if self.table is not None:
            if not (self.origin or "").strip():
                raise validation_error(
                    "origin: the source of the table is missing", advice="name its data, or write `illustrative`"
                )
            missing = [label for label in LABELS if label not in self.table]
            if missing:
                raise validation_error(f"table: the rows for {', '.join(missing)} are missing")
        for name, rows in (("table", self.table or {}), *((f"after.{act}", rows) for act, rows in self.after.items())):
            for label, row in rows.items():
                if abs(sum(row.values()) - 1) > 1e-6:
                    raise validation_error(f"{name}.{label}: the row sums to {sum(row.values()):.6g}, not to 1")
        for name in ("constraints", "changes"):
            for template in getattr(self, name):
                check_words(name, template)
        return self

    def chances(self) -> Table:
        """Return the table to play: the given table with rows scaled to sum to exactly 1, or the illustrative table."""
        if self.table is None:
            return ILLUSTRATIVE
        rows: dict[str, Mapping[str, float]] = {label: _scale_row(row) for label, row in self.table.items()}
        after: dict[str, Mapping[str, Mapping[str, float]]] = {
            act: {label: _scale_row(row) for label, row in given.items()} for act, given in self.after.items()
        }
        return Table(rows, after, self.origin or "")


def _scale_row(row: Row) -> Mapping[str, float]:
    whole = sum(row.values())
    return MappingProxyType({act: share / whole for act, share in row.items()})


_PHRASED_ACTS = ("rephrase", "simplify", "restart")


def build(options: Options, inner: User) -> User:
    """Build the reformulating user over `inner`. The result is enumerable if `inner` is."""
    kind = EnumerableReformulatingUser if can_enumerate(inner) else ReformulatingUser
    return kind(inner, options.chances(), options.most, options.constraints, options.changes, options.phrases)


@memory_kind("reformulating")
@dataclass(frozen=True, slots=True)
class ReformulatingMemory:
    """The memory of a reformulating user.

    - `inner`, `opened`: the inner user's memory now, and after the opening.
    - `before`: the last act.
    - `need`, `last`, `first`: the words to ask again, the last words said, and the words of the opening.
    - `row`: the number of reformulations in a row.
    - `constraints`, `changes`: the indices of the constraints and changes already said.
    """

    topic: Topic
    inner: State
    turn: int = 0
    before: str = "start"
    need: str = ""
    last: str = ""
    first: str = ""
    opened: State | None = None
    row: int = 0
    constraints: tuple[int, ...] = ()
    changes: tuple[int, ...] = ()
    over: bool = False


# A possible action, and the memory afterwards.
Way = tuple[Say | Stop, ReformulatingMemory]


@dataclass(frozen=True, slots=True)
class ReformulatingUser:
    """A user that asks again. `table` has the chances of each act by answer; `most` limits reformulations in a row.

    Acts (`Say.state`) are the reformulations, or the inner user's acts when that user continues. The user stops when
    the inner user stops. It also stops with the reason `satisfied` after `o`, `frustrated` after `x`, and `patience`
    after an answer without a label.
    """

    inner: User
    table: Table = ILLUSTRATIVE
    most: int = 3
    constraints: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    phrases: Phrases = field(default_factory=Phrases)
    name: str = "reformulating"

    def start(self, scenario: Scenario, rng: Streams) -> ReformulatingMemory:
        topic = scenario.topic
        for template in (*self.constraints, *self.changes):
            render(Wording(template), topic, turn=1)
        for template in (*self.phrases.rephrase, *self.phrases.simplify, *self.phrases.restart):
            render(Wording(template, each=True), topic, turn=1, item="x")
        return ReformulatingMemory(
            topic_for_user(topic), initial_state(self.inner, scenario, rng.inside("reformulating"))
        )

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        memory = _recall(state, observation)
        if observation is None:
            return self._continue_inner(memory, *self._ask_again(memory, None, rng))
        acts = self._possible(memory, observation)
        act = list(acts)[rng.pick(rng.own("reformulating", "reformulation"), list(acts.values()))]
        if act == "go-on":
            action, after = self._continue_inner(memory, *self._ask_again(memory, observation, rng))
        else:
            ways = list(self._possible_turns(act, memory, observation))
            drawn = rng(rng.own("reformulating", "reformulation-words"))
            action, after = ways[int(drawn.integers(len(ways)))]
        # The chances of both users together are unknown here: `simulators.scripted` adds them.
        known = action.choice or Choice(took=answer_class(observation.label))
        return replace(action, choice=replace(known, probability=None, leaving={})), after

    def _ask_again(
        self, memory: ReformulatingMemory, observation: Observation | None, rng: Streams
    ) -> tuple[Say | Stop, State]:
        return next_action(self.inner, memory.inner, observation, rng.inside("reformulating"))

    def _possible(self, memory: ReformulatingMemory, observation: Observation) -> dict[str, float]:
        """Return the acts that are possible now, with probabilities that sum to 1, in the order of `ACTS`."""
        row = self.table.row(usefulness(observation.label), memory.before)
        full = memory.row >= self.most
        barred = {
            *(REFORMULATIONS if full else ()),
            *(() if len(memory.constraints) < len(self.constraints) else ("refine",)),
            *(() if len(memory.changes) < len(self.changes) else ("change",)),
            *(("restart",) if memory.need == memory.first == memory.last else ()),
        }
        barred |= {act for act in _PHRASED_ACTS if row.get(act, 0.0) > 0 and not self._texts(act, memory)}
        left = {act: row[act] for act in ACTS if row.get(act, 0.0) > 0 and act not in barred}
        whole = sum(left.values())
        return {act: share / whole for act, share in left.items()} if left else {"go-on": 1.0}

    def _possible_turns(self, act: str, memory: ReformulatingMemory, observation: Observation) -> Iterator[Way]:
        topic, turn = memory.topic, memory.turn + 1
        then = replace(memory, turn=turn, before=act, row=memory.row + 1)

        def make_turn(text: str, memory: ReformulatingMemory) -> Way:
            return Say(text, act, turn), replace(memory, last=text)

        if act == "stop":
            reason = {USEFUL: SATISFIED, NOT_USEFUL: FRUSTRATED}.get(usefulness(observation.label), PATIENCE)
            yield Stop("user-stopped", reason), replace(memory, over=True)
        elif act == "repeat":
            yield make_turn(memory.last, then)
        elif act in ("rephrase", "simplify"):
            for text in self._texts(act, memory):
                yield make_turn(text, then)
        elif act == "refine":
            for place in _unsaid_templates(self.constraints, memory.constraints):
                text = render(Wording(self.constraints[place]), topic, turn=turn)
                yield make_turn(text, replace(then, constraints=(*memory.constraints, place)))
        elif act == "change":
            for place in _unsaid_templates(self.changes, memory.changes):
                text = render(Wording(self.changes[place]), topic, turn=turn)
                yield make_turn(text, replace(then, need=text, changes=(*memory.changes, place)))
        else:
            opened = memory.opened if memory.opened is not None else memory.inner
            for text in self._texts(act, memory):
                yield make_turn(text, replace(then, need=memory.first, inner=opened))

    def _texts(self, act: str, memory: ReformulatingMemory) -> tuple[str, ...]:
        topic = memory.topic
        form = (topic.asks_for,) if topic.asks_for else ()
        if act == "rephrase":
            templates, item = self.phrases.rephrase, synonym_form(memory.need, form)
        elif act == "simplify":
            templates, item = self.phrases.simplify, keyword_form(memory.need, form)
        else:
            templates, item = self.phrases.restart, memory.first
        turn = memory.turn + 1
        texts = (render(Wording(template, each=True), topic, turn=turn, item=item) for template in templates)
        return tuple(text for text in texts if text != memory.last)

    def _continue_inner(self, memory: ReformulatingMemory, action: Say | Stop, after: State) -> Way:
        if isinstance(action, Stop):
            return action, replace(memory, inner=after, over=True)
        turn = memory.turn + 1
        route = replace(action.route, turn=memory.turn) if action.route is not None else None
        then = replace(memory, inner=after, turn=turn, before="go-on", need=action.text, last=action.text, row=0)
        if memory.turn == 0:
            then = replace(then, first=action.text, opened=after)
        return replace(action, turn=turn, route=route), then


@dataclass(frozen=True, slots=True)
class EnumerableReformulatingUser(ReformulatingUser):
    """An enumerable `ReformulatingUser`."""

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        memory = _recall(state, observation)
        acts = self._possible(memory, observation) if observation is not None else {"go-on": 1.0}
        found: list[Chance] = []
        for act, share in acts.items():
            if act == "go-on":
                for one in inner_chances(self.inner, memory.inner, observation):
                    found.append(Chance(share * one.probability, *self._continue_inner(memory, one.action, one.state)))
            elif observation is not None:
                ways = list(self._possible_turns(act, memory, observation))
                found += [Chance(share / len(ways), action, after) for action, after in ways]
        return merge_chances(found)


def _unsaid_templates(templates: tuple[str, ...], said: tuple[int, ...]) -> list[int]:
    return [place for place in range(len(templates)) if place not in said]


def _recall(state: State, observation: Observation | None) -> ReformulatingMemory:
    memory = recall(state, ReformulatingMemory)
    check_order(observation, opened=memory.turn > 0, over=memory.over)
    return memory
