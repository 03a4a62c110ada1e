"""One respect in which runs differ, in words and as a value."""

from collections.abc import Mapping
from dataclasses import dataclass

from recordings.files.json_text import Json


@dataclass(frozen=True, slots=True)
class Contrast:
    """what: `invalid`, `topics`, `topic`, `attributes`, `protocol`, `users`, `groups`, `trials`, `system`, `model`,
    `reading`, `rules`, `gold` or `judgments`. said: a sentence for people. by_run: by the run's name, what it has
    there; a single name where one run differs within itself.
    """

    what: str
    said: str
    by_run: Mapping[str, Json]

    def as_json(self) -> dict[str, Json]:
        return {"what": self.what, "said": self.said, "runs": dict(self.by_run)}
