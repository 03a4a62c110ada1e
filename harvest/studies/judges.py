"""By which criteria conversations are judged in a study, and whose judgments of them count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from recordings.judgments import Layer
from scoring.asked import Judged
from scoring.scores import SHIPPED
from scoring.swan.judged import Judgments, Precedence
from scoring.swan.schema import Schema, load_schema

__all__ = ["Judges"]


@dataclass(frozen=True, slots=True)
class Judges:
    """schema: None for the one that comes with Harvest, which is read when it is asked for: that takes a while.
    precedence: whose judgments count, and how several of one thing become one.
    """

    schema: Schema | None = None
    precedence: Precedence = field(default_factory=Precedence)

    @property
    def criteria(self) -> Schema:
        return self.schema or load_schema(SHIPPED)

    def judged(self, layers: Iterable[Layer]) -> Judged:
        """What they say in these layers."""
        schema = self.criteria
        return Judged(schema, Judgments.of(layers, schema, self.precedence))
