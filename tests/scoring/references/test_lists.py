"""`harvest metrics gfr --json` on random files of ranked lists, against the plain second formulations."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from harvest.cli.main import main
from scoring.notation import parse
from tests.support import reference_measures as ref

GOLDS = {"RATINGS": 4, "ORIGIN": 3}
GAINS = {0: Fraction(0), 1: Fraction(1), 2: Fraction(3)}
DOCUMENTS = 9


def _shares(rng: np.random.Generator, bins: int) -> tuple[Fraction, ...]:
    """Quarters, which are exact in a decimal of a file."""
    places = rng.integers(0, bins, 4)
    return tuple(Fraction(int((places == group).sum()), 4) for group in range(bins))


def _row(shares: tuple[Fraction, ...]) -> str:
    return " ".join(str(float(share)) for share in shares)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cutoff", [None, 3])
def test_every_measure_of_every_list(
    seed: int, cutoff: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng([31, seed])
    topics = [f"T{number}" for number in range(4)]
    gold = {name: _shares(rng, bins) for name, bins in GOLDS.items()}
    grades, members, lists = {}, {}, {}
    for topic in topics:
        for place in range(DOCUMENTS):
            if rng.random() < 0.7 or place == 0:
                grades[topic, place] = int(rng.integers(0, 3))
            for name, bins in GOLDS.items():
                if rng.random() < 0.8 or place == 0:
                    members[name, topic, place] = _shares(rng, bins)
        lists[topic] = [int(place) for place in rng.permutation(DOCUMENTS)[: rng.integers(0, DOCUMENTS + 1)]]
    words = ["metrics", "gfr", "--json", "--replications", "100", "--ordinal", "RATINGS", "--nominal", "ORIGIN"]
    qrels = tmp_path / "small.qrels"
    qrels.write_text("".join(f"{topic} d{place} L{grade}\n" for (topic, place), grade in grades.items()))
    words += ["--qrels", str(qrels)]
    for name in GOLDS:
        path = tmp_path / f"small.{name}.gmemb"
        kept = [(topic, place, row) for (kind, topic, place), row in members.items() if kind == name]
        path.write_text("".join(f"{topic} d{place} {_row(row)}\n" for topic, place, row in kept))
        target = tmp_path / f"{name}.golddistr"
        target.write_text("".join(f"{float(share)}\n" for share in gold[name]))
        words += ["--membership", str(path), "--gold", f"{name}={target}"]
    run = tmp_path / "mine.run"
    ranked = [(topic, rank, place) for topic in topics for rank, place in enumerate(lists[topic], start=1)]
    run.write_text("".join(f"{topic} Q0 d{place} {rank} {-rank} mine\n" for topic, rank, place in ranked))
    words += ["--run", str(run)] + (["--cutoff", str(cutoff)] if cutoff else [])
    with pytest.raises(SystemExit) as ended:
        main(words)
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed.err
    told = {(row["measure"], row["topic"]): row["value"] for row in json.loads(printed.out)["rows"]}

    means: dict[str, list[float]] = {}
    for topic in topics:
        places = lists[topic][:cutoff]
        gains = [GAINS[grades.get((topic, place), 0)] for place in places]
        expected = {"ERR": float(ref.err(gains, Fraction(3))), "iRBU": float(ref.irbu(gains, Fraction(3)))}
        fair = {}
        for name, bins in GOLDS.items():
            uniform = (Fraction(1, bins),) * bins
            rows = [members.get((name, topic, place), uniform) for place in places]
            for by in ("RNOD", "NMD", "JSD"):
                fair[name, by] = ref.list_fairness(gains, rows, gold[name], Fraction(3), by)
                expected[f"GF({name}, by={by})"] = fair[name, by]
        for utility in ("ERR", "iRBU"):
            for by in ("RNOD", "NMD"):
                parts = (expected[utility], fair["RATINGS", by], fair["ORIGIN", "JSD"])
                expected[f"GFR({utility}, ordinal={by})"] = sum(parts) / 3
        for measure, value in expected.items():
            written = _cut(measure, cutoff)
            assert told[written, topic] == pytest.approx(value, abs=1e-9), (written, topic)
            means.setdefault(written, []).append(value)
    for measure, values in means.items():
        assert told[measure, None] == pytest.approx(sum(values) / len(values), abs=1e-9), measure


def _cut(measure: str, cutoff: int | None) -> str:
    """docs/rankings.md: with --cutoff 20 a measure is written `ERR(cutoff=20)`."""
    if cutoff is None:
        return measure
    return str(parse(f"{measure[:-1]}, cutoff={cutoff})" if measure.endswith(")") else f"{measure}(cutoff={cutoff})"))
