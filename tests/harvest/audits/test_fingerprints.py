"""A run does not go on with another program, function or certificate under the old name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harvest.audits.audit import load_audit
from harvest.cli import main
from harvest.drivers import python as python_driver
from recordings.log.continuation import differences

AUDIT = """\
format: harvest-audit/1
name: fingerprints
topics: fairweb-45
only: [M001]
protocol: fairweb-two-round
trials: {trials}
systems:
  - {{name: mine, driver: {driver}, options: {options}}}
"""
SYSTEMS = {
    "program": ("command", '{argv: ["./bot.sh"], mode: once}', "bot.sh", "#!/bin/sh\necho no\n"),
    "script": ("command", "{argv: [sh, bot.sh], mode: once}", "bot.sh", "echo no\n"),
    "function": ("python", '{function: "bot.py:answer"}', "bot.py", "def answer(text):\n    return 'no'\n"),
}


def _run(trials: int, driver: str, options: str) -> int:
    Path("audit.yaml").write_text(AUDIT.format(trials=trials, driver=driver, options=options))
    with pytest.raises(SystemExit) as ended:
        main(["run", "--no-report", "audit.yaml", "--out", "run"])
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize("kind", SYSTEMS)
def test_the_content_of_a_file_is_part_of_the_system(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    driver, options, name, content = SYSTEMS[kind]
    Path(name).write_text(content)
    Path(name).chmod(0o755)
    assert _run(1, driver, options) == 0
    assert _run(2, driver, options) == 0, "the same system: more trials"
    Path(name).write_text(content + "# another\n")
    capsys.readouterr()
    assert _run(3, driver, options) == 2
    told = capsys.readouterr().err
    assert "the content of the files of system mine has changed" in told
    assert name in told


def test_a_run_made_before_contents_were_kept_continues_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    driver, options, name, content = SYSTEMS["function"]
    Path(name).write_text(content)
    assert _run(1, driver, options) == 0
    header = json.loads(Path("run/run.json").read_text())
    for key in ("system_defaults", "system_files"):
        del header["audit"][key]
    Path("run/run.json").write_text(json.dumps(header))
    Path(name).write_text(content + "# another\n")
    assert _run(2, driver, options) == 0
    kept = json.loads(Path("run/run.json").read_text())
    assert kept["systems"] == header["systems"]
    assert kept["hashes"] == header["hashes"]
    Path(name).write_text(content + "# a third\n")
    assert _run(3, driver, options) == 2, "what it went on with is kept"


def test_a_changed_default_of_a_driver_is_another_system_but_a_new_option_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bot.py").write_text(SYSTEMS["function"][3])
    Path("audit.yaml").write_text(AUDIT.format(trials=1, driver="python", options='{function: "bot.py:answer"}'))
    before = load_audit("audit.yaml").header()

    class Later(python_driver.Options):
        timeout: float = 30.0
        warmth: int = 3

    monkeypatch.setattr(python_driver, "Options", Later)
    told = "\n".join(differences(before, load_audit("audit.yaml").header()))
    assert "the defaults of the driver of system mine has changed" in told
    assert '"timeout": 30.0' in told
    assert "warmth" not in told
    Later.model_fields["timeout"].default = 60.0
    Later.model_rebuild(force=True)
    assert differences(before, load_audit("audit.yaml").header()) == []


def test_certificates_and_sites_are_files_of_their_systems(tmp_path: Path) -> None:
    from harvest.drivers.registry import driver_files, options_model

    for name in ("ca.pem", "chat.yaml"):
        (tmp_path / name).write_text("")
    given = {
        "openai": {"base_url": "http://127.0.0.1:1", "model": "m", "ca_file": "ca.pem"},
        "http": {"url": "http://127.0.0.1:1", "body": "{{ text }}", "reply": "text", "ca_file": "ca.pem"},
        "browser": {"site": "chat.yaml"},
        "parrot": {},
    }
    found = {
        driver: [called for called, _ in driver_files(driver, options_model(driver).model_validate(options), tmp_path)]
        for driver, options in given.items()
    }
    assert found == {"openai": ["ca.pem"], "http": ["ca.pem"], "browser": ["chat.yaml"], "parrot": []}
