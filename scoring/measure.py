"""The declaration of a measure, and a measure as written by a user.

A measure is one file with one declaration (`scoring.measures`, `scoring.forms`) and one line in `scoring.library`.
Everything else is derived from the declaration: written forms, tables and legends, thresholds, trees, `harvest
measures` and the documentation. Other distributions can also add measures of single conversations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from scoring.figure import Figure, Good
from scoring.notation import Term, Value
from scoring.settings import Settings
from topics.counting import pluralize
from topics.errors import InputError
from topics.topic import Topic, TopicSet

if TYPE_CHECKING:  # each of these imports measures
    from recordings.conversations.conversation import Conversation
    from scoring.columns import Answers, Column, Conversations, Tally
    from scoring.material import Material
    from scoring.pool import Pool, Reading
    from scoring.swan.schema import Schema
    from scoring.swan.wan import Swan
    from scoring.swan.weighting import Weighting


__all__ = ["Declaration", "Measure", "Of", "Parameter", "TermContext", "require_number"]

# The thing that has a value: one conversation; one turn or nugget of it, which has rows only; trials together; a
# measure of conversations, over all of them; a ranked list; a predictor of annotations.
Of = Literal["conversation", "turn", "nugget", "trials", "measure", "list", "predictor"]

# Data needed besides the conversation: a gold table; scores of nuggets by people, models or rules; labels of
# answers; grades of documents; groups of documents; annotations of each dialogue by several people.
Need = Literal["gold", "judgments", "labels", "qrels", "memberships", "annotations"]

# What becomes of the values of many conversations; see `Declaration`.
Counts = Literal["", "shares", "sums"]

# When its rows are made: for every run; for every run, but in tables only with --all; only if it is asked for.
Shown = Literal["always", "all", "asked"]


def require_number(value: Value) -> float:
    """Return the value of a parameter that must be a number. Raises InputError for any other value."""
    if not isinstance(value, float):
        raise InputError(f"{value} is not a number")
    return value


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a measure, written in brackets as name=value.

    `meaning` is one phrase. `default` is None if the parameter must be given or may be left out without a value.
    `setting` is the scoring setting that the parameter replaces, or "". The value of the setting is then the default.
    `value` converts the written value, and raises InputError if the value is not allowed.
    """

    name: str
    meaning: str
    default: float | None = None
    setting: str = ""
    value: Callable[[Value], object] = str


Read: TypeAlias = "Callable[[Declaration, Term, TermContext], tuple[Measure, ...]]"
Score: TypeAlias = "Callable[[Material, Measure], Figure]"


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """The declaration of one measure, from which tables, docs, intervals and the command line are made.

    - `name`: the name as written.
    - `sentence`: what the measure says about a system, in one sentence.
    - `of`: the kind of thing that has a value.
    - `formula`, `source`: one line for the formula; paper and equation.
    - `undefined`: when the value is NaN.
    - `example`: a written form of the measure.
    - `n`: what the number n counts.
    - `needs`, `parameters`, `range`, `good`: see the types. `good` may be a function of the term and of the inner
      measure's good end.
    - `written`: the written forms, if the name alone is not enough.
    - `arguments`: the least and the largest number of arguments.

    - `legend`: a few words for the legend of tables, or "" if the name is enough.
    - `percentage`: True if values are shown in percent.
    - `has_top`: True if a topic's score can reach the end of the range; otherwise, intervals use another top.
    - `fewest_topics`: the fewest topics on which the mean has an interval for topics like these: more than usual for
      counts without an end, which few topics can decide.
    - `called`: words for the lowest and highest values in a sentence, such as ("fastest", "slowest"), or None for
      best and worst.
    - `counts`: "shares" if a value is a share of n things in a conversation, averaged over conversations; "sums" if the
      figure of many conversations is one ratio of sums, in which a conversation weighs by its n; "" otherwise.
    - `event`: True if the value says whether something happened (1 or 0). The mean is then a share of conversations.
    - `shown`: where the measure's rows are.
    - `aside`, `aside_words`: True for terms whose rows are in tables only with --all, and the name of these rows.

    - `score`: computes the value for one conversation; called only if the measure's needs are available.
    - `applies`: whether a topic can have the measure.
    - `family`: computes all figures of the measures that share this function, for runs that are scored by default.
    - `columns`: computes the whole-conversation figures of `score` or `family` for many conversations at once, in the
      same order and equal to the last bit. With None, the figures are computed one by one, as always for plug-ins.
    - `column`: the name of the column, or None for the measure's name.
    - `read`: reads a written form, or None for `read_plain_term`.
    - `rows`: makes the rows of a measure over many conversations.
    - `needs_values_alone`: True if `rows` uses nothing but the values of conversations, so that words can be forgotten.
    - `tallies`: makes both sides of a share over trials from the labels of a system's answers.
    - `notes`: makes sentences about the conversations of a run, printed if the measure is requested.

    - `criterion`: the criterion that a measure of judgments depends on, as named in the schema, or None for all.
    - `of_values`: True if the measure depends on values that judges chose, not on scores.
    - `weighting`: the weighting of a mean of the scores of one criterion, so that people's judgments can correct
      models'. It is None if they cannot, because the measure averages other items than those that were judged.
    - `swan`: the criteria that enter a mean over criteria.
    - `of_sets`: True if the form also includes criteria that are scored once for a topic.

    - `parts`: computes the figures of single turns and nuggets of a requested measure of conversations. They are rows
      only, and have the name of the measure.
    - `key`: makes a sentence that explains a requested term with the topic set, printed with the notes.
    - `caution`: a sentence without which the figure misleads, printed wherever the measure is requested.
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
    fewest_topics: int = 0
    called: tuple[str, str] | None = None
    counts: Counts = ""
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
    needs_values_alone: bool = False
    tallies: Callable[[Answers], Iterator[Tally]] | None = None
    notes: Callable[[Collection[Conversation]], Iterator[str]] | None = None
    criterion: Callable[[Measure, Schema], str] | None = None
    of_values: bool = False
    weighting: Callable[[Measure, Schema], Weighting | None] | None = None
    swan: Callable[[Material, Measure], Swan] | None = None
    of_sets: bool = False
    parts: Callable[[Material, Measure], Iterable[Figure]] | None = None
    key: Callable[[Term, TopicSet], str] | None = None
    caution: str = ""

    def better(self, term: Term, inner: Good = "high") -> Good:
        """Return the good end of the measure's range for a term. `inner` is the good end of its inner measure."""
        return self.good(term, inner) if callable(self.good) else self.good

    @property
    def pooled(self) -> bool:
        """True if figures of many conversations are ratios of sums, not means."""
        return self.counts == "sums"

    @property
    def reach(self) -> float:
        """The largest possible difference between two values, or infinity if the range has no top."""
        return self.range[1] - self.range[0] if self.has_top else math.inf

    @property
    def forms(self) -> tuple[str, ...]:
        """The written forms of the measure."""
        return self.written or (self.name,)

    def parameter(self, name: str) -> Parameter | None:
        return next((one for one in self.parameters if one.name == name), None)

    def stands_aside(self, term: Term) -> bool:
        """Return True if the term's rows are in tables only with --all."""
        return self.shown == "all" or self.aside(term)

    @property
    def scored(self) -> bool:
        """True if the measure consists of scores by criteria, so that its rows name the kinds of scorers."""
        return self.swan is not None or (self.criterion is not None and not self.of_values)

    @property
    def words(self) -> bool:
        """True if the measure counts the words before each nugget, so that longer texts score lower."""
        return any(one.setting == "patience" for one in self.parameters)


@dataclass(frozen=True, slots=True)
class TermContext:
    """The context in which a written form is read. `criteria` loads the schema, which is slow and needed only for
    measures of judgments. `inner` reads an inner measure."""

    settings: Settings
    topics: TopicSet
    criteria: Callable[[], Schema]
    inner: Callable[[Term], Measure]

    @property
    def schema(self) -> Schema:
        return self.criteria()


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its parameters, for example `CVaR(R)`.

    `term` is the form that is printed. `base` is the term of the inner measure of one conversation or of trials
    (`R`), `base_name` is that term as printed, and `declaration` declares that measure. `form` is the measure over
    many conversations (`CVaR`), or None for the mean. `number` is beta or the bound of a form, or NaN if the form has
    neither. `within` is True if the form is computed within topics. `settings` include the parameters written in the
    term.
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
        """The term as printed in tables."""
        return str(self.term)

    def __str__(self) -> str:
        """Return the term, so that no message shows how the measure is stored."""
        return self.name

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest possible value."""
        if self.form is not None and self.form.event:
            return self.form.range
        return self.declaration.range

    @property
    def turn(self) -> int | None:
        """The number of the requested system turn, from 1. None means all turns, or a measure that is not of turns."""
        return self.term.turn

    def number_of(self, name: str) -> float:
        """Return the number written for a parameter. If none is written, return the replaced setting or the declared
        default."""
        given = self.base.get(name)
        if given is not None:
            return require_number(given)
        declared = self.declaration.parameter(name)
        assert declared is not None, f"{self.declaration.name} declares no {name}"
        default = getattr(self.settings, declared.setting) if declared.setting else declared.default
        assert default is not None, f"{name} of {self.declaration.name} has no default"
        return float(default)


def read_plain_term(declaration: Declaration, term: Term, context: TermContext) -> tuple[Measure, ...]:
    """Read a term by the parameters, settings and arguments that the measure declares. Raises InputError if the term
    does not fit the declaration."""
    refuse_parameters(term, [one.name for one in declaration.parameters])
    settings = apply_parameters(declaration, term, context.settings)
    refuse_arguments(declaration, term)
    return (Measure(term, term, settings, declaration),)


def apply_parameters(declaration: Declaration, term: Term, settings: Settings) -> Settings:
    """Return the settings with the parameters of a term. Raises InputError for a value out of range."""
    for name, value in term.parameters:
        declared = declaration.parameter(name)
        if declared is None:
            continue
        try:
            found: Any = declared.value(value)
            settings = replace(settings, **{declared.setting: found}) if declared.setting else settings
        except InputError as fault:
            what = fault.what.removeprefix(f"scoring setting {declared.setting}: ")
            raise InputError(f"{term}: {name}: {what}", allowed=fault.allowed) from None
    return settings


def refuse_parameters(term: Term, allowed: Collection[str]) -> None:
    """Raise InputError for a parameter that is not `allowed`, and for a turn that is not a number from 1."""
    for name, _ in term.parameters:
        if name not in allowed:
            raise InputError(
                f"{term}: {term.name} has no parameter {name}", allowed=", ".join(allowed) or "no parameters"
            )
    if term.turn is None and term.get("turn") is not None:
        raise InputError(f"{term}: `turn` must be the number of a system turn", allowed="a whole number from 1")


def refuse_arguments(declaration: Declaration, term: Term) -> None:
    """Raise InputError if a term has more or fewer arguments than declared."""
    least, most = declaration.arguments
    if not least <= len(term.arguments) <= most:
        few = len(term.arguments) < least
        bound = "" if least == most else "at least " if few else "at most "
        number = pluralize(least if few else most, "argument")
        raise InputError(
            f"{term}: {term.name} takes {bound}{number}, not {len(term.arguments)}",
            advice=f"write {' or '.join(declaration.forms)}",
        )
