"""Values of many parts at once: to the last bit those of each part alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from scoring.columns import means_over_topics, present_means
from scoring.measures.usefulness import share, shares

shapes = arrays.array_shapes(min_dims=2, max_dims=2, max_side=40)
numbers = st.one_of(st.floats(0, 1), st.just(math.nan))
answers = st.sampled_from([0.0, 1.0, 2.0, math.nan])


@given(arrays.arrays(np.float64, shapes, elements=numbers))
def test_means_are_those_of_each_row_alone(rows: np.ndarray) -> None:
    known = [row[~np.isnan(row)] for row in rows]
    alone = [row.mean() if len(row) else math.nan for row in known]
    np.testing.assert_array_equal(present_means(rows), alone)
    zeroed = [
        np.nan_to_num(row).sum() / len(one) if len(one) else math.nan for row, one in zip(rows, known, strict=True)
    ]
    np.testing.assert_array_equal(means_over_topics(rows[:, None, :]), zeroed)


@pytest.mark.parametrize("pooled", [False, True])
@given(data=st.data())
def test_shares_are_those_of_each_part_alone(data: st.DataObject, pooled: bool) -> None:
    shape = data.draw(shapes)
    below = data.draw(arrays.arrays(np.float64, shape, elements=answers))
    above = np.minimum(data.draw(arrays.arrays(np.float64, shape, elements=answers)), below)
    lost = data.draw(arrays.arrays(np.bool_, shape))
    parts = (above[:, :, None], below[:, :, None], lost[:, :, None])
    found = shares(*parts, 2.0, pooled=pooled)
    for i, part in enumerate(found):
        units = [str(unit) for unit in range(shape[1])]
        alone = share(units, *(side[i] for side in parts), level=0.95, pooled=pooled, whole=2.0)
        expected = (alone.value, alone.n, alone.topics, alone.worst, alone.best)
        np.testing.assert_array_equal((part.value, part.n, part.topics, part.worst, part.best), expected)
