"""All stop models by their names in files, and the one that combines others.

stop: {model: hazard, turn: 0.11}
stop: {model: combined, parts: [{model: frustration, after: 2}, {model: geometric, p: 0.1}]}
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, RootModel

from simulators.scenario import Observation
from simulators.stopping.constant import Geometric, TwoAlpha
from simulators.stopping.hazard import Hazard
from simulators.stopping.model import Exit, Experience
from simulators.stopping.rate_of_gain import RateOfGain
from simulators.stopping.tallies import Frustration, PatienceBudget, Satiation
from topics.document import Document, StrictModel, refusal
from topics.suggestions import did_you_mean


class Combined(StrictModel):
    """Leaves as soon as one of its parts does: h = 1 - Π(1 - h_i). The reason is that of the first part, in order,
    that leaves."""

    model: Literal["combined"] = "combined"
    parts: tuple[StopOption, ...] = Field(min_length=1, max_length=20, description="stop models")

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


def _by_name(value: object) -> object:
    name = value.get("model") if isinstance(value, dict) else None
    if isinstance(value, dict) and name not in NAMES:
        what = (
            f"{name!r} is not a stop model{did_you_mean(str(name), NAMES)}"
            if name
            else "a stop model is {model: NAME, …}"
        )
        raise refusal(what, allowed=", ".join(NAMES))
    return value


StopOption = Annotated[
    Geometric | TwoAlpha | Frustration | Satiation | PatienceBudget | Hazard | RateOfGain | Combined,
    Field(discriminator="model"),
    BeforeValidator(_by_name),
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
    return Document("stop model", _tuples(value), {}, {}).validated(_Option).root


def as_options(model: StopOption) -> dict[str, object]:
    """Return the mapping of plain JSON values that `stop_model` reads back as the same value."""
    found: dict[str, object] = model.model_dump(mode="json")
    return found


def _tuples(value: object) -> object:
    if isinstance(value, dict):
        return {key: _tuples(part) for key, part in value.items()}
    return tuple(_tuples(part) for part in value) if isinstance(value, (list, tuple)) else value
