"""A run with only outlines of its conversations, and their figures, in memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from recordings.conversations.outlines import Outlines
from recordings.log.run_folder import Run
from recordings.trees.tree import ConversationTree
from scoring.measured import Measured
from scoring.settings import Settings
from scoring.table import DeferredRows, ScoreRow, ScoreTable


@dataclass(frozen=True, slots=True)
class KeptTable:
    """The figures of a run over all trials, as they were computed before. `settings` is the text of their settings.
    `again` computes the whole table again, with the rows of single trials, which are seldom printed."""

    rows: Sequence[ScoreRow]
    settings: str
    notes: tuple[str, ...]
    coverage: tuple[str, ...]
    again: Callable[[], ScoreTable]

    def table(self, settings: Settings) -> ScoreTable:
        """Raises ValueError if the figures were computed with other settings."""
        if repr(settings) != self.settings:
            raise ValueError("these figures were computed with other settings")
        late = DeferredRows("trial", self._trial_rows)
        return ScoreTable((late, *self.rows), settings, self.notes, self.coverage)

    def _trial_rows(self, _: bool) -> Iterable[ScoreRow]:
        return self.again().single("trial")


@dataclass(frozen=True, repr=False)
class OutlinedRun(Run):
    """A run that was read in one pass. It has no attempts. `outlines` has all conversations without their words, and
    `measured` the default figures of the valid conversations, unless their table was kept. `answers` has their first
    answers (see `FirstAnswers`), or None if they are unknown. `trees` are the trees by label of the valid conversations
    of each system, in their order but without their names. `is_kept` is true of a run that was read from its
    columns."""

    outlines: Outlines
    measured: Measured | None = None
    kept: KeptTable | None = None
    answers: Mapping[tuple[str, str], Sequence[str]] | None = None
    trees: Mapping[str, ConversationTree] = field(default_factory=dict)
    is_kept: bool = False

    @cached_property
    def conversations(self) -> Outlines:  # type: ignore[override]
        return self.outlines

    @cached_property
    def finished(self) -> Outlines:  # type: ignore[override]
        return self.outlines.valid
