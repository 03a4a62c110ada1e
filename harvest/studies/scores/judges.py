"""By which criteria conversations are judged in a study, and whose judgments of them count."""

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
    """schema: None for the one that comes with Harvest, which is read when it is asked for: that takes a while.
    precedence: whose judgments count, and how several of one thing become one.
    """

    schema: Schema | None = None
    precedence: Precedence = field(default_factory=Precedence)

    @property
    def criteria(self) -> Schema:
        return self.schema or load_schema(SHIPPED)

    def judged(self, layers: Iterable[Layer]) -> Judged:
        """What they say in these layers. Raises InputError for a name that nobody judged by."""
        schema, layers = self.criteria, tuple(layers)
        refuse_unknown(self.precedence, layers)
        return Judged(schema, Judgments.of(layers, schema, self.precedence))


def refuse_unknown(judges: Precedence | None, layers: Sequence[Layer]) -> None:
    """A name nobody judged by is a slip of the pen; silently, it would look as if nothing were judged."""
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
