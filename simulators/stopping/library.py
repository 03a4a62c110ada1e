"""All stop models by their names in files.

    stop: {model: hazard, turn: 0.11}
    stop: {model: combined, parts: [{model: frustration, after: 2}, {model: geometric, p: 0.1}]}

`frustration` and `satiation` are rules of D. H. Kraft and T. Lee, "Stopping rules and their effect on expected search
length", Information Processing & Management 15, 1979: stop after a number of useless or of useful documents. Their
third rule, to stop when the first or the second rule applies, is a `combined` model. A width makes a limit gradual,
because people differ.
"""

from typing import Annotated, Literal, Self, get_args

from pydantic import BeforeValidator, Field, RootModel, model_validator

from protocols.labels import NOT_USEFUL, USEFUL
from simulators.reasons import FRUSTRATED, PATIENCE, SATISFIED
from simulators.stopping.hazard import Geometric, Hazard, TwoAlpha
from simulators.stopping.model import Exit, Experience, step_or_logistic
from simulators.user import Observation
from topics.document import Document, StrictModel, validation_error
from topics.errors import suggestion


class Frustration(StrictModel):
    """A user that leaves after too many useless answers, in total or in a row. With n such answers, the hazard is 0
    for n = 0. Otherwise it is a step from 0 to 1 at n = `after` if the width is 0, or else logistic((n - after) /
    width). The defaults are illustrative. The reason for leaving is `frustrated`."""

    model: Literal["frustration"] = "frustration"
    after: float = Field(default=2, gt=0, le=1000, description="number of useless answers that is too many")
    in_a_row: bool = Field(default=False, description="count only useless answers in a row")
    width: float = Field(default=0.0, ge=0, le=1000, description="0: a step; else how gradually it rises, in answers")

    def hazard(self, memory: Experience, observation: Observation) -> float:
        n = memory.useless_in_a_row() if self.in_a_row else memory.labels.count(NOT_USEFUL)
        return step_or_logistic(n - self.after, self.width) if n else 0.0

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        return ((FRUSTRATED, self.hazard(memory, observation)),)


class Satiation(StrictModel):
    """A user that leaves after enough useful answers. With n such answers, the hazard is 0 for n = 0. Otherwise it is
    a step from 0 to 1 at n = `after` if the width is 0, or else logistic((n - after) / width). The defaults are
    illustrative. The reason for leaving is `satisfied`."""

    model: Literal["satiation"] = "satiation"
    after: float = Field(default=3, gt=0, le=1000, description="number of useful answers that is enough")
    width: float = Field(default=0.0, ge=0, le=1000, description="0: a step; else how gradually it rises, in answers")

    def hazard(self, memory: Experience, observation: Observation) -> float:
        n = memory.labels.count(USEFUL)
        return step_or_logistic(n - self.after, self.width) if n else 0.0

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        return ((SATISFIED, self.hazard(memory, observation)),)


class PatienceBudget(StrictModel):
    """A user that leaves when the budget of turns or the budget of words read is used up. The hazard is then 1, and 0
    before. The reason for leaving is `patience`."""

    model: Literal["patience"] = "patience"
    turns: int | None = Field(default=None, ge=1, le=10_000, description="user turns; default: no limit")
    words: int | None = Field(default=None, ge=1, description="words of answers read; default: no limit")

    @model_validator(mode="after")
    def _check_budget(self) -> Self:
        if self.turns is None and self.words is None:
            raise validation_error("give a budget of patience turns, words or both")
        return self

    def hazard(self, memory: Experience, observation: Observation) -> float:
        spent = (self.turns is not None and memory.turn >= self.turns) or (
            self.words is not None and sum(memory.words) >= self.words
        )
        return 1.0 if spent else 0.0

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        return ((PATIENCE, self.hazard(memory, observation)),)


class RateOfGain(StrictModel):
    """A user that leaves when the last answers gained less per minute than the user expects elsewhere.

    After E. L. Charnov, "Optimal foraging, the marginal value theorem", Theoretical Population Biology 9, 1976. Over
    the last `window` turns (or all, if there are fewer), the gain G is the increase in the share of the need met, and
    the time T in minutes is the sum over turns of seconds/60 + words/reading. With r = G/T,

        h = 1 if r ≤ elsewhere, else 0               for width 0
        h = logistic((elsewhere - r) / width)        for other widths

    Nobody leaves before turn `least`. The defaults are illustrative, except `reading`: M. Brysbaert, "How many words
    do we read per minute?", Journal of Memory and Language 109, 2019 (English non-fiction, silent reading). The
    reason for leaving is `satisfied` if anything was found in the conversation, and `frustrated` otherwise.
    """

    model: Literal["rate-of-gain"] = "rate-of-gain"
    elsewhere: float = Field(default=0.2, ge=0, le=1000, description="rate of gain elsewhere, in needs per minute")
    width: float = Field(
        default=0.0, ge=0, le=1000, description="0: a step; else how gradually it rises, in needs per minute"
    )
    window: int = Field(default=2, ge=1, le=1000, description="turns over which the rate is computed")
    seconds: float = Field(default=15.0, gt=0, le=86_400, description="time to think and type a turn")
    reading: float = Field(default=238.0, gt=0, le=100_000, description="words read per minute")
    least: int = Field(default=2, ge=1, le=1000, description="the first turn after which the user may leave")

    def rate(self, memory: Experience) -> float:
        """Return the needs met per minute over the window, at least 0."""
        before = memory.coverage[-self.window - 1] if memory.turn > self.window else 0.0
        words = memory.words[-self.window :]
        minutes = sum(self.seconds / 60 + count / self.reading for count in words)
        return max(0.0, memory.coverage[-1] - before) / minutes

    def hazard(self, memory: Experience, observation: Observation) -> float:
        if memory.turn < self.least:
            return 0.0
        return step_or_logistic(self.elsewhere - self.rate(memory), self.width)

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        reason = SATISFIED if memory.coverage[-1] > 0 else FRUSTRATED
        return ((reason, self.hazard(memory, observation)),)


class Combined(StrictModel):
    """A user that leaves as soon as a part leaves: h = 1 - Π(1 - h_i). The first part, in order, that leaves gives
    the reason."""

    model: Literal["combined"] = "combined"
    parts: "tuple[StopOption, ...]" = Field(min_length=1, max_length=20, description="stop models")

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        found: dict[str, float] = {}
        staying = 1.0
        for part in self.parts:
            for reason, probability in part.exits(memory, observation):
                found[reason] = found.get(reason, 0.0) + staying * probability
            staying *= 1 - part.hazard(memory, observation)
        return tuple(found.items())

    def hazard(self, memory: Experience, observation: Observation) -> float:
        staying = 1.0
        for part in self.parts:
            staying *= 1 - part.hazard(memory, observation)
        return 1 - staying


def _read_by_name(value: object) -> object:
    name = value.get("model") if isinstance(value, dict) else None
    if isinstance(value, dict) and name not in NAMES:
        what = (
            f"{name!r} is not a stop model{suggestion(str(name), NAMES)}"
            if name
            else "a stop model is {model: NAME, …}"
        )
        raise validation_error(what, allowed=", ".join(NAMES))
    return value


StopOption = Annotated[
    Geometric | TwoAlpha | Frustration | Satiation | PatienceBudget | Hazard | RateOfGain | Combined,
    Field(discriminator="model"),
    BeforeValidator(_read_by_name),
]
Combined.model_rebuild()

# The names of the stop models in files.
NAMES: tuple[str, ...] = tuple(
    sorted(model.model_fields["model"].default for model in get_args(get_args(StopOption)[0]))
)


class _Option(RootModel[StopOption]):
    pass


def stop_model(value: object) -> StopOption:
    """Return the stop model described by `value`, a mapping as in a file. Raises InputError."""
    return Document("stop model", _tuples(value), {}, {}).validate_as(_Option).root


def as_options(model: StopOption) -> dict[str, object]:
    """Return the mapping of plain JSON values from which `stop_model` restores an equal value."""
    found: dict[str, object] = model.model_dump(mode="json")
    return found


def _tuples(value: object) -> object:
    if isinstance(value, dict):
        return {key: _tuples(part) for key, part in value.items()}
    return tuple(_tuples(part) for part in value) if isinstance(value, (list, tuple)) else value
