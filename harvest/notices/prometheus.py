"""Metrics for the textfile collector of Prometheus' node_exporter.

The collector rejects files with time stamps, so the time of the audit is a metric. A monitor that only looks for
alarms would mistake a stopped machine for an unchanged system. Each file therefore also has the time of the last
successful audit, which is copied from the previous file if necessary.
"""

import math
import re
from collections.abc import Mapping

from harvest.notices.bulletin import Bulletin, Verdict, plain

_LAST = "harvest_last_success_timestamp_seconds"
_HELP = {
    "harvest_exit_code": "Exit code of the last audit: 0 same or nothing shown, 1 changed or missed, 3 not measured.",
    "harvest_last_audit_timestamp_seconds": "When the last audit was judged.",
    _LAST: "When an audit last measured something.",
    "harvest_verdict": "1 for the verdict of a figure, 0 for the others.",
    "harvest_alarm": "1 if an alarm waits for another audit to confirm it.",
    "harvest_figure": "A figure of the last audit.",
    "harvest_figure_low": "Lower limit of its interval.",
    "harvest_figure_high": "Upper limit of its interval.",
    "harvest_figure_n": "The number of trials or answers behind it.",
    "harvest_baseline": "The figure of the baseline.",
    "harvest_difference": "The figure minus that of the baseline.",
    "harvest_difference_low": "Lower limit of the interval of the difference.",
    "harvest_difference_high": "Upper limit of the interval of the difference.",
}
_WATCHED: tuple[Verdict, ...] = ("same", "changed", "cannot tell", "not measured")
_BOUND: tuple[Verdict, ...] = ("kept", "missed", "cannot tell", "not measured")

_Sample = tuple[str, Mapping[str, str], float]


def metrics(bulletin: Bulletin, before: str = "") -> str:
    """Return the text of a file of metrics. `before` is the text of the previous file, which provides the time of the
    last success if this audit measured nothing."""
    own = _audit_labels(bulletin)
    last = bulletin.at if bulletin.is_measured else last_success(bulletin, before)
    samples: list[_Sample] = [
        ("harvest_exit_code", own, bulletin.code),
        ("harvest_last_audit_timestamp_seconds", own, bulletin.at),
        (_LAST, own, last),
    ]
    for account in bulletin.accounts:
        for one in account.notices:
            labels = {**own, "system": account.system, "figure": one.figure}
            if one.decides:
                for verdict in _WATCHED if bulletin.command == "watch run" else _BOUND:
                    samples.append(("harvest_verdict", {**labels, "verdict": verdict}, one.verdict == verdict))
                if bulletin.command == "watch run":
                    samples.append(("harvest_alarm", labels, one.alarm))
            values = {
                "harvest_figure": one.now.value,
                "harvest_figure_low": one.now.low,
                "harvest_figure_high": one.now.high,
                "harvest_figure_n": one.n,
                "harvest_baseline": one.before,
                "harvest_difference": one.moved.value,
                "harvest_difference_low": one.moved.low,
                "harvest_difference_high": one.moved.high,
            }
            samples += ((name, labels, value) for name, value in values.items())
    text = ""
    for name, meaning in _HELP.items():
        lines = [
            f"{_metric_name(one, labels)} {value:.15g}\n"
            for one, labels, value in samples
            if one == name and value == value
        ]
        if lines:
            text += f"# HELP {name} {meaning}\n# TYPE {name} gauge\n{''.join(lines)}"
    return text


def is_metrics(data: bytes) -> bool:
    """Return True if a file was written by `metrics`, for any audit."""
    return data.startswith(b"# HELP harvest_")


def last_success(bulletin: Bulletin, before: str) -> float:
    """Return the time at which an audit of this name last succeeded according to an earlier file, or NaN."""
    start = re.escape(_metric_name(_LAST, _audit_labels(bulletin)))
    found = re.search(rf"(?m)^{start} ([0-9.e+]+)$", before)
    return float(found[1]) if found else math.nan


def _audit_labels(bulletin: Bulletin) -> dict[str, str]:
    return {"command": bulletin.command, "audit": bulletin.audit}


def _metric_name(name: str, labels: Mapping[str, str]) -> str:
    escaped = {key: plain(value).replace("\\", r"\\").replace('"', r"\"") for key, value in labels.items()}
    pairs = ",".join(f'{key}="{value}"' for key, value in escaped.items())
    return f"{name}{{{pairs}}}"
