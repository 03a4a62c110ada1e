"""Bulletins about a watched audit and about the thresholds of an audit."""

import math
from collections.abc import Sequence

from harvest.notices.bulletin import Account, Bulletin, Estimate, Notice, Verdict
from harvest.studies.scores.bound_lines import bound_words
from harvest.studies.scores.bounds import CheckedBound
from harvest.studies.watch.figures import system_details
from harvest.studies.watch.harness import Harness
from harvest.studies.watch.watched import Watched, WatchedFigure, WatchedSystem
from harvest.studies.watch.words import figure_sentence, system_sentence
from topics.counting import pluralize

# The name of the share of planned trials that are valid.
COVERAGE = "coverage"


def watch_bulletin(
    watched: Watched, harness: Harness | None, *, audit: str, run: str, at: float, code: int, strict: bool
) -> Bulletin:
    """Return the bulletin about a watched audit. `harness` is the result of a placebo, or None if no placebo was
    played. With `strict`, an unclear result counts as not measured."""
    if harness is not None and not harness.is_sound:
        said = tuple(harness.sentences())
        notice = Notice("placebo", "not measured", 3, "faults of the harness, so nothing is said about the systems")
        account = Account("harness", f"harness: {notice.sentence}", (notice,), said)
        return Bulletin("watch run", audit, run, at, "not measured", code, (account,))
    accounts = []
    for system in watched.systems:
        sentence, details = system_sentence(system, watched), tuple(one.plain for one in system_details(system))
        if system.is_measured:
            notices = [_figure_notice(one, watched, strict) for one in system.figures]
        else:
            why = sentence.removeprefix(f"{system.name}: ")
            notices = [Notice(name, "not measured", 3, why) for name in watched.baseline.gated]
        accounts.append(Account(system.name, sentence, (*notices, _coverage_notice(system, watched, strict)), details))
    verdict = "not measured" if code == 3 and not watched.is_measured else watched.verdict
    shadow = " (shadow)" if watched.shadow else ""
    return Bulletin("watch run", audit, run, at, f"{verdict}{shadow}", code, tuple(accounts))


def _figure_notice(one: WatchedFigure, found: Watched, strict: bool) -> Notice:
    code = 1 if one.verdict == "changed" and not found.shadow else 3 if strict and one.verdict == "cannot tell" else 0
    moved = one.difference
    return Notice(
        one.name,
        one.verdict,
        code if one.gated else 0,
        figure_sentence(one, found) if one.gated else f"{one.name}: shown only",
        now=Estimate(one.value),
        before=one.before,
        moved=Estimate(moved.value, moved.low, moved.high),
        n=one.n,
        decides=one.gated,
        alarm=one.gated and one.alarm and (one.verdict != "changed" or one.state.awaits_confirmation),
        word=one.word if one.gated else "",
    )


def _coverage_notice(system: WatchedSystem, found: Watched, strict: bool) -> Notice:
    """Return the notice about the share of valid trials. The share is reported separately, because fewer valid trials
    do not mean worse answers. But a system with missing topics cannot be called unchanged, and a system without any
    valid trial was not measured."""
    worse, absent = system.coverage or system.has_missing_topic, system.planned > 0 and not system.valid
    said = f"{system.valid} of {pluralize(system.planned, 'trial')} valid"
    if system.lost:
        said += f"; no valid trial of {pluralize(len(system.lost), 'topic')} of the baseline"
    if system.unasked:
        said += f"; {pluralize(len(system.unasked), 'topic')} of the baseline not asked"
    share = system.valid / system.planned if system.planned else math.nan
    blessed = found.baseline.systems.get(system.name)
    before = blessed.valid / blessed.planned if blessed is not None and blessed.planned else math.nan
    return Notice(
        COVERAGE,
        "not measured" if absent else "changed" if worse else "same",
        3 if absent or (strict and system.has_missing_topic) else 0,
        said,
        now=Estimate(share),
        before=before,
        moved=Estimate(share - before),
        n=system.planned,
    )


_CODES: dict[Verdict, int] = {"missed": 1, "not measured": 3}


def bounds_bulletin(
    bounds: Sequence[CheckedBound],
    *,
    audit: str,
    run: str,
    at: float,
    code: int,
    strict: bool,
    played: Notice | None = None,
) -> Bulletin:
    """Return the bulletin about an audit's thresholds, by system. `played` is the notice about a new run."""
    by_system: dict[str, list[Notice]] = {}
    for one in bounds:
        system = (one.row.system if one.row else one.bound.system) or "all systems"
        by_system.setdefault(system, []).append(_bound_notice(one, strict))
    accounts: tuple[Account, ...] = ()
    for system, notices in by_system.items():
        not_kept = [one.sentence for one in notices if one.verdict != "kept"]
        sentence = "; ".join(not_kept) or f"{pluralize(len(notices), 'threshold')} kept"
        accounts += (Account(system, f"{system}: {sentence}", tuple(notices)),)
    verdicts: set[Verdict] = {one.verdict for one in bounds}
    if played is not None:
        accounts = (Account("all trials", f"all trials: {played.sentence}", (played,)), *accounts)
        verdicts.add(played.verdict)
    # As in the exit code of a run, missing trials count more than a missed bound.
    order: tuple[Verdict, ...] = ("missed", "not measured", "cannot tell", "kept")
    if code == 3:
        order = ("not measured", "missed", "cannot tell", "kept")
    verdict = next(one for one in order if one in verdicts)
    return Bulletin("score" if played is None else "run", audit, run, at, verdict, code, accounts)


def played_notice(valid: int, planned: int, *, enough: bool) -> Notice:
    """Return the notice about the trials of a run. `enough` is True if the number of trials without a valid attempt
    is within the audit's limit."""
    share = Estimate(valid / planned) if planned else Estimate()
    said = f"{valid} of {pluralize(planned, 'trial')} valid"
    return Notice(COVERAGE, "kept" if enough else "not measured", 0 if enough else 3, said, now=share, n=planned)


def _bound_notice(one: CheckedBound, strict: bool) -> Notice:
    row, bound = one.row, one.bound
    limit = f">= {bound.at_least:g}" if bound.at_least is not None else f"<= {bound.at_most:g}"
    kind = f" [{bound.topic_type}]" if bound.topic_type else ""
    code = 3 if strict and one.verdict == "cannot tell" else _CODES.get(one.verdict, 0)
    now = Estimate(row.value, row.low, row.high) if row is not None else Estimate()
    edge = bound.at_least if bound.at_least is not None else bound.at_most
    return Notice(
        f"{one.name}{kind} {limit}",
        one.verdict,
        code,
        f"threshold {one.verdict}: {bound_words(one)}",
        now=now,
        n=row.n if row is not None else 0,
        limit=math.nan if edge is None else edge,
    )
