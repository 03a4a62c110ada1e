"""Metrics for the textfile collector of Prometheus' node_exporter.

No line has a time of its own: the collector refuses whole files that hold one. When an audit was made is a value. A
watcher that only looks for alarms would take a machine that stopped for a system that stayed the same, so the time of
the last audit that measured something is kept from file to file.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from harvest.notices.bulletin import Account, Bulletin, Notice, Verdict, plain

_LAST = "harvest_last_success_timestamp_seconds"
_HELP = {
    "harvest_exit_code": "Exit code of the last audit: 0 same or nothing shown, 1 changed or missed, 3 not measured.",
    "harvest_last_audit_timestamp_seconds": "When the last audit was judged.",
    _LAST: "When an audit last measured something.",
    "harvest_verdict": "1 for the verdict of a figure, 0 for the others.",
    "harvest_alarm": "1 where an alarm waits for another audit to confirm it.",
    "harvest_figure": "A figure of the last audit.",
    "harvest_figure_low": "Lower limit of its interval.",
    "harvest_figure_high": "Upper limit of its interval.",
    "harvest_figure_n": "How many trials or answers it is made of.",
    "harvest_baseline": "The figure of the baseline.",
    "harvest_difference": "The figure less that of the baseline.",
    "harvest_difference_low": "Lower limit of the interval of the difference.",
    "harvest_difference_high": "Upper limit of the interval of the difference.",
}
_WATCHED: tuple[Verdict, ...] = ("same", "changed", "cannot tell", "not measured")
_BOUND: tuple[Verdict, ...] = ("kept", "missed", "cannot tell", "not measured")

_Sample = tuple[str, Mapping[str, str], float]


def metrics(bulletin: Bulletin, before: str = "") -> str:
    """The file. before: the file of the last audit, whose time of success lasts where this one measured nothing."""
    own = _own(bulletin)
    last = bulletin.at if bulletin.measured else succeeded_before(bulletin, before)
    samples: list[_Sample] = [
        ("harvest_exit_code", own, bulletin.code),
        ("harvest_last_audit_timestamp_seconds", own, bulletin.at),
        (_LAST, own, last),
    ]
    for account in bulletin.accounts:
        for one in account.notices:
            samples += _figure(one, account, bulletin)
    return "".join(_family(name, text, samples) for name, text in _HELP.items())


def is_metrics(data: bytes) -> bool:
    """Whether a file is an earlier one of these, of whatever audit."""
    return data.startswith(b"# HELP harvest_")


def succeeded_before(bulletin: Bulletin, before: str) -> float:
    """When an audit of this name last succeeded, by an earlier file; NaN where it does not say."""
    start = re.escape(_line(_LAST, _own(bulletin)))
    found = re.search(rf"(?m)^{start} ([0-9.e+]+)$", before)
    return float(found[1]) if found else math.nan


def _own(bulletin: Bulletin) -> dict[str, str]:
    return {"command": bulletin.command, "audit": bulletin.audit}


def _figure(one: Notice, account: Account, bulletin: Bulletin) -> Iterator[_Sample]:
    labels = {**_own(bulletin), "system": account.system, "figure": one.figure}
    if one.decides:
        for verdict in _WATCHED if bulletin.command == "reaudit" else _BOUND:
            yield "harvest_verdict", {**labels, "verdict": verdict}, one.verdict == verdict
        if bulletin.command == "reaudit":
            yield "harvest_alarm", labels, one.alarm
    yield "harvest_figure", labels, one.now.value
    yield "harvest_figure_low", labels, one.now.low
    yield "harvest_figure_high", labels, one.now.high
    yield "harvest_figure_n", labels, one.n
    yield "harvest_baseline", labels, one.before
    yield "harvest_difference", labels, one.moved.value
    yield "harvest_difference_low", labels, one.moved.low
    yield "harvest_difference_high", labels, one.moved.high


def _family(name: str, text: str, samples: Iterable[_Sample]) -> str:
    """A metric with its values; "" where none is defined."""
    lines = [
        f"{_line(name, labels)} {value:.15g}\n" for own, labels, value in samples if own == name and value == value
    ]
    return f"# HELP {name} {text}\n# TYPE {name} gauge\n{''.join(lines)}" if lines else ""


def _line(name: str, labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{key}="{_escape_value(value)}"' for key, value in labels.items())
    return f"{name}{{{pairs}}}"


def _escape_value(value: str) -> str:
    return plain(value).replace("\\", r"\\").replace('"', r"\"")
