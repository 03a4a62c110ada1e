"""One difference between runs, in words and as values."""

from collections.abc import Mapping
from dataclasses import dataclass

from recordings.files.json_text import Json


@dataclass(frozen=True, slots=True)
class Contrast:
    """A difference between runs, or within one.

    what: `invalid`, `topics`, `topic`, `attributes`, `protocol`, `users`, `groups`, `trials`, `system`, `model`,
        `reading`, `rules`, `gold` or `judgments`.
    said: a sentence for people.
    by_run: the value in each run, keyed by its name; a single entry if one run differs within itself.
    """

    what: str
    said: str
    by_run: Mapping[str, Json]

    def as_json(self) -> dict[str, Json]:
        return {"what": self.what, "said": self.said, "runs": dict(self.by_run)}
