"""What `harvest run` prints of trials that are left without a valid attempt."""

from pathlib import Path

import pytest

from tests.support.command_line import harvest
from tests.support.reported import audit

BOTS = """
def up(text): return "https://www.imdb.com/title/tt0088763/"
def down(text):
    if "robot" in text: raise RuntimeError("down")
    return up(text)
"""


@pytest.mark.parametrize("trials", [1, 2])
def test_trials_without_a_valid_attempt_are_counted_by_system_with_what_was_tried(tmp_path: Path, trials: int) -> None:
    (tmp_path / "bots.py").write_text(BOTS)
    systems = "".join(
        f"  - {{name: {name}, driver: python, options: {{function: 'bots.py:{name}'}}, attempts: 2}}\n"
        for name in ("up", "down")
    )
    (tmp_path / "audit.yaml").write_text(audit(systems, trials))
    done = harvest("run", "audit.yaml", "--out", "run", cwd=tmp_path)
    said = " ".join((done.stdout + done.stderr).split())
    lost = f"{trials} trial" + ("s" if trials > 1 else "")
    assert f"no valid attempt: {trials} of {12 * trials} trials (down: {lost}, {2 * trials} lost attempts);" in said
