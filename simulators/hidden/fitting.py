"""Hidden states of recorded users by expectation maximisation (EM), all dialogues of a person together.

The class of a person is the same in all their dialogues, so the posterior of the class is over all of these; given the
class, dialogues are independent. One EM step is Baum and Welch's, with each dialogue weighted by that posterior. Rows
are kept from 0 by one pseudo-observation each: of an emission, what all decisions together look like; of a transition
after one answer, what follows any answer, five observations' worth; of other rows, uniform.

EM finds a local maximum that depends on where it starts, and nothing says how many states people have. So models of
several sizes are fitted, each from several random starts, and what is played is their mixture. Starts weigh alike; the
weights of sizes and the number of classes are those that foresee best people whom the models were not fitted on
(`choose`), never those that fit best the people they were fitted on.

Source: L. E. Baum, T. Petrie, G. Soules, N. Weiss, Ann. Math. Stat. 41, 1970; L. R. Rabiner, Proc. IEEE 77, 1989,
eq. 19-27 and 40; mixtures of hidden Markov models: P. Smyth, NIPS 9, 1997; weights by held-out likelihood: P. Smyth,
D. Wolpert, Machine Learning 36, 1999 (stacking).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulators.act_table import ANY, STOP, UNKNOWN, ActSequence
from simulators.hidden.model import HiddenModel, Part

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

# The dialogues of one person, at least one.
Person = tuple[ActSequence, ...]

# Sizes that are mixed, by their number of states.
STATES = (4, 8, 12)

CLASSES = (1, 2, 3)  # of people: what is played is the mixture of all sizes
STARTS = 3  # the likelihood has local maxima
_FOLDS, _TRIED = 3, 2  # for comparing sizes: folds, and starts of each fit
_STEPS, _ENOUGH = 80, 1e-4  # of EM: at most, and the relative gain at which it ends
_POOLED = 5.0  # observations that the transitions after any answer are worth in those after one
_MOST = 10_000  # decisions of the people among whom sizes are compared
_LEAST = 0.02  # a size that weighs less is left out


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is fitted. classes: C, at least 1. weights: of the sizes of STATES, together 1."""

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
    """The model of these people. acts: all that can occur. answers: after which transitions are estimated apart; all
    others are one. Classes are in the order of how long their people stay, shortest first."""
    seen = _Seen.of(people, acts, answers)
    kept = [(states, weight) for states, weight in zip(STATES, recipe.weights, strict=True) if weight >= _LEAST]
    each = starts * sum(weight for _, weight in kept)
    parts = [
        _part(_em(_start(seen, states, recipe.classes, rng), seen), answers, weight / each)
        for states, weight in kept
        for _ in range(starts)
    ]
    return HiddenModel(tuple(acts), tuple(parts))


def choose(
    people: Sequence[Person],
    acts: Sequence[str],
    rng: np.random.Generator,
    *,
    answers: Sequence[str] = (),
    starts: int = _TRIED,
    folds: int = _FOLDS,
) -> Recipe:
    """The recipe whose model foresees best those people whom it was not fitted on, each person's dialogues together.

    More than one class is tried if anybody has several dialogues. With fewer than two people, all sizes weigh alike.
    """
    chosen: list[Person] = []
    decisions = 0
    for place in rng.permutation(len(people)):
        if decisions >= _MOST and len(chosen) >= folds:
            break
        chosen.append(people[place])
        decisions += sum(len(one.acts) + one.ended for one in people[place])
    folds = min(folds, len(chosen))
    if folds < 2:
        return Recipe()
    several = any(len(one) > 1 for one in chosen)
    best, most = Recipe(), -np.inf
    for classes in CLASSES if several else CLASSES[:1]:
        held_out = []
        for here in range(folds):
            training = _Seen.of([one for place, one in enumerate(chosen) if place % folds != here], acts, answers)
            test = _Seen.of([one for place, one in enumerate(chosen) if place % folds == here], acts, answers)
            held_out.append(
                [
                    _mixture_likelihood(
                        [_em(_start(training, states, classes, rng), training) for _ in range(starts)],
                        np.full(starts, 1 / starts),
                        test,
                    )
                    for states in STATES
                ]
            )
        weights, total = _stack_models(np.concatenate(held_out, axis=1))
        if total > most:
            best, most = Recipe(classes, tuple(weights.tolist())), total
    return best


def _stack_models(logs: Floats) -> tuple[Floats, float]:
    """The weights of models by which people are foreseen best, and the log-likelihood of all people with them. logs:
    (models, people). Each model has one person's worth of weight beforehand, so that few people decide little."""
    weights = np.full(len(logs), 1 / len(logs))
    for _ in range(_STEPS):
        shares = np.exp(logs - logs.max(axis=0)) * weights[:, None]
        weights = _shares((shares / shares.sum(axis=0)).sum(axis=1) + 1)
    return weights, float(_log_sum(logs + np.log(weights)[:, None]).sum())


def log_likelihoods(model: HiddenModel, people: Sequence[Person], *, together: bool = True) -> Floats:
    """(people,) natural logarithm of the probability of all that each person did.

    together: the class and part of a person are the same in all their dialogues; False: each dialogue is somebody
    else's, as in conversations that are played.
    """
    answers = [answer for answer in model.parts[0].transitions if answer != ANY]
    apart = [(one,) for person in people for one in person]
    seen = _Seen.of(people if together else apart, model.acts, answers)
    each = _mixture_likelihood(
        [_arrays(part, answers) for part in model.parts], _shares(np.array([part.weight for part in model.parts])), seen
    )
    if together:
        return each
    who = np.repeat(np.arange(len(people)), [len(person) for person in people])
    return np.bincount(who, each, minlength=len(people)).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """N dialogues of P persons as numbers, the longest first, so that those still going on at a decision come first.

    acts: for each decision, (n,) what was done by the n dialogues that have it; V is leaving. answers: (n,) which
    answer came before, 0 for any. one_hot: (V + 1, n) of acts. whose: (N,) persons. kinds: answers told apart, any
    among them. opening, later: (V,), (V + 1,) what all first and all later decisions look like.
    """

    acts: list[Counts]
    answers: list[Counts]
    one_hot: list[Floats]
    whose: Counts
    persons: int
    kinds: int
    opening: Floats
    later: Floats

    @classmethod
    def of(cls, people: Sequence[Person], acts: Sequence[str], answers: Sequence[str]) -> _Seen:
        number = {act: place for place, act in enumerate((*acts, STOP))}
        kind = {answer: place for place, answer in enumerate(answers, 1)}
        rows = []
        for who, person in enumerate(people):
            for one in person:
                done = [number[act] for act in (*one.acts, *((STOP,) if one.ended else ()))]
                before = [0, *(kind.get(answer, 0) for answer in (*one.answers, UNKNOWN))][: len(done)]
                rows.append((done, before, who))
        rows.sort(key=lambda row: -len(row[0]))
        found, before_each = [], []
        for place in range(len(rows[0][0])):
            going = [row for row in rows if len(row[0]) > place]
            found.append(np.array([row[0][place] for row in going]))
            before_each.append(np.array([row[1][place] for row in going]))
        size = len(number)
        one_hot = [(np.arange(size)[:, None] == done).astype(np.float64) for done in found]
        # What all decisions look like, half an observation added to each: an act that is not here may be seen later.
        opening = one_hot[0].sum(axis=1)[:-1] + 0.5
        later = sum((one.sum(axis=1) for one in one_hot[1:]), np.zeros(size)) + 0.5
        whose = np.array([who for _, _, who in rows])
        return cls(
            found,
            before_each,
            one_hot,
            whose,
            len(people),
            1 + len(answers),
            opening / opening.sum(),
            later / later.sum(),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Arrays:
    """A part as arrays: classes (C,), initial (C, S), opening (S, V), emissions (S, V + 1), transitions (A, S, S), the
    first of these after any answer."""

    classes: Floats
    initial: Floats
    opening: Floats
    emissions: Floats
    transitions: Floats


def _start(seen: _Seen, states: int, classes: int, rng: np.random.Generator) -> _Arrays:
    acts = len(seen.later) - 1
    moves = rng.dirichlet(np.ones(states), states)
    return _Arrays(
        np.full(classes, 1 / classes),
        rng.dirichlet(np.ones(states), classes),
        rng.dirichlet(np.ones(acts), states),
        rng.dirichlet(np.ones(acts + 1), states),
        np.repeat(moves[None], seen.kinds, axis=0),
    )


def _forward(part: _Arrays, seen: _Seen) -> tuple[list[Floats], list[Floats], Floats]:
    """For each decision (C, n, S) the belief after it and (C, n, 1) the probability of what was done; then (C, N) the
    logarithm of the probability of each dialogue, by class."""
    beliefs: list[Floats] = []
    chances: list[Floats] = []
    logs = np.zeros((len(part.classes), len(seen.whose)))
    for place, done in enumerate(seen.acts):
        n = len(done)
        if place:
            joint = _move_belief(beliefs[-1][:, :n], part.transitions, seen.answers[place])
            joint *= part.emissions.T[done]
        else:
            joint = part.initial[:, None, :] * part.opening.T[done]
        chance = joint.sum(axis=2, keepdims=True)
        beliefs.append(joint / chance)
        chances.append(chance)
        logs[:, :n] += np.log(chance[:, :, 0])
    return beliefs, chances, logs


def _move_belief(belief: Floats, transitions: Floats, answers: Counts) -> Floats:
    """belief · transitions after each answer. belief: (C, n, S). transitions: (A, S, S). answers: (n,)."""
    if len(transitions) == 1:
        moved: Floats = belief @ transitions[0]
        return moved
    found = np.empty_like(belief)
    for answer, rows in enumerate(transitions):
        these = answers == answer
        found[:, these] = belief[:, these] @ rows
    return found


def _by_person(part: _Arrays, logs: Floats, seen: _Seen) -> Floats:
    """(C, P) log of class and dialogues together."""
    found: Floats = np.stack([np.bincount(seen.whose, row, minlength=seen.persons) for row in logs]).astype(np.float64)
    joint: Floats = found + np.log(part.classes)[:, None]
    return joint


def _mixture_likelihood(parts: Sequence[_Arrays], weights: Floats, seen: _Seen) -> Floats:
    """(P,) log-likelihood of each person, who follows one of the parts. weights: of these, together 1."""
    each = np.stack([_log_sum(_by_person(part, _forward(part, seen)[2], seen)) for part in parts])
    return _log_sum(each + np.log(weights)[:, None])


def _log_sum(logs: Floats) -> Floats:
    """Logarithm of the sum over the first axis."""
    most = logs.max(axis=0)
    found: Floats = most + np.log(np.exp(logs - most).sum(axis=0))
    return found


def _em(part: _Arrays, seen: _Seen) -> _Arrays:
    before = -np.inf
    for _ in range(_STEPS):
        beliefs, chances, logs = _forward(part, seen)
        by_person = _by_person(part, logs, seen)
        total = _log_sum(by_person)
        score = float(total.sum())
        if score - before < _ENOUGH * abs(score):
            break
        before = score
        shares = np.exp(by_person - total)
        part = _maximise(part, seen, beliefs, chances, shares)
    return part


def _maximise(part: _Arrays, seen: _Seen, beliefs: list[Floats], chances: list[Floats], shares: Floats) -> _Arrays:
    """One step: expected counts by the backward pass, and what follows from them. shares: (C, P) of classes."""
    classes, states = part.initial.shape
    weight = shares[:, seen.whose, None]
    emitted = np.zeros((len(seen.later), states))
    moved = np.zeros_like(part.transitions)
    ahead = np.ones((classes, 0, states))  # (C, n, S) what is still to come, given the state, over its probability
    for place in range(len(seen.acts) - 1, -1, -1):
        n = len(seen.acts[place])
        ahead = np.concatenate([ahead, np.ones((classes, n - ahead.shape[1], states))], axis=1)
        here = (beliefs[place] * ahead * weight[:, :n]).sum(axis=0)
        if not place:
            break
        emitted += seen.one_hot[place] @ here
        ahead = part.emissions.T[seen.acts[place]] * ahead / chances[place]
        left = beliefs[place - 1][:, :n] * weight[:, :n]
        going = np.empty_like(ahead)
        for answer, rows in enumerate(part.transitions):
            these = slice(None) if len(part.transitions) == 1 else seen.answers[place] == answer
            ours = ahead[:, these]
            moved[answer] += rows * (left[:, these].reshape(-1, states).T @ ours.reshape(-1, states))
            going[:, these] = ours @ rows.T
        ahead = going
    first = (beliefs[0] * ahead * weight).sum(axis=1)
    opened = seen.one_hot[0][:-1] @ here
    pooled = _shares(moved.sum(axis=0) + 1 / states)
    transitions = _shares(moved + _POOLED * pooled)
    transitions[0] = pooled
    return _Arrays(
        _shares(shares.sum(axis=1) + 1),
        _shares(first + 1 / states),
        _shares(opened.T + seen.opening),
        _shares(emitted.T + seen.later),
        transitions,
    )


def _shares(counts: Floats) -> Floats:
    found: Floats = counts / counts.sum(axis=-1, keepdims=True)
    return found


def _part(found: _Arrays, answers: Sequence[str], weight: float) -> Part:
    # (S,) user turns that are expected after the first, by the state that it was taken in; for putting in order.
    staying = 1 - found.emissions[:, -1]
    onwards = found.transitions[0] * staying
    turns: Floats = np.linalg.solve(np.eye(len(staying)) - onwards, onwards.sum(axis=1))
    order = np.argsort(found.initial @ turns, kind="stable")
    return Part.of(
        weight,
        found.opening.shape[1],
        found.classes[order].tolist(),
        found.initial[order].tolist(),
        found.opening.tolist(),
        found.emissions.tolist(),
        {answer: rows.tolist() for answer, rows in zip((ANY, *answers), found.transitions, strict=True)},
    )


def _arrays(part: Part, answers: Sequence[str]) -> _Arrays:
    return _Arrays(
        np.array(part.classes),
        np.array(part.initial),
        np.array(part.opening),
        np.array(part.emissions),
        np.array([part.transitions[answer] for answer in (ANY, *answers)]),
    )
