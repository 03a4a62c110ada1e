"""From dialogues to a fitted user: counts with intervals, stop models, and what the fit is worth on other users."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from protocols.labels import USEFUL, usefulness
from recordings.acts.dialogue import Dialogue
from scoring.inference.proportions import jeffreys
from scoring.simulation.act_model import Smoothing, UniformModel, fit_acts
from scoring.simulation.decisions import acts_in, decisions_of
from scoring.simulation.likelihood import Fit, HeldOut, held_out
from simulators import markov
from simulators.act_table import ANY, UNKNOWN, ActSequence, ActTable, fit
from simulators.fitted import Parameter, RowEstimate, Share, Source, StopEstimate, UserFile
from simulators.stopping.fitting import Fit as StopFit
from simulators.stopping.fitting import Stay, fit_geometric, fit_hazard, fit_two_alpha, fitted_model
from simulators.turn_table import count_by_turn
from topics.errors import InputError
from topics.identity import derived_seed

Answers = Literal["nothing", "labels"]
_DIGITS = 6  # a simulation is not known to more
_MANY, _SELDOM = 12, 5  # acts; times that an act is seen

# The stop models that are fitted, in this order; two-alpha where answers are labelled.
STOP_MODELS = ("geometric", "two-alpha", "hazard")

# What can make a fitted user leave: the table of acts with its rows by turn and last act, that table with rows over
# all turns, or a stop model.
LEAVING = ("turn-and-act", "table", *STOP_MODELS)

_ENOUGH = markov.Options.model_validate({}).enough


def sequences_of(dialogues: Sequence[Dialogue], answers: Answers = "nothing") -> tuple[ActSequence, ...]:
    """The dialogues as `simulators.act_table` takes them: of an answer that is not looked at nothing is known."""
    return tuple(
        ActSequence(
            tuple(turn.act for turn in one.turns),
            tuple((turn.answer or UNKNOWN) if answers == "labels" else UNKNOWN for turn in one.turns),
            one.ended,
        )
        for one in dialogues
    )


def stays_of(dialogues: Sequence[Dialogue]) -> tuple[Stay, ...]:
    """How long each user stayed, and after which labels. Coverage is the share of three useful answers that were had
    (`enough` of the Markov user), and given where every answer has a label.

    Of a dialogue that was cut off the last answer is no chance to leave: what the user would have done after it was not
    seen. One that was cut off after its first turn is left out.
    """
    stays = []
    for one in dialogues:
        turns = one.turns if one.ended else one.turns[:-1]
        labels = tuple(usefulness(turn.answer) for turn in turns)
        if labels:
            useful = np.cumsum([label == USEFUL for label in labels])
            coverage = () if "-" in labels else tuple(min(1.0, float(count) / _ENOUGH) for count in useful)
            stays.append(Stay(tuple(str(label) for label in labels), coverage, one.ended, one.unit))
    return tuple(stays)


def fit_user(
    dialogues: Sequence[Dialogue],
    *,
    name: str,
    files: Sequence[str] = (),
    order: Literal[1, 2] = 1,
    answers: Answers = "nothing",
    smoothing: Smoothing | None = None,
    stop: str = "turn-and-act",
    level: float = 0.95,
) -> UserFile:
    """A Markov user of these dialogues. stop: one of LEAVING.

    Raises InputError for an act with a name of ours, and where the stop model that is asked for cannot be settled.
    """
    smoothing = smoothing or Smoothing()
    options = fitted_options(dialogues, order=order, answers=answers, smoothing=smoothing, stop=stop)
    table = options.table()
    assert isinstance(table, ActTable)  # made of counts
    return UserFile(
        name=name,
        source=source_of(dialogues, files, answers),
        options=options,
        level=level,
        rows=_rows(table, level, dialogues, answers),
        stopping=stop_estimates(dialogues),
    )


def source_of(dialogues: Sequence[Dialogue], files: Sequence[str], answers: Answers) -> Source:
    """What a user is fitted to, as its file says it."""
    return Source(
        files=tuple(files),
        dialogues=len(dialogues),
        users=len({one.unit for one in dialogues}),
        decisions=sum(1 for one in dialogues for _ in decisions_of(one)),
        censored=sum(not one.ended for one in dialogues),
        answers=answers,
    )


def stop_estimates(dialogues: Sequence[Dialogue]) -> tuple[StopEstimate, ...]:
    """Every stop model of these recordings, and leaving by turn and last act, as a file says them."""
    found = stop_fits(dialogues)
    alone = is_one_person(dialogues)
    return (
        *(_estimate(model, one, errors=not alone) for model, one in found.items()),
        *_estimated_leaving(dialogues),
    )


def fit_notes(dialogues: Sequence[Dialogue]) -> tuple[str, ...]:
    """What makes a fit of these dialogues say little: one person alone, and acts that are too many to be seen again."""
    return (*_one_person_note(dialogues), *_rare_acts_note(dialogues))


def is_one_person(dialogues: Sequence[Dialogue]) -> bool:
    """Whether all dialogues are of one user, so that nothing is known of how far users differ."""
    return len({one.unit for one in dialogues}) == 1


def _one_person_note(dialogues: Sequence[Dialogue]) -> tuple[str, ...]:
    if not is_one_person(dialogues):
        return ()
    whose = "all dialogues are" if len(dialogues) > 1 else "the one dialogue is"
    return (
        f"{whose} of one person: how alike decisions of one person are cannot be known, so no share has an interval "
        "and no parameter an error; add dialogues of other people, or, if these are several people, tell them apart",
    )


def _rare_acts_note(dialogues: Sequence[Dialogue]) -> tuple[str, ...]:
    seen = Counter(turn.act for one in dialogues for turn in one.turns)
    rare = sum(count < _SELDOM for count in seen.values())
    if len(seen) <= _MANY or 2 * rare <= len(seen):
        return ()
    numbers = all(not any(letter.isalpha() for letter in act) for act in seen)
    what = "their names are numbers of nodes or turns, not what users did; " if numbers else ""
    return (
        f"{len(seen)} acts, {rare} of them seen fewer than {_SELDOM} times: what follows them is mostly chance, "
        f"and no words can be given to them for other topics; {what}name what users did, a few kinds of turn, in a "
        "harvest-acts/1 file, and fit that (docs/simulators/validation.md)",
    )


def fitted_options(
    dialogues: Sequence[Dialogue],
    *,
    order: Literal[1, 2] = 1,
    answers: Answers = "nothing",
    smoothing: Smoothing | None = None,
    stop: str = "turn-and-act",
    acts: tuple[str, ...] = (),
) -> markov.Options:
    """What is played: the counts, and the stop model if one is asked for; without words. acts: all that are possible
    [those that occur]. Raises as `fit_user` does."""
    smoothing = smoothing or Smoothing()
    acts = acts or acts_in(dialogues)
    table = _table(dialogues, acts, order, answers, smoothing)
    options = markov.Options.model_validate(
        {
            "acts": acts,
            "order": order,
            "smoothing": smoothing.method,
            "weight": smoothing.weight,
            "counts": tuple(
                {"after": after, "answer": answer, "next": dict(row)} for (after, answer), row in table.counts.items()
            ),
        }
    )
    if stop == "table":
        return options
    if stop == "turn-and-act":
        turns = count_by_turn(sequences_of(dialogues, answers), order=order)
        stretches = tuple(
            markov.Stretch(
                turn=turn,
                counts=tuple(
                    markov.Count(after=after, answer=answer, next=dict(row)) for (after, answer), row in rows.items()
                ),
            )
            for turn, rows in (turns.stretches if turns else ())
        )
        return options.model_copy(update={"stretches": stretches})
    fits = stop_fits(dialogues)
    if stop not in fits or not fits[stop].found:
        raise InputError(
            f"the stop model {stop!r} cannot be fitted to these dialogues",
            allowed=", ".join(["turn-and-act", "table", *(one for one, found in fits.items() if found.found)]),
            advice="every model needs users who left and users who stayed, two-alpha both after useful answers and "
            "after useless ones",
        )
    return options.model_copy(update={"stop": fitted_model(fits[stop])})


def foresight(
    dialogues: Sequence[Dialogue],
    *,
    order: int = 1,
    answers: Answers = "nothing",
    smoothing: Smoothing | None = None,
    folds: int = 10,
    level: float = 0.95,
    seed: int = 0,
) -> Mapping[str, HeldOut]:
    """What such a table is worth on users it was not fitted on, by model, the random floor first.

    Leaving is foreseen by the table, not by a stop model. Empty where there is only one user.
    """
    if len({one.unit for one in dialogues}) < 2:
        return {}
    models = _models(acts_in(dialogues), order, answers, smoothing or Smoothing())
    rng = np.random.default_rng(derived_seed(seed, "fit", "folds"))
    return held_out(dialogues, models, rng, folds=folds, level=level)


def _table(
    dialogues: Sequence[Dialogue], acts: tuple[str, ...], order: int, answers: Answers, smoothing: Smoothing
) -> ActTable:
    """The counted acts. A decision after an answer nothing is known of counts for whatever the answer was.

    In a row of its own it could give ends away: often only the last turn of a recording is without an answer.
    """
    counted = fit(
        sequences_of(dialogues, answers), order=order, smoothing=smoothing.method, weight=smoothing.weight, acts=acts
    )
    counts = {(after, ANY if answer == UNKNOWN else answer): row for (after, answer), row in counted.counts.items()}
    return replace(counted, counts=counts)


def _models(acts: tuple[str, ...], order: int, answers: Answers, smoothing: Smoothing) -> dict[str, Fit]:
    models: dict[str, Fit] = {
        "uniform": lambda _: UniformModel(acts),
        "acts alone": lambda training: fit_acts(training, acts=acts, order=0, smoothing=smoothing),
        "order 1": lambda training: fit_acts(training, acts=acts, order=1, smoothing=smoothing),
        "order 2": lambda training: fit_acts(training, acts=acts, order=2, smoothing=smoothing),
    }
    if answers == "labels":
        models[f"order {order}, last answer"] = lambda training: fit_acts(
            training, acts=acts, order=order, given=True, smoothing=smoothing
        )
    return models


def _rows(table: ActTable, level: float, dialogues: Sequence[Dialogue], answers: Answers) -> tuple[RowEstimate, ...]:
    """Intervals are Jeffreys', with as many decisions as those are worth: dialogues of one user hang together."""
    each = [_table([one], table.acts, table.order, answers, Smoothing()).counts for one in dialogues]
    users = [one.unit for one in dialogues]
    alone = is_one_person(dialogues)
    rows = []
    for (after, answer), counted in table.counts.items():
        n = sum(counted.values())
        played = table.row([act for act in after if act != "start"], answer)
        next_acts = {}
        own = [one.get((after, answer), {}) for one in each]
        worth = np.array([n / _design_effect(own, users, act, counted.get(act, 0) / n) for act in played])
        lows, highs = jeffreys([counted.get(act, 0) / n * size for act, size in zip(played, worth)], worth, level)
        for act, low, high in zip(played, lows, highs):
            k = counted.get(act, 0)
            ends = {} if alone else {"low": _round(low), "high": _round(high)}
            next_acts[act] = Share(k=k, p=round(played[act], _DIGITS), **ends)
        rows.append(RowEstimate(after=after, answer=answer, n=n, next=next_acts))
    return tuple(rows)


def _design_effect(counts: Sequence[Mapping[str, int]], users: Sequence[str], act: str, share: float) -> float:
    """As in `simulators.stopping.fitting`, of the share of `act` in a row. counts: of the row, in each dialogue."""
    by_user: dict[str, float] = {}
    alone = 0.0
    one_user = len({user for row, user in zip(counts, users, strict=True) if row}) == 1
    for row, user in zip(counts, users, strict=True):
        n = sum(row.values())
        # A share of 0 or 1, or of one user, has no spread: there the decisions themselves say how far they are one
        # user's.
        influence = row.get(act, 0) - n * share if 0 < share < 1 and not one_user else float(n)
        by_user[user] = by_user.get(user, 0.0) + influence
        alone += influence**2
    return max(1.0, sum(one**2 for one in by_user.values()) / alone) if alone else 1.0


def stop_fits(dialogues: Sequence[Dialogue]) -> dict[str, StopFit]:
    """Stop models by name; two-alpha only where an answer has a label. Empty where nobody was seen to decide."""
    stays = stays_of(dialogues)
    if not stays:
        return {}
    found = {"geometric": fit_geometric(stays)}
    if any(label != UNKNOWN for stay in stays for label in stay.labels):
        found["two-alpha"] = fit_two_alpha(stays)
    found["hazard"] = fit_hazard(stays, coverage=all(stay.coverage for stay in stays))
    return found


def _estimate(model: str, found: StopFit, *, errors: bool) -> StopEstimate:
    parameters = {
        name: Parameter(value=_finite(one.value), error=_finite(one.error) if errors else None)
        for name, one in found.parameters.items()
    }
    return StopEstimate(model=model, parameters=parameters, aic=_finite(found.aic), chances=found.chances)


def _estimated_leaving(dialogues: Sequence[Dialogue]) -> tuple[StopEstimate, ...]:
    """Leaving by turn and last act, to be compared with the stop models; each cell is a parameter."""
    turns = count_by_turn(sequences_of(dialogues))
    if turns is None:
        return ()
    chances = sum(n for _, n in turns.leavings)
    return (StopEstimate(model="turn-and-act", parameters={}, aic=_finite(turns.aic), chances=chances),)


def _finite(value: float) -> float | None:
    return round(float(value), _DIGITS) if math.isfinite(value) else None


def _round(value: float) -> float:
    return round(float(value), _DIGITS)
