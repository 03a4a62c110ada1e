"""Metrics: read back by Prometheus' own parser; a machine that stopped is no system that stayed the same."""

from __future__ import annotations

import math
from dataclasses import replace

from prometheus_client.parser import text_string_to_metric_families

from harvest.notices.bulletin import plain
from harvest.notices.prometheus import last_success, metrics
from tests.support.bulletins import AT, CHANGED, DOWN, HOSTILE_BULLETIN, SAME, SHOWN, bulletin

Labels = tuple[tuple[str, str], ...]


def read_back(text: str) -> dict[tuple[str, str], float]:
    """By (name, labels without the audit's)."""
    found = {}
    for family in text_string_to_metric_families(text):
        assert family.type == "gauge"
        assert family.documentation
        for sample in family.samples:
            assert sample.timestamp is None
            own = {key: value for key, value in sample.labels.items() if key not in ("command", "audit", "system")}
            found[sample.name, ",".join(own.values())] = sample.value
    return found


def test_figures_limits_and_verdicts_are_read_back() -> None:
    found = read_back(metrics(bulletin(CHANGED, SHOWN, code=1, verdict="changed")))
    assert found == {
        ("harvest_exit_code", ""): 1,
        ("harvest_last_audit_timestamp_seconds", ""): AT,
        ("harvest_last_success_timestamp_seconds", ""): AT,
        ("harvest_verdict", "ave%useful,same"): 0,
        ("harvest_verdict", "ave%useful,changed"): 1,
        ("harvest_verdict", "ave%useful,cannot tell"): 0,
        ("harvest_verdict", "ave%useful,not measured"): 0,
        ("harvest_alarm", "ave%useful"): 0,
        ("harvest_figure", "ave%useful"): 0.448,
        ("harvest_figure", "%useful S1"): 0.4,
        ("harvest_figure_n", "ave%useful"): 225,
        ("harvest_figure_n", "%useful S1"): 0,
        ("harvest_baseline", "ave%useful"): 0.6,
        ("harvest_difference", "ave%useful"): -0.152,
        ("harvest_difference_low", "ave%useful"): -0.21,
        ("harvest_difference_high", "ave%useful"): -0.09,
    }


def test_the_last_success_outlives_audits_that_measured_nothing() -> None:
    good = metrics(bulletin(SAME))
    down = replace(bulletin(DOWN, code=3, verdict="not measured"), at=AT + 1000)
    first = metrics(down, good)
    second = metrics(replace(down, at=AT + 2000), first)
    for text, at in ((first, AT + 1000), (second, AT + 2000)):
        found = read_back(text)
        assert found["harvest_last_audit_timestamp_seconds", ""] == at
        assert found["harvest_last_success_timestamp_seconds", ""] == AT
        assert found["harvest_exit_code", ""] == 3
    assert math.isnan(last_success(replace(down, audit="another"), good))
    assert ("harvest_last_success_timestamp_seconds", "") not in read_back(metrics(down, "nonsense"))


def test_no_system_text_breaks_the_file_or_creates_a_metric() -> None:
    text = metrics(HOSTILE_BULLETIN)
    families = {one.name: one for one in text_string_to_metric_families(text)}
    codes = families["harvest_exit_code"].samples
    assert [(one.labels["audit"], one.value) for one in codes] == [("weekly", 1)]
    systems = {one.labels["system"] for one in families["harvest_figure"].samples}
    assert systems == {plain(one.system) for one in HOSTILE_BULLETIN.accounts}
    assert max(map(len, text.splitlines())) < 2500
