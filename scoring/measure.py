"""The declaration of a measure, and a measure as somebody asked for it.

    Declaration   one measure: its sentence, formula and source, what it needs, its parameters, its range, its function
    Measure       a declaration as it was asked for: `CVaR(R(L=600), beta=0.1)` under the settings of a run

A measure is one file with one declaration (`scoring.measures`, `scoring.forms`) and one line in `scoring.library`.
Everything else reads the declaration: what can be asked for, tables and legends, thresholds, trees, `harvest measures`
and the documentation. A measure of single conversations can come from another distribution, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from scoring.figure import Figure, Good
from scoring.notation import Term, Value
from scoring.settings import Settings
from topics.errors import InputError
from topics.topic import Topic, TopicSet

if TYPE_CHECKING:  # each of these stands on measures
    from recordings.conversations.conversation import Conversation
    from scoring.answers import Answers, Tally
    from scoring.columns import Column, Conversations
    from scoring.material import Material
    from scoring.pool import Pool, Reading
    from scoring.swan.schema import Schema
    from scoring.swan.wan import Swan
    from scoring.swan.weighting import Weighting

__all__ = ["Asking", "Declaration", "Measure", "Of", "Parameter", "a_number"]

# What has a value: one conversation; one turn or nugget of it, which has rows only; trials together; a measure
# of conversations, over all of them; a ranked list; whoever predicts what annotators say.
Of = Literal["conversation", "turn", "nugget", "trials", "measure", "list", "predictor"]

# What must be known besides what was said: a gold table; scores of nuggets by people, models or rules; labels of
# answers; grades of documents; groups of documents; annotations of each dialogue by several people.
Need = Literal["gold", "judgments", "labels", "qrels", "memberships", "annotations"]

# Where its rows are: wherever a run is scored; there too, but in tables only with --all; where it is asked for.
Shown = Literal["always", "all", "asked"]


def a_number(value: Value) -> float:
    """The value of a parameter that is a number."""
    if not isinstance(value, float):
        raise InputError(f"{value} is not a number")
    return value


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a measure, written in brackets as name=value.

    meaning: in one phrase. default: None where the parameter must be given, or where leaving it out means no value.
    setting: the scoring setting that it replaces, and whose value is its default; "" for none. value: turns what is
    written into a value, and raises InputError for anything it does not allow.
    """

    name: str
    meaning: str
    default: float | None = None
    setting: str = ""
    value: Callable[[Value], object] = str


Read: TypeAlias = "Callable[[Declaration, Term, Asking], tuple[Measure, ...]]"
Score: TypeAlias = "Callable[[Material, Measure], Figure]"


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """The declaration of one measure: everything that tables, docs, intervals and the command line know of it.

    name: as it is written. sentence: what it says of a system, one sentence. of: what has a value. formula: one line.
    source: paper and equation. undefined: when it is NaN. example: one that can be asked for. n: what its n counts.
    needs, parameters, range, good: see there; good may depend on what is asked for, and on the good end of what it is
    taken of. written: the ways it is written,
    where the name alone is not enough. arguments: how many things it is taken of, at least and at most.

    legend: a few words in the legend of tables; "" where its name is enough. percentage: people read it in percent.
    has_top: whether a topic's score can reach the end of the range; where it cannot, intervals use another top. called:
    what its lowest and its highest values are called in a sentence, for example ("fastest", "slowest"); None: best and
    worst. event: 1 where something happened and 0 where not, so that it is a share over conversations. shown: where its
    rows are.
    aside: which of its rows are in tables only with --all. aside_words: what these are called.

    score: its value of one conversation; called where what it needs is there. applies: whether a topic can have it.
    family: all figures of the measures that share this function, for a run that is scored without asking for any.
    columns: what score, or family, gives of whole conversations, in its order and to the last bit, of many at once;
    None where it is to be taken one by one, as every measure can be, and those of other distributions are. column: the
    name of its column; None for its own.
    read: what a written form of it asks for; None: its parameters and arguments, checked. rows: of a measure over many
    conversations. tallies: of a share over trials, its two sides, made of the labels of a system's answers. notes:
    sentences about the conversations of a run, printed where it is asked for.

    Of a measure that needs judgments. criterion: the one criterion it rests on, as the schema names it; None for all.
    of_values: it rests on the values that things were given, not on scores. weighting: that of a weighted mean of the
    scores of its criterion, so that people's judgments can correct what models said. swan: of a mean over criteria,
    which of them are in it. of_sets: of a form that also takes in criteria that are scored once for a topic.
    """

    name: str
    sentence: str
    of: Of
    formula: str
    source: str
    undefined: str
    example: str
    n: str
    needs: tuple[Need, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    range: tuple[float, float] = (0.0, 1.0)
    good: Good | Callable[[Term, Good], Good] = "high"
    written: tuple[str, ...] = ()
    arguments: tuple[int, int] = (0, 0)
    legend: str = ""
    percentage: bool = False
    has_top: bool = True
    called: tuple[str, str] | None = None
    event: bool = False
    shown: Shown = "asked"
    aside: Callable[[Term], bool] = field(default=lambda term: False)
    aside_words: str = ""
    score: Score | None = None
    applies: Callable[[Measure, Topic], bool] = field(default=lambda measure, topic: True)
    family: Callable[[Material], Iterable[Figure]] | None = None
    columns: Callable[[Conversations], Sequence[Column] | None] | None = None
    column: Callable[[Measure], str] | None = None
    read: Read | None = None
    rows: Callable[[Measure, Pool], Iterator[Reading]] | None = None
    tallies: Callable[[Answers], Iterator[Tally]] | None = None
    notes: Callable[[Collection[Conversation]], Iterator[str]] | None = None
    criterion: Callable[[Measure, Schema], str] | None = None
    of_values: bool = False
    weighting: Callable[[Measure, Schema], Weighting] | None = None
    swan: Callable[[Material, Measure], Swan] | None = None
    of_sets: bool = False

    def better(self, term: Term, inner: Good = "high") -> Good:
        """Which end of the measure's range is good, as it is written. inner: the good end of what it is taken of."""
        return self.good(term, inner) if callable(self.good) else self.good

    @property
    def forms(self) -> tuple[str, ...]:
        """The ways it is written."""
        return self.written or (self.name,)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name; None for one it does not take."""
        return next((one for one in self.parameters if one.name == name), None)

    def stands_aside(self, term: Term) -> bool:
        """Whether it is in tables only with --all."""
        return self.shown == "all" or self.aside(term)

    @property
    def scored(self) -> bool:
        """Whether it is made of scores by criteria, so that its rows name the kinds of sources that gave them."""
        return self.swan is not None or (self.criterion is not None and not self.of_values)

    @property
    def words(self) -> bool:
        """Whether it counts the words that come before what it values, so that longer texts score lower."""
        return any(one.setting == "patience" for one in self.parameters)


@dataclass(frozen=True, slots=True)
class Asking:
    """What a written form is read against. inner: reads a measure that is written inside another one."""

    settings: Settings
    topics: TopicSet
    schema: Schema
    inner: Callable[[Term], Measure]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure as somebody asked for it, for example `CVaR(R)`.

    term: as it is printed. base: the measure of one conversation (or of trials) in it (`R`), and declaration: of that.
    form: what is taken over many conversations (`CVaR`); None for the mean. number: beta or the bound of a form; NaN
    where it takes none. within: whether it is taken within topics. settings: with the parameters written in the term.
    base_name: `base` as it is printed.
    """

    term: Term
    base: Term
    settings: Settings
    declaration: Declaration
    form: Declaration | None = None
    number: float = math.nan
    within: bool = False
    base_name: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_name", str(self.base))

    @property
    def name(self) -> str:
        """The term as tables print it."""
        return str(self.term)

    def __str__(self) -> str:
        """As it is written, so that no message shows how it is stored."""
        return self.name

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value there can be."""
        if self.form is not None and self.form.event:
            return self.form.range
        return self.declaration.range

    @property
    def turn(self) -> int | None:
        """The one system turn that is wanted, from 1; None for all of them, or where it is of none."""
        return self.term.turn

    def number_of(self, name: str) -> float:
        """The number that is written for a parameter, or that of its setting, or its default."""
        given = self.base.get(name)
        if given is not None:
            return a_number(given)
        declared = self.declaration.parameter(name)
        assert declared is not None, f"{self.declaration.name} declares no {name}"
        default = getattr(self.settings, declared.setting) if declared.setting else declared.default
        assert default is not None, f"{name} of {self.declaration.name} has no default"
        return float(default)
