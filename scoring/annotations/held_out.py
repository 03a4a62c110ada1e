"""Splits by whole units, so that a prediction never uses other parts of the same dialogue (or system).

Turns of one dialogue are not independent, nor are dialogues of one system: a split by turns would let a predictor learn
the answers that it is tested on. Baselines, and detectors that are trained elsewhere, use these splits.
"""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from topics.arrays import Floats

Mask = npt.NDArray[np.bool_]


def split_by_unit(
    units: Sequence[Hashable], *, folds: int | None = None, rng: np.random.Generator | None = None
) -> Iterator[tuple[Mask, Mask]]:
    """Yield (train, test) masks over the rows: every row is in exactly one test mask, and no unit is in both masks.

    `units` are (rows,): the dialogue or the system of each row, with at least two different units. By default each unit
    is held out in turn; otherwise the units, shuffled by `rng`, are divided into `folds` parts of nearly equal size.
    Raises ValueError for fewer than two units, and for an impossible number of folds.
    """
    numbers = _number_names(units)
    count = int(numbers.max(initial=-1)) + 1
    if count < 2:
        raise ValueError(f"at least two units are needed for a split, not {count}")
    if folds is None:
        dealt, parts = np.arange(count), count
    else:
        if not 2 <= folds <= count:
            raise ValueError(f"{count} units can be divided into 2 to {count} folds, not {folds}")
        if rng is None:
            raise ValueError("folds are drawn at random, so `rng` is required")
        dealt, parts = np.empty(count, dtype=np.int64), folds
        dealt[rng.permutation(count)] = np.arange(count) % folds
    of_row = dealt[numbers]
    for part in range(parts):
        test = of_row == part
        yield ~test, test


def mean_of_others(rows: npt.ArrayLike, units: Sequence[Hashable], within: Sequence[Hashable] | None = None) -> Floats:
    """Return for each row the mean of the rows of all other units. If `within` is given, only rows with the same value
    in `within` count. `rows` are (n, C); `units` and `within` are (n,). The (n, C) result is NaN if no row counts."""
    values = np.asarray(rows, dtype=np.float64)
    groups = np.zeros(len(values), dtype=np.int64) if within is None else _number_names(within)
    cells = _number_names(list(zip(groups.tolist(), units, strict=True)))
    sums = np.zeros((int(cells.max(initial=-1)) + 1, values.shape[1]))
    whole = np.zeros((int(groups.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(sums, cells, values)
    np.add.at(whole, groups, values)
    left = np.bincount(groups)[groups] - np.bincount(cells)[cells]
    found = np.full(values.shape, np.nan)
    known = left > 0
    found[known] = np.maximum((whole[groups] - sums[cells])[known] / left[known, None], 0.0)
    return found


def _number_names(names: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)
