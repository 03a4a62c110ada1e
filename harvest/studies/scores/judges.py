"""The criteria and the judgments that a study uses."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from recordings.judged.judgments import Layer
from scoring.material import Judged
from scoring.scores import SHIPPED
from scoring.swan.judged import Judgments
from scoring.swan.precedence import Precedence
from scoring.swan.schema import Schema, load_schema
from scoring.swan.votes import FOLDINGS, named_judge
from topics.errors import InputError


@dataclass(frozen=True, slots=True)
class Judges:
    """Criteria and judgments of a study. `schema` None means the shipped one, which is loaded on first use because
    that takes a while. `precedence` says whose judgments count, and how several judgments of one thing are combined.
    """

    schema: Schema | None = None
    precedence: Precedence = field(default_factory=Precedence)

    @property
    def criteria(self) -> Schema:
        return self.schema or load_schema(SHIPPED)

    def judged(self, layers: Iterable[Layer]) -> Judged:
        """Return the judgments in these layers. Raises InputError for a judge without any judgments."""
        schema, layers = self.criteria, tuple(layers)
        refuse_unknown(self.precedence, layers)
        return Judged(schema, Judgments.of(layers, schema, self.precedence))


def refuse_unknown(judges: Precedence | None, layers: Sequence[Layer]) -> None:
    """Raise InputError for a judge without judgments: a misspelt name would look as if nothing had been judged."""
    known = sorted({(layer.kind, layer.author) for layer in layers if layer.kind != "gold"})
    judges = judges or Precedence()
    for kind, author in judges.entries:
        if author and (kind, author) not in known and kind != "rule":
            allowed = ", ".join(f"{one}:{name}" for one, name in known if one == kind) or f"there is no {kind} layer"
            raise InputError(f"nobody called {author!r} judged as {kind}", allowed=allowed)
    kind, author = named_judge(judges.folding)
    voters = [(one, name) for one, name in known if one != "rule"]
    if author and not any(author == name and kind in ("", one) for one, name in voters):
        names = dict.fromkeys(name for _, name in voters)
        raise InputError(f"nobody called {judges.folding!r} judged", allowed=", ".join((*FOLDINGS, *names)))
