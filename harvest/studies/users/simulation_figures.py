"""Printed tables and JSON of fitted users, and of comparisons between simulated and real users."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from harvest.studies.users.played_users import DEFAULT, Candidates
from harvest.terminal import printable
from recordings.files.json_text import json_number
from scoring.simulation.act_model import HeldOutBits, acts_in
from scoring.simulation.halves import FEWEST, NoiseFloor, Spread
from scoring.simulation.lengths import Survival
from scoring.simulation.realism import BEHAVIOUR, FORESIGHT, SCORES, Realism
from scoring.simulation.wordings import WORDINGS, WordingComparison
from simulators.act_table import ANY
from simulators.fitted import UserFile
from topics.counting import pluralize
from topics.decimals import decimal, percent

FORMAT = "harvest-simulation/1"

_MOST_TURNS = 12  # of a curve
_ALPHA = 0.05  # a p of at most this is called a difference
_LONGEST_ACT = 14  # characters that fit next to the figures in 80 columns


def fit_tables(file: UserFile, foresight: Mapping[str, HeldOutBits], played: Candidates) -> Iterator[Table]:
    """Yield the act matrix with intervals, the stop models, and held-out figures of act tables and playable users."""
    answers = ["answer"] if any(row.answer != ANY for row in file.rows) else []
    table = _new_table("after", *answers, "n", "then", "seen", f"{percent(file.level)} interval", "smoothed")
    for row in file.rows:
        shares = sorted(row.next.items(), key=lambda entry: -entry[1].k)
        for place, (act, share) in enumerate((act, share) for act, share in shares if share.k):
            answer = [_plain_text(row.answer)] if answers else []
            head = [_acts_text(*row.after), *answer, str(row.n)] if place == 0 else [""] * (2 + len(answers))
            known = share.low is not None and share.high is not None
            interval = f"[{share.low:.3f}, {share.high:.3f}]" if known else "n/a"
            table.add_row(*head, _acts_text(act), f"{share.k / row.n:.3f}", interval, f"{share.p:.3f}")
    table.caption = "seen: share of the n; smoothed: the same after smoothing; both over all turns"
    table.caption += "; answer *: any, or not known" if answers else ""
    yield table
    if file.stopping:
        table = _new_table("stop model", "parameters (standard error)", "AIC", "chances")
        for model in file.stopping:
            parameters = ", ".join(
                f"{name} {_number(one.value, 3)} ({_number(one.error, 3)})" for name, one in model.parameters.items()
            )
            table.add_row(model.model, parameters, _number(model.aic, 1), str(model.chances))
        yield table
    if foresight:
        yield _foresight_table(foresight, "model")
    if played.held_out:
        yield _candidate_table(played)


def check_tables(realism: Realism) -> Iterator[Table | Text]:
    """Yield tables and sentences that compare simulated with real users: the ranking of systems, behaviour with its
    floor, wording, survival, foresight, and scores."""
    ranking = realism.ranking
    yield Text(f"ranking: {ranking_verdict(realism)}")
    if ranking.systems:
        table = _new_table("system", "mean score, real", "simulated")
        for name, real, simulated in zip(ranking.systems, ranking.real, ranking.simulated):
            table.add_row(_plain_text(name), f"{real:.4f}", f"{simulated:.4f}")
        yield table
    table = _new_table("behaviour", "all", "matched", "floor", "95% of floors", "p", "verdict")
    for name, measured in realism.behaviour.items():
        _add_floor_row(table, name, measured.value, measured.floor, measured.verdict, measured.p)
    yield table
    if realism.wordings is not None:
        yield _wording_table(realism.wordings)
    yield _survival_table(realism.survivals)
    yield _foresight_table(realism.foresight, "real users, predicted by")
    if realism.scores and realism.score_floor:
        table = _new_table("scores", "all", "matched", "floor", "95% of floors", "verdict")
        _add_floor_row(table, SCORES, realism.scores.distance, realism.score_floor, realism.score_floor.verdict)
        yield table
        scores = realism.scores
        within = " within systems" if len(ranking.systems) > 1 else ""
        shown = f"T {scores.statistic:.3f}, permutation p{within} {_p_text(scores.p)}, n {scores.n} and {scores.m}"
        yield Text(shown, style="dim")
        yield Text("T: how far apart real and simulated scores lie; it grows with their number", style="dim")
        yield Text(f"scores: {scores_verdict(scores.p, realism.score_floor)}")


def ranking_verdict(realism: Realism) -> str:
    """Say whether simulated users rank the systems as people do, compared with how well two halves of people agree."""
    ranking, floor = realism.ranking, realism.ranking_floor
    known = not math.isnan(ranking.low)
    tau = decimal(ranking.tau, 3) + (f" [{ranking.low:.3f}, {ranking.high:.3f}]" if known else "")
    drawn = f"; {ranking.resampled} resampled" if known else ""
    agreement = f"Kendall's tau-b {tau}{drawn}" + (f" ({ranking.note})" if ranking.note else "")
    if floor is None or math.isnan(ranking.tau):
        return agreement
    half = floor.floor
    said = (
        f"{floor.verdict}: {agreement}; between halves of the real users {decimal(half.median, 3)} "
        f"[{decimal(half.low, 3)}, {decimal(half.high, 3)}], between a half and simulated users "
        f"{decimal(floor.matched.median, 3)}; systems differ by other amounts: p {_p_text(floor.p)}"
    )
    if floor.verdict == "undecided":
        said += f"; halves of {pluralize(floor.people, 'real user')} per system are too few to agree on an order"
        said += f": about {floor.needed} real users per system would do" if floor.needed else ""
    return said


def behaviour_verdict(realism: Realism) -> str:
    """Return the verdict on behaviour as a predicate."""
    measured = [name for name, one in realism.behaviour.items() if one.verdict != "n/a"]
    only = f" (in {', '.join(measured)})" if len(measured) < len(realism.behaviour) else ""
    larger = [name for name in measured if realism.behaviour[name].floor.verdict == "beyond"]
    how = f"by {'more' if larger else 'less'} than halves of the real users do"
    p = f"p {_p_text(realism.together)} over all measures"
    return {
        "undecided": f"too few users for a verdict{only}",
        "no act in common": "real and simulated users have no act in common",
        "beyond": f"beyond: they differ {how} ({p}){only}",
        "within": f"within: no difference was found ({p}){only}",
    }[realism.verdict]


def scores_verdict(p: float, floor: NoiseFloor) -> str:
    """Combine the permutation test (is there a difference?) and the floor (is the difference large?)."""
    if math.isnan(p):
        return "no conclusion is possible"
    if p > _ALPHA:
        seen = f"these dialogues show no difference (p above {_ALPHA:g})"
        return seen + (
            (", although groups lie beyond the floor: use more dialogues") if floor.verdict == "beyond" else ""
        )
    how = {
        "within": f"but only slightly: groups of {floor.size} are within the floor; p is over all dialogues",
        "beyond": "and by more than halves of the real users do",
    }.get(floor.verdict, "and groups are too small to estimate by how much")
    return f"they differ (p at most {_ALPHA:g}), {how}"


def check_notes(realism: Realism) -> Iterator[str]:
    """Yield the limits of the verdicts on behaviour, such as lengths that were cut off and too few users."""
    lengths = realism.lengths
    sides = [acts_in(side) for side in (realism.real, realism.simulated)]
    if not set(sides[0]) & set(sides[1]):
        real, simulated = (", ".join(acts[:5]) + (", …" if len(acts) > 5 else "") for acts in sides)
        yield (
            f"no act in common: real users do {printable(real, line=True)}, simulated ones "
            f"{printable(simulated, line=True)}. Are both recorded with the same acts? Use the same names, or fit the "
            "user to these people"
        )
    if not lengths.horizon:
        yield "lengths are not compared: on one side every dialogue was cut off before its user could leave"
    elif math.isnan(realism.behaviour["KS(length)"].value):
        yield (
            f"lengths are not compared: up to {pluralize(lengths.horizon, 'turn')}, the range that both sides cover, "
            "no user was seen to leave on either side"
        )
    elif lengths.beyond > 0:
        shares = (
            float(curve.share[lengths.horizon]) if lengths.horizon < len(curve.share) else 0.0
            for curve in realism.survivals
        )
        real, simulated = (percent(share) for share in shares)
        yield (
            f"lengths are compared up to {pluralize(lengths.horizon, 'turn')}, where {real} of the real users and "
            f"{simulated} of the simulated ones are still there: KS and W1 do not cover later turns"
        )
    if realism.wordings is None:
        yield "words are not compared: at least one side has only acts"
    users = min(measured.floor.users for measured in realism.behaviour.values())
    if users < FEWEST:
        yield f"groups have {pluralize(users, 'user')}; a verdict needs {FEWEST} on either side"


def check_json(realism: Realism) -> dict[str, Any]:
    """Return the comparison as JSON, with null for undefined numbers."""
    ranking, floor = realism.ranking, realism.ranking_floor
    order: dict[str, Any] = {"verdict": "n/a"}
    if floor is not None:
        order = {
            "floor": _spread_document(floor.floor),
            "matched": _spread_document(floor.matched),
            "people": floor.people,
            "p": json_number(floor.p),
            "needed": floor.needed,
            "verdict": floor.verdict,
        }
    said, scores = None, None
    if realism.scores is not None and realism.score_floor is not None:
        said = scores_verdict(realism.scores.p, realism.score_floor)
        scores = {name: json_number(getattr(realism.scores, name)) for name in ("statistic", "distance", "p")}
        scores |= {"n": realism.scores.n, "m": realism.scores.m, **_floor_document(realism.score_floor)}
    return {
        **{
            side: {
                "dialogues": len(own),
                "users": len({one.unit for one in own}),
                "turns": sum(one.length for one in own),
                "censored": sum(not one.ended for one in own),
            }
            for side, own in (("real", realism.real), ("simulated", realism.simulated))
        },
        "behaviour": {
            name: {
                "what": BEHAVIOUR[name],
                "value": json_number(one.value),
                **_floor_document(one.floor),
                "p": json_number(one.p),
                "verdict": one.verdict,
            }
            for name, one in realism.behaviour.items()
        },
        "p": json_number(realism.together),
        "verdict": realism.verdict,
        "notes": list(check_notes(realism)),
        "words": None
        if realism.wordings is None
        else {
            "measures": {
                name: {
                    "what": WORDINGS[name],
                    **{
                        key: json_number(getattr(one, key))
                        for key in ("real", "simulated", "value", "low", "high", "p")
                    },
                }
                for name, one in realism.wordings.measures.items()
            },
            "p": json_number(realism.wordings.together),
            "verdict": realism.wordings.verdict,
        },
        "lengths": {"horizon": realism.lengths.horizon, "beyond": json_number(realism.lengths.beyond)},
        "survival": {
            side: {
                "share": [json_number(float(value)) for value in curve.share],
                "low": [json_number(float(value)) for value in curve.low],
                "high": [json_number(float(value)) for value in curve.high],
                "at_risk": [int(value) for value in curve.at_risk],
                "left": [int(value) for value in curve.left],
            }
            for side, curve in zip(("real", "simulated"), realism.survivals)
        },
        "foresight": foresight_json(realism.foresight),
        "testing": {
            "said": said,
            "scores": scores,
            "ranking": {
                "tau": json_number(ranking.tau),
                "low": json_number(ranking.low),
                "high": json_number(ranking.high),
                "systems": list(ranking.systems),
                "real": [json_number(value) for value in ranking.real],
                "simulated": [json_number(value) for value in ranking.simulated],
                "resampled": ranking.resampled,
                "note": ranking.note,
                **order,
            },
        },
    }


def foresight_json(models: Mapping[str, HeldOutBits]) -> dict[str, Any]:
    return {
        name: {
            "bits": json_number(one.bits),
            "log_likelihood_bits": json_number(one.log_likelihood),
            "perplexity": json_number(one.perplexity),
            "gain": json_number(one.gain),
            "low": json_number(one.low),
            "high": json_number(one.high),
            "n": one.n,
            "users": one.units,
        }
        for name, one in models.items()
    }


def _spread_document(one: Spread) -> dict[str, Any]:
    values = {"median": one.median, "low": one.low, "high": one.high, "least": one.least, "most": one.most}
    return {**{name: json_number(value) for name, value in values.items()}, "splits": one.n}


def _floor_document(floor: NoiseFloor) -> dict[str, Any]:
    return {
        "floor": _spread_document(floor.floor),
        "matched": _spread_document(floor.matched),
        "size": floor.size,
        "users": floor.users,
        "verdict": floor.verdict,
    }


def _p_text(p: float) -> str:
    return "n/a" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _add_floor_row(
    table: Table, name: str, value: float, floor: NoiseFloor, verdict: str, p: float | None = None
) -> None:
    known = floor.floor
    interval = f"[{decimal(known.low, 4)}, {decimal(known.high, 4)}]" if known.n else "n/a"
    table.add_row(
        name,
        decimal(value, 4),
        decimal(floor.matched.median, 4),
        decimal(known.median, 4),
        interval,
        *([] if p is None else [_p_text(p)]),
        verdict,
    )


def _wording_table(found: WordingComparison) -> Table:
    table = _new_table("words", "real", "simulated", "distance", "95% of floors", "p")
    for name, one in found.measures.items():
        floor = f"[{decimal(one.low, 4)}, {decimal(one.high, 4)}]"
        table.add_row(
            name, decimal(one.real, 3), decimal(one.simulated, 3), decimal(one.value, 4), floor, _p_text(one.p)
        )
    meanings = "; ".join(f"{name}: {meaning}" for name, meaning in WORDINGS.items())
    table.caption = f"words: {found.verdict} (p {_p_text(found.together)} over all of them). {meanings}"
    return table


def _survival_table(curves: Sequence[Survival]) -> Table:
    last = min(_MOST_TURNS, max(len(curve.share) for curve in curves) - 1)
    table = _new_table("still there after", "real", "simulated")
    for turn in range(1, last + 1):
        # No point beyond the longest dialogue if all were observed to leave.
        shares = [
            float(curve.share[turn]) if turn < len(curve.share) else 0.0 if curve.share[-1] == 0 else math.nan
            for curve in curves
        ]
        table.add_row(pluralize(turn, "turn"), *("n/a" if math.isnan(share) else f"{share:.2f}" for share in shares))
    return table


def _foresight_table(models: Mapping[str, HeldOutBits], heading: str) -> Table:
    table = _new_table(heading, "bits", "perplexity", "gain", "95% interval", "decisions")
    for place, (name, one) in enumerate(models.items()):
        known = f"[{one.low:.3f}, {one.high:.3f}]" if not math.isnan(one.low) else "n/a"
        interval = known if place else "reference"  # the first is the reference of gains
        table.add_row(name, f"{one.bits:.3f}", f"{one.perplexity:.2f}", f"{one.gain:.3f}", interval, str(one.n))
    if heading != "model":
        table.caption = "; ".join(f"{name}: {meaning}" for name, meaning in FORESIGHT.items())
    return table


def _candidate_table(played: Candidates) -> Table:
    table = _new_table("user that could be played", "bits", "gain", "interval", "users", "decisions", "chosen")
    for name, one in played.held_out.items():
        interval = "reference" if name == DEFAULT else f"[{one.low:.3f}, {one.high:.3f}]"
        chosen = "yes" if name == played.chosen else ""
        gain = "" if name == DEFAULT else f"{one.gain:.3f}"
        table.add_row(name, f"{one.bits:.3f}", gain, interval, str(one.units), str(one.n), chosen)
    for name in played.left_out:
        table.add_row(name, "n/a", "", "", "", "", "yes" if name == played.chosen else "")
    table.caption = "bits a decision, and gain over turn-and-act, on users it was not fitted on; interval over users"
    for name, why in played.left_out.items():
        table.caption += f"; {name}: {why}"
    return table


def _new_table(first: str, *others: str) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), caption_style="dim", caption_justify="left"
    )
    # Names wrap; figures never do, and nothing is cut.
    table.add_column(first, overflow="fold")
    for heading in others:
        words = heading in ("then", "answer", "verdict", "parameters (standard error)")
        table.add_column(heading, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    return table


def _plain_text(words: str) -> Text:
    return Text(printable(words, line=True))


def _acts_text(*acts: str) -> Text:
    names = (printable(act, line=True) for act in acts)
    return Text(" ".join(name if len(name) <= _LONGEST_ACT else name.replace("+", "+\n") for name in names))


def _number(value: float | None, digits: int) -> str:
    return "n/a" if value is None else decimal(value, digits)
