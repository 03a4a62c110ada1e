"""Sets of very many trials, as numbers by system and topic."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, Self

import numpy as np

from recordings.conversations.conversation import TrialKey
from topics.arrays import Counts


class TrialSet(Set[TrialKey]):
    """A set of trials. `numbers` has the numbers of the trials of each system and topic, ascending, each once."""

    def __init__(self, numbers: Mapping[tuple[str, str], Counts]) -> None:
        self.numbers = {name: own for name, own in numbers.items() if len(own)}

    @classmethod
    def of(cls, keys: Iterable[TrialKey]) -> Self:
        if isinstance(keys, cls):
            return keys
        found: dict[tuple[str, str], array[int]] = {}
        for key in keys:
            found.setdefault((key.system, key.topic), array("q")).append(key.trial)
        return cls({name: np.unique(np.frombuffer(own, dtype=np.int64)) for name, own in found.items()})

    # Results of operators are plain sets: they are made of few trials.
    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return frozenset(it)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, TrialKey):
            return False
        own = self.numbers.get((key.system, key.topic))
        at = -1 if own is None else int(np.searchsorted(own, key.trial))
        return own is not None and at < len(own) and int(own[at]) == key.trial

    def __iter__(self) -> Iterator[TrialKey]:
        return (TrialKey(*name, trial) for name, own in self.numbers.items() for trial in own.tolist())

    def __len__(self) -> int:
        return sum(map(len, self.numbers.values()))

    @property
    def widest(self) -> int:
        """The number of different trial numbers."""
        return len(np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *self.numbers.values()])))

    def without(self, *others: "TrialSet") -> "TrialSet":
        """Return the trials that are in none of the other sets."""
        left = {}
        for name, own in self.numbers.items():
            gone = [one.numbers[name] for one in others if name in one.numbers]
            left[name] = own[~np.isin(own, np.concatenate(gone))] if gone else own
        return TrialSet(left)

    def of_system(self, system: str) -> Counts:
        """Return the numbers that the system's trials have on any topic, ascending, each once."""
        own = [numbers for (name, _), numbers in self.numbers.items() if name == system]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *own]))
