"""Ways to ask again: the acts of a reformulating user, the table of their chances, and their phrases.

The default table is ILLUSTRATIVE: it was not fitted, and only the share of repeated requests comes from data (34%
after an irrelevant answer, 12% after a relevant answer). Give a table with its `origin`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from protocols.labels import MISSING, NOT_USEFUL, USEFUL, Judged
from simulators.phrasing import check_words
from topics.cut_text import Said
from topics.document import StrictModel, validation_error

Act = Literal["go-on", "repeat", "rephrase", "simplify", "refine", "change", "restart", "stop"]


Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


Row = dict[Act, Share]


ACTS: tuple[str, ...] = get_args(Act)


LABELS: tuple[str, ...] = get_args(Judged)


REFORMULATIONS = frozenset(ACTS) - {"go-on", "stop"}


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
