"""Attempts that are passed on one by one while the files of a run are read, so that few are in memory at a time."""

from collections.abc import Callable

from recordings.events.attempts import Attempt, Attempts


class PassingAttempts(Attempts):
    """Hands each attempt to `take` when it ends, and forgets it. `found` has the attempts that have not ended. An event
    after the end of its attempt raises RunError; `take` has to notice a second attempt with the same name."""

    def __init__(self, take: Callable[[Attempt], None]) -> None:
        super().__init__()
        self._take = take

    def _drop_details(self, attempt: Attempt) -> None:
        del self.found[attempt.started.trial_id, attempt.started.attempt]
        self._take(attempt)
