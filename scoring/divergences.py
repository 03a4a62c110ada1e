"""Divergences between an achieved distribution over groups and the gold distribution, and DistrSim.

Every function has two arguments: p, (..., C), the achieved distributions, and q, (..., C), the gold distributions,
over C >= 2 groups. Leading axes broadcast. The result is (...) divergences in [0, 1], 0 if p equals q. A row that is
not a distribution (NaN, a negative weight, a sum off 1 by more than 1e-6) raises ValueError naming the row. There is
no value for missing data: the caller decides how an empty turn counts.

Nominal groups: `jsd`, `rnss`, `variational`. Ordinal groups: `nmd`, `rnod`, `rsnod` and their intermediate forms.

The order-aware divergences (`od`, `rnod` and `nod`) average over the groups with a gold weight above 0. These values
jump when a gold weight rises from 0 to 1e-9, because the group then enters the average. A gold distribution should
contain exact zeros, or no weights near zero.

Sources: [GFRC] §3.1 for JSD, NMD and RNOD; [STC3] (Sakai, EVIA 2017) Eq. 1-10 for RNSS, JSD, OD, SOD, NOD and SNOD.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from topics.arrays import Floats

Divergence = Callable[[npt.ArrayLike, npt.ArrayLike], Floats]

_TOLERANCE = 1e-6 * (1 + 1e-6)  # real gold files have 0.333333 three times, which is off by 1e-6 and a rounding error


_MANY = 4096  # array size from which whole columns are faster
_AT_ONCE = 2**13  # rows whose columns stay in the cache of a processor


def jsd(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Jensen-Shannon divergence in bits, no root: (KL(p‖m) + KL(q‖m)) / 2 with m = (p + q)/2 and 0·log 0 = 0."""
    return _compute_in_blocks(_jensen_shannon, *_check_pair(p, q))


def nmd(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Normalised match distance: sum of |cumulated p - cumulated q| over the groups, over C - 1. Symmetric, for
    ordinal groups. The value is the mean distance that probability must be moved to turn p into q, as a share of the
    longest distance."""
    return _compute_in_blocks(_match_distance, *_check_pair(p, q))


def od(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Order-aware divergence ([STC3] Eq. 7): mean over {i : q_i > 0} of the sum over j of |i-j|·(p_j - q_j)². For
    ordinal groups, in [0, C - 1]. Not symmetric, since the average is over the groups with gold weight."""
    return _compute_in_blocks(_order_aware_distances, *_check_pair(p, q))


def sod(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Symmetric order-aware divergence ([STC3] Eq. 8): (OD(p, q) + OD(q, p)) / 2, in [0, C - 1]."""
    p, q = _check_pair(p, q)
    return (_compute_in_blocks(_order_aware_distances, p, q) + _compute_in_blocks(_order_aware_distances, q, p)) / 2


def nod(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Normalised order-aware divergence ([STC3] Eq. 9): OD / (C - 1). For ordinal groups; not symmetric."""
    p, q = _check_pair(p, q)
    normalised: Floats = _compute_in_blocks(_order_aware_distances, p, q) / (p.shape[-1] - 1)
    return normalised


def rnod(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Root normalised order-aware divergence: sqrt(OD / (C - 1)). For ordinal groups; not symmetric."""
    root: Floats = np.sqrt(nod(p, q))
    return root


def snod(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Symmetric normalised order-aware divergence ([STC3] Eq. 10): SOD / (C - 1). For ordinal groups. [STC3] Fig. 4
    prints .0380 for its second example, but Eq. 10 with the example's five levels gives .0285; only the divisor 3
    gives .0380. This function follows the formula, as the official tools do."""
    p, q = _check_pair(p, q)
    symmetric = (
        _compute_in_blocks(_order_aware_distances, p, q) + _compute_in_blocks(_order_aware_distances, q, p)
    ) / 2
    normalised: Floats = symmetric / (p.shape[-1] - 1)
    return normalised


def rsnod(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Root symmetric normalised order-aware divergence: sqrt(SNOD). For ordinal groups; symmetric."""
    root: Floats = np.sqrt(snod(p, q))
    return root


def rnss(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Root normalised sum of squares: sqrt(sum of (p - q)² / 2). For nominal groups; symmetric."""
    p, q = _check_pair(p, q)
    return _clip_rounding(np.sqrt(np.square(p - q).sum(axis=-1) / 2), 1.0)


def variational(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Normalised variational distance: sum of |p - q| / 2. For nominal groups; symmetric."""
    p, q = _check_pair(p, q)
    return _clip_rounding(np.abs(p - q).sum(axis=-1) / 2, 1.0)


# The normalised divergences by the names that settings and printed measures use.
DIVERGENCES: Mapping[str, Divergence] = MappingProxyType(
    {"JSD": jsd, "NMD": nmd, "RNOD": rnod, "RNSS": rnss, "RSNOD": rsnod, "SNOD": snod, "NOD": nod, "VD": variational}
)


def distribution_similarity(p: npt.ArrayLike, q: npt.ArrayLike, divergence: Divergence) -> Floats:
    """Distribution similarity: 1 - divergence(p, q), in [0, 1]. The similarity is 1 if p equals q ([GFRC] §3.1)."""
    return 1.0 - divergence(p, q)


def _compute_in_blocks(divergence: Callable[[Floats, Floats], Floats], p: Floats, q: Floats) -> Floats:
    """Compute the divergences of many rows in blocks. The results equal a computation in one block to the last bit."""
    if p.ndim != 2 or len(p) <= _AT_ONCE:
        return divergence(p, q)
    parts = [slice(start, start + _AT_ONCE) for start in range(0, len(p), _AT_ONCE)]
    return np.concatenate([divergence(p[part], q[part]) for part in parts])


def _jensen_shannon(p: Floats, q: Floats) -> Floats:
    middle = (p + q) / 2
    bits = _weighted_log(p, middle) + _weighted_log(q, middle)
    return _clip_rounding(_row_sums(bits) / 2, 1.0)


def _match_distance(p: Floats, q: Floats) -> Floats:
    # The last gap counts, as printed and as in official tools: it is 0 unless a gold file is rounded to .333333.
    gaps = _row_sums(np.abs(np.cumsum(p - q, axis=-1)))
    return _clip_rounding(gaps / (p.shape[-1] - 1), 1.0)


def _order_aware_distances(p: Floats, q: Floats) -> Floats:
    squares, support = np.square(p - q), q > 0
    distances = _distances(p.shape[-1])
    if squares.size < _MANY or len(distances) >= 8:
        from_each = (squares[..., None, :] * distances).sum(axis=-1)  # no BLAS: its last bits vary by machine
        whole = np.where(support, from_each, 0.0).sum(axis=-1)
    else:  # the same sums in the same order, a column at a time
        columns = np.ascontiguousarray(np.moveaxis(squares, -1, 0))
        whole = np.zeros(p.shape[:-1])
        for i in range(len(distances)):
            from_here = np.zeros(whole.shape)
            for j in (j for j in range(len(distances)) if j != i):
                from_here += columns[j] * distances[i, j]
            whole += np.where(support[..., i], from_here, 0.0)
    return _clip_rounding(whole / support.sum(axis=-1), p.shape[-1] - 1)


@cache
def _distances(groups: int) -> Floats:
    places = np.arange(groups)
    apart: Floats = np.abs(places[:, None] - places[None, :]).astype(np.float64)
    return apart


def _row_sums(rows: Floats) -> Floats:
    """Sum over the last axis. A few columns are added one by one, which is faster than numpy and has the same order."""
    if rows.shape[-1] >= 8 or rows.size < _MANY:
        sums: Floats = rows.sum(axis=-1)
        return sums
    whole = rows[..., 0].copy()
    for column in range(1, rows.shape[-1]):
        whole += rows[..., column]
    return whole


def _weighted_log(p: Floats, middle: Floats) -> Floats:
    present = p > 0
    ratio = np.divide(p, middle, out=np.ones(np.broadcast_shapes(p.shape, middle.shape)), where=present)
    bits: Floats = p * np.log2(ratio)
    return bits


def _clip_rounding(values: Floats, highest: float) -> Floats:
    kept: Floats = np.minimum(np.maximum(values, 0.0), highest)
    return kept


def _check_pair(p: npt.ArrayLike, q: npt.ArrayLike) -> tuple[Floats, Floats]:
    achieved, gold = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    for name, rows in (("p", achieved), ("q", gold)):
        if rows.ndim == 0 or rows.shape[-1] < 2:
            raise ValueError(f"{name}: a distribution needs at least two groups, here the shape is {rows.shape}")
        _check(name, rows)
    if achieved.shape[-1] != gold.shape[-1]:
        raise ValueError(f"p has {achieved.shape[-1]} groups and q has {gold.shape[-1]}")
    if achieved.shape != gold.shape:
        achieved, gold = np.broadcast_arrays(achieved, gold)
    return achieved, gold


def _check(name: str, rows: Floats) -> None:
    sums = _row_sums(rows)
    if rows.size and rows.min() >= 0 and np.abs(sums - 1).max() <= _TOLERANCE:  # both are false if anything is NaN
        return
    faults = (
        ("holds a value that is not a finite number", ~np.isfinite(rows).all(axis=-1)),
        ("holds a negative weight", (rows < 0).any(axis=-1)),
        ("does not sum to 1", ~(np.abs(sums - 1) <= _TOLERANCE)),
    )
    for what, wrong in faults:
        if wrong.any():
            where = tuple(int(i) for i in np.argwhere(wrong)[0])
            row = f"row {where[0] if len(where) == 1 else where}" if where else "the distribution"
            raise ValueError(f"{name}: {row} {what}: {rows[where].tolist()} (sum {float(sums[where]):.9g})")
