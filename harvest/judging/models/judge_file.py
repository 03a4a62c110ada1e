"""The file that describes a model as judge.

format: harvest-judge/1
endpoint: {base_url: "http://127.0.0.1:8000/v1", model: llama, api_key_env: JUDGE_KEY, temperature: 0.7}
criteria: [Correctness, Fluency]
samples: 3
scale: [0, 0.5, 1]
guideline: {Correctness: "Take the date of the conversation for today."}
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from harvest.systems.driver import Surroundings
from harvest.voices.endpoint import Endpoint, EndpointOptions
from scoring.swan.schema import Schema
from topics.cut_text import Said
from topics.document import StrictModel, read_document, validation_error
from topics.errors import InputError, Place
from topics.yaml_values import Loc


class JudgeEndpoint(EndpointOptions):
    """Options of a model that judges. Its sampling defaults differ from those of other endpoints."""

    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        0.0, description="sent if not null; above 0 for several samples"
    )
    max_tokens: int | None = Field(1024, ge=1, description="of one reply; null: not sent")


class Prices(StrictModel):
    """Prices of a million tokens, in any currency."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


def _check_scale(scale: tuple[float, ...]) -> tuple[float, ...]:
    if not 2 <= len(scale) <= 9 or list(scale) != sorted(set(scale)) or scale[0] < 0 or scale[-1] > 1:
        raise validation_error("a scale must have 2 to 9 numbers from 0 to 1 in ascending order, as in [0, 0.5, 1]")
    return scale


class Judge(StrictModel):
    """A judge, as described by its file. `vendor` is the maker of the model, by default the first part of the
    model's name (`bias_card.model_vendor`). `guideline` has additional instructions, by criterion."""

    format: Literal["harvest-judge/1"]
    endpoint: JudgeEndpoint
    criteria: tuple[str, ...] = ()
    samples: int = Field(1, ge=1, le=50)
    scale: Annotated[tuple[float, ...], AfterValidator(_check_scale)] = (0.0, 0.5, 1.0)
    guideline: dict[str, Said] = Field({})
    vendor: str = ""
    prices: Prices | None = None

    @property
    def author(self) -> str:
        return self.endpoint.model


def check_criteria(path: Path, judge: Judge, schema: Schema, *, used: bool = True) -> None:
    """Check that the schema has the criteria in the file, and that models may score them. `used` is True if the
    file selects the criteria. Raises InputError, with file, line and column."""
    everything = [name.casefold() for name in judge.criteria] == ["all"]
    own = judge.criteria if used and not everything else ()
    named: list[tuple[Loc, str]] = [(("criteria", i), name) for i, name in enumerate(own)]
    named += [(("guideline", name), name) for name in judge.guideline]
    for loc, name in named:
        try:
            criterion = schema[name]
        except InputError as fault:
            raise InputError(
                fault.what, place=_criterion_place(path, loc), allowed=fault.allowed, advice=fault.advice
            ) from None
        if not criterion.may_score("model") or criterion.level == "set":
            allowed = ", ".join(one.name for one in schema if one.may_score("model") and one.level != "set")
            raise InputError(
                f"a model cannot judge {criterion.name}", place=_criterion_place(path, loc), allowed=allowed
            )
        if loc[0] == "guideline" and name != criterion.name:  # it is looked up as it is written
            what = f"the guideline is for {name!r}, but the criterion is called {criterion.name!r}"
            raise InputError(what, place=_criterion_place(path, loc))


def _criterion_place(path: Path, loc: Loc) -> Place:
    return read_document(path).place(loc, key=loc[0] == "guideline")


def read_judge(path: Path, secrets: set[str], *, concurrency: int | None = None) -> tuple[Judge, Endpoint]:
    """Return the judge and its endpoint. Sends nothing yet. The key is added to `secrets`, and `concurrency`
    overrides the value in the file. Raises InputError, with file, line and column, for any fault in the file,
    and if the key is not set."""
    document = read_document(path)
    judge = document.validate_as(Judge)
    if judge.samples > 1 and not judge.endpoint.temperature:
        raise InputError(
            f"{judge.samples} samples at temperature 0 would all be equal",
            place=document.place(("samples",)),
            advice="give the endpoint a temperature above 0, such as 0.7, or use one sample",
        )
    options = judge.endpoint
    if concurrency is not None:
        options = options.model_copy(update={"concurrency": concurrency})
    around = Surroundings("", Path(document.path).resolve().parent, secrets=secrets)
    try:
        return judge, Endpoint("judge", options, around, does="judges")
    except InputError as fault:
        place = fault.place or document.place(("endpoint",))
        raise InputError(fault.what, place=place, allowed=fault.allowed, advice=fault.advice) from None
