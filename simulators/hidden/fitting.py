"""Fitting of hidden Markov models of users by expectation maximisation (EM).

A person has the same class in all dialogues, so the posterior of the class uses all dialogues of the person. Given
the class, dialogues are independent. One EM step is a Baum–Welch step with each dialogue weighted by that posterior.
Pseudo-observations keep every probability above 0. For each emission, one observation follows the overall
distribution of acts. For the transitions after one answer, five observations follow the transitions after any answer.
For all other rows, one observation is uniform.

EM finds a local maximum that depends on its start, and the true number of states is unknown. Therefore a mixture of
models of several sizes is played, each fitted from several random starts with equal weights. The weights of the sizes
and the number of classes are chosen to predict people who were not used in the fit (`choose_recipe`).

Source: L. E. Baum, T. Petrie, G. Soules, N. Weiss, Ann. Math. Stat. 41, 1970; L. R. Rabiner, Proc. IEEE 77, 1989, eq.
19-27 and 40; mixtures of hidden Markov models: P. Smyth, NIPS 9, 1997; weights by held-out likelihood: P. Smyth, D.
Wolpert, Machine Learning 36, 1999 (stacking).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simulators.act_table import ANY, STOP, UNKNOWN, ActSequence
from simulators.hidden.model import HiddenModel, Part
from topics.arrays import Counts, Floats

Person = tuple[ActSequence, ...]  # the dialogues of one person, at least one

STATES = (4, 8, 12)  # of the sizes in the mixture
CLASSES = (1, 2, 3)  # of people
STARTS = 3  # because the likelihood has local maxima
_FOLDS, _TRIED = 3, 2  # folds and starts when comparing sizes
_STEPS, _ENOUGH = 80, 1e-4  # most EM steps, and the relative gain below which it stops
_POOLED_COUNT = 5.0  # pseudo-observations of the pooled transitions, for those after one answer
_MOST_DECISIONS = 10_000  # decisions of the people used to compare sizes
_LEAST_WEIGHT = 0.02  # a size with a smaller weight is left out


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings of a fit: the number of classes (at least 1), and a weight for each size in STATES (with sum 1)."""

    classes: int = 1
    weights: tuple[float, ...] = (1 / 3, 1 / 3, 1 / 3)


def fit_hidden(
    people: Sequence[Person],
    acts: Sequence[str],
    recipe: Recipe,
    rng: np.random.Generator,
    *,
    starts: int = STARTS,
    answers: Sequence[str] = (),
) -> HiddenModel:
    """Fit a model to these people. All `acts` are possible. Each answer in `answers` has separate transitions, and
    all other answers have common transitions. Classes are ordered by how long their people stay, shortest first."""
    seen = _Dialogues.encode_people(people, acts, answers)
    kept = [(states, weight) for states, weight in zip(STATES, recipe.weights, strict=True) if weight >= _LEAST_WEIGHT]
    each = starts * sum(weight for _, weight in kept)
    parts = [
        found.select_parts(np.array([place])).single_part(answers, weight / each)
        for states, weight in kept
        for found in [_run_em(_draw_starts(seen, states, recipe.classes, starts, rng), seen)]
        for place in range(starts)
    ]
    return HiddenModel(tuple(acts), tuple(parts))


def choose_recipe(
    people: Sequence[Person],
    acts: Sequence[str],
    rng: np.random.Generator,
    *,
    answers: Sequence[str] = (),
    starts: int = _TRIED,
    folds: int = _FOLDS,
) -> Recipe:
    """Return the recipe whose model best predicts people who were not used in the fit. All dialogues of a person are
    predicted together. More than one class is tried if any person has several dialogues. With fewer than two people,
    all sizes have the same weight."""
    chosen: list[Person] = []
    decisions = 0
    for place in rng.permutation(len(people)):
        if decisions >= _MOST_DECISIONS and len(chosen) >= folds:
            break
        chosen.append(people[place])
        decisions += sum(len(one.acts) + one.ended for one in people[place])
    folds = min(folds, len(chosen))
    if folds < 2:
        return Recipe()
    several = any(len(one) > 1 for one in chosen)
    best, most = Recipe(), -np.inf
    parted = []
    for here in range(folds):
        training = [one for place, one in enumerate(chosen) if place % folds != here]
        parted.append(
            (
                _Dialogues.encode_people(training, acts, answers),
                _Dialogues.encode_people(chosen[here::folds], acts, answers),
            )
        )
    alike = np.full(starts, 1 / starts)
    for classes in CLASSES if several else CLASSES[:1]:
        held_out = [
            [
                _mixture_likelihood(
                    [_run_em(_draw_starts(training, states, classes, starts, rng), training)], alike, test
                )
                for states in STATES
            ]
            for training, test in parted
        ]
        weights, total = _stack_models(np.concatenate(held_out, axis=1))
        if total > most:
            best, most = Recipe(classes, tuple(weights.tolist())), total
    return best


def _stack_models(logs: Floats) -> tuple[Floats, float]:
    """Return the weights of the models that best predict all people, and the log-likelihood with these weights.
    `logs` is an array (models, people). Each model starts with the weight of one person, so that few people change
    the weights little."""
    weights = np.full(len(logs), 1 / len(logs))
    for _ in range(_STEPS):
        shares = np.exp(logs - logs.max(axis=0)) * weights[:, None]
        weights = _normalise((shares / shares.sum(axis=0)).sum(axis=1) + 1)
    return weights, float(_log_sum(logs + np.log(weights)[:, None]).sum())


def log_likelihoods(model: HiddenModel, people: Sequence[Person], *, together: bool = True) -> Floats:
    """Return the natural log-probability of all acts of each person, as an array (people,). With `together`, all
    dialogues of a person have the same class and part. Otherwise each dialogue counts as a different person, as in
    play."""
    answers = [answer for answer in model.parts[0].transitions if answer != ANY]
    apart = [(one,) for person in people for one in person]
    seen = _Dialogues.encode_people(people if together else apart, model.acts, answers)
    each = _mixture_likelihood(
        [_parameters_of_part(part, answers) for part in model.parts],
        _normalise(np.array([part.weight for part in model.parts])),
        seen,
    )
    if together:
        return each
    who = np.repeat(np.arange(len(people)), [len(person) for person in people])
    return np.bincount(who, each, minlength=len(people)).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Dialogues:
    """The dialogues of P persons as arrays: N distinct dialogues with M decisions.

    Equal dialogues are computed once. Dialogues are sorted by length, longest first, and decisions by their position
    in the dialogue. So the dialogues that reach a position come first among all dialogues.

    - `spans`: the slice of the decisions at each position.
    - `acts`: array (M,) of act indices, V for leaving. `one_hot` has the same acts as an array (V + 1, M).
    - `dialogues`: array (M,) of each decision's dialogue.
    - `before`: array (M - N,) with the previous decision of each later decision.
    - `answers`: for each answer (index 0: any other answer), the indices of the later decisions after it.
    - `by_place`: `answers` with the indices counted within each span.
    - `which`, `whose`: the distinct dialogue and the person of each recorded dialogue.
    - `opening`, `later`: arrays (V,) and (V + 1,) of the shares of acts in all first and all later decisions.
    """

    spans: list[slice]
    acts: Counts
    one_hot: Floats
    dialogues: Counts
    before: Counts
    answers: list[Counts]
    by_place: list[list[Counts]]
    which: Counts
    whose: Counts
    persons: int
    opening: Floats
    later: Floats

    @classmethod
    def encode_people(cls, people: Sequence[Person], acts: Sequence[str], answers: Sequence[str]) -> "_Dialogues":
        number = {act: place for place, act in enumerate((*acts, STOP))}
        kind = {answer: place for place, answer in enumerate(answers, 1)}
        recorded = []
        for person in people:
            for one in person:
                done = tuple(number[act] for act in (*one.acts, *((STOP,) if one.ended else ())))
                kinds = tuple(kind.get(answer, 0) for answer in (*one.answers, UNKNOWN))
                recorded.append((done, kinds[: len(done) - 1]))
        rows = sorted(dict.fromkeys(recorded), key=lambda row: -len(row[0]))
        places = {row: place for place, row in enumerate(rows)}
        which = np.array([places[row] for row in recorded])
        going = [sum(len(done) > place for done, _ in rows) for place in range(len(rows[0][0]))]
        ends = np.cumsum(going).tolist()
        spans = [slice(end - n, end) for n, end in zip(going, ends, strict=True)]
        found = np.array([done[place] for place, n in enumerate(going) for done, _ in rows[:n]])
        after = np.array([after[place] for place, n in enumerate(going[1:]) for _, after in rows[:n]], dtype=np.int64)
        dialogues = np.concatenate([np.arange(n) for n in going])
        one_hot = (np.arange(len(number))[:, None] == found).astype(np.float64)
        # Half a pseudo-observation each: an act that was not seen here may be seen later.
        often = one_hot * np.bincount(which)[dialogues]
        opening = often[:-1, spans[0]].sum(axis=1) + 0.5
        later = often[:, len(rows) :].sum(axis=1) + 0.5
        each = range(1 + len(answers))
        after_each = np.split(after, [end - len(rows) for end in ends[1:-1]])
        return cls(
            spans,
            found,
            one_hot,
            dialogues,
            np.concatenate([np.arange(0), *(np.arange(n) + at.start for at, n in zip(spans, going[1:], strict=False))]),
            [np.flatnonzero(after == one) for one in each],
            [[np.flatnonzero(here == one) for one in each] for here in after_each],
            which,
            np.repeat(np.arange(len(people)), [len(person) for person in people]),
            len(people),
            opening / opening.sum(),
            later / later.sum(),
        )


class _Parameters(NamedTuple):
    """The parameters of K parts with S states: classes (K, C), initial (K, C, S), opening (K, S, V), emissions (K, S,
    V + 1), transitions (K, A, S, S). The first of the A answers means any other answer."""

    classes: Floats
    initial: Floats
    opening: Floats
    emissions: Floats
    transitions: Floats

    def select_parts(self, places: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> "_Parameters":
        return _Parameters(*(one[places] for one in self))

    def single_part(self, answers: Sequence[str], weight: float) -> Part:
        (classes,), (initial,), (opening,), (emissions,), (transitions,) = self
        # (S,) expected user turns after the first, by its state; for ordering the classes.
        staying = 1 - emissions[:, -1]
        onwards = transitions[0] * staying
        turns: Floats = np.linalg.solve(np.eye(len(staying)) - onwards, onwards.sum(axis=1))
        order = np.argsort(initial @ turns, kind="stable")
        return Part.from_rows(
            weight,
            opening.shape[1],
            classes[order].tolist(),
            initial[order].tolist(),
            opening.tolist(),
            emissions.tolist(),
            {answer: rows.tolist() for answer, rows in zip((ANY, *answers), transitions, strict=True)},
        )


def _draw_starts(seen: _Dialogues, states: int, classes: int, starts: int, rng: np.random.Generator) -> _Parameters:
    acts = len(seen.later)
    drawn = []
    for _ in range(starts):
        moves = rng.dirichlet(np.ones(states), states)
        drawn.append(
            (
                np.full(classes, 1 / classes),
                rng.dirichlet(np.ones(states), classes),
                rng.dirichlet(np.ones(acts - 1), states),
                rng.dirichlet(np.ones(acts), states),
                np.repeat(moves[None], len(seen.answers), axis=0),
            )
        )
    return _Parameters(*(np.stack(each) for each in zip(*drawn, strict=True)))


class _ForwardPass(NamedTuple):
    """The result of the forward pass. `likely` (K, 1, M, S) is the probability of the act in each state, `chances`
    (K, C, M, 1) the probability of the act, and `beliefs` (K, C, M, S) the beliefs after the act. `persons` (K, C, P)
    is the joint log-probability of the class and all acts of the person."""

    likely: Floats
    beliefs: Floats
    chances: Floats
    persons: Floats


def _forward_pass(parts: _Parameters, seen: _Dialogues) -> _ForwardPass:
    first = seen.spans[0].stop
    opened = parts.opening.swapaxes(1, 2).take(seen.acts[:first], axis=1)
    later = parts.emissions.swapaxes(1, 2).take(seen.acts[first:], axis=1)
    likely = np.concatenate([opened, later], axis=1)[:, None]
    beliefs = np.empty((*parts.classes.shape, *likely.shape[2:]))
    chances = np.empty((*beliefs.shape[:3], 1))
    for place, span in enumerate(seen.spans):
        if place:
            start = seen.spans[place - 1].start
            last = beliefs[:, :, start : start + span.stop - span.start]
            joint = _move_beliefs(last, parts.transitions, seen.by_place[place - 1])
            joint *= likely[:, :, span]
        else:
            joint = parts.initial[:, :, None] * likely[:, :, span]
        chance = joint.sum(axis=3, keepdims=True, out=chances[:, :, span])
        np.divide(joint, chance, out=beliefs[:, :, span])
    logs = _sum_by(seen.dialogues, np.log(chances[..., 0]), first)
    persons = _sum_by(seen.whose, logs[..., seen.which], seen.persons)
    return _ForwardPass(likely, beliefs, chances, persons + np.log(parts.classes)[..., None])


def _move_beliefs(belief: Floats, transitions: Floats, answers: Sequence[Counts]) -> Floats:
    """Return beliefs (K, C, n, S) times transitions (K, A, S, S). `answers` has the rows of n after each answer."""
    if len(answers) == 1:
        moved: Floats = belief @ transitions
        return moved
    found = np.empty_like(belief)
    for answer, these in enumerate(answers):
        if len(these):
            found[:, :, these] = belief.take(these, axis=2) @ transitions[:, answer, None]
    return found


def _sum_by(groups: Counts, values: Floats, size: int) -> Floats:
    rows = [np.bincount(groups, row, minlength=size) for row in values.reshape(-1, values.shape[-1])]
    return np.array(rows, dtype=np.float64).reshape(*values.shape[:-1], size)


def _mixture_likelihood(parts: Sequence[_Parameters], weights: Floats, seen: _Dialogues) -> Floats:
    """Return the log-likelihood (P,) of each person under the mixture of parts with `weights`, which sum to 1."""
    each = np.concatenate([_log_sum(_forward_pass(some, seen).persons, axis=1) for some in parts])
    return _log_sum(each + np.log(weights)[:, None])


def _log_sum(logs: Floats, axis: int = 0) -> Floats:
    most = logs.max(axis=axis, keepdims=True)
    found: Floats = most.squeeze(axis) + np.log(np.exp(logs - most).sum(axis=axis))
    return found


def _run_em(parts: _Parameters, seen: _Dialogues) -> _Parameters:
    """Run EM on all parts at once, because with small arrays calls of numpy cost more than the arithmetic."""
    before = np.full(len(parts.classes), -np.inf)
    going = np.arange(len(before))
    for _ in range(_STEPS):
        now = parts.select_parts(going)
        passed = _forward_pass(now, seen)
        total = _log_sum(passed.persons, axis=1)
        score = total.sum(axis=1)
        better = ~(score - before < _ENOUGH * abs(score))
        if not better.any():
            break
        going, before = going[better], score[better]
        newer = _maximise(now, seen, passed, np.exp(passed.persons - total[:, None]))
        for all_parts, some in zip(parts, newer.select_parts(better), strict=True):
            all_parts[going] = some
    return parts


def _maximise(parts: _Parameters, seen: _Dialogues, passed: _ForwardPass, shares: Floats) -> _Parameters:
    """Run one EM step: expected counts from the backward pass, then new parts. `shares` (K, C, P) are posteriors."""
    likely, beliefs, chances, _ = passed
    first = seen.spans[0].stop
    often = _sum_by(seen.which, shares[..., seen.whose], first)
    weighted = beliefs * often[..., seen.dialogues, None]
    # Backward variables after each decision, scaled by their probability; and the same before the decision.
    ahead, onwards = np.ones_like(beliefs), likely / chances
    back = parts.transitions.swapaxes(2, 3)
    for place in range(len(seen.spans) - 1, 0, -1):
        span, start = seen.spans[place], seen.spans[place - 1].start
        onward = onwards[:, :, span]
        onward *= ahead[:, :, span]
        ahead[:, :, start : start + span.stop - span.start] = _move_beliefs(onward, back, seen.by_place[place - 1])
    ahead *= weighted
    done = ahead.sum(axis=1)
    opened = seen.one_hot[:-1, :first] @ done[:, :first]
    emitted = seen.one_hot[:, first:] @ done[:, first:]
    left, onwards = weighted.take(seen.before, axis=2).swapaxes(2, 3), onwards[:, :, first:]
    if len(seen.answers) == 1:
        moved = (left @ onwards).sum(axis=1, keepdims=True)
    else:
        by_answer = [left.take(these, axis=3) @ onwards.take(these, axis=2) for these in seen.answers]
        moved = np.stack(by_answer, axis=1).sum(axis=2)
    moved *= parts.transitions
    pooled = _normalise(moved.sum(axis=1) + 1 / beliefs.shape[3])
    transitions = _normalise(moved + _POOLED_COUNT * pooled[:, None])
    transitions[:, 0] = pooled
    return _Parameters(
        _normalise(shares.sum(axis=2) + 1),
        _normalise(ahead[:, :, :first].sum(axis=2) + 1 / beliefs.shape[3]),
        _normalise(opened.swapaxes(1, 2) + seen.opening),
        _normalise(emitted.swapaxes(1, 2) + seen.later),
        transitions,
    )


def _normalise(counts: Floats) -> Floats:
    found: Floats = counts / counts.sum(axis=-1, keepdims=True)
    return found


def _parameters_of_part(part: Part, answers: Sequence[str]) -> _Parameters:
    transitions = [part.transitions[answer] for answer in (ANY, *answers)]
    tables = (part.classes, part.initial, part.opening, part.emissions, transitions)
    return _Parameters(*(np.array(table)[None] for table in tables))
