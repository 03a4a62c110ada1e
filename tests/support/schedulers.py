"""Schedules read as cron, systemd and GitHub read them: our own reading everywhere, the real one where it is there.

cron: five fields in their ranges, then a command in which an unescaped `%` would end the line, and of which no more
than 998 characters are read (crontab(5), and `crontab -n` of Debian). systemd: sections, the keys that we use, no
unknown specifier (systemd.unit(5), systemd.service(5)), and `systemd-analyze`. GitHub: the workflow schema that
check-jsonschema brings along.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

__all__ = ["as_cron_reads", "check_crontab", "check_units", "check_workflow", "command_of"]

_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_KEYS = {
    "Unit": {"Description", "OnFailure"},
    "Service": {
        "Type",
        "WorkingDirectory",
        "EnvironmentFile",
        "ExecStart",
        "SuccessExitStatus",
        "TimeoutStartSec",
        "StandardOutput",
        "StandardError",
    },
    "Timer": {"OnCalendar", "Persistent", "RandomizedDelaySec", "FixedRandomDelay"},
    "Install": {"WantedBy"},
}


def as_cron_reads(text: str) -> tuple[tuple[str, ...], str]:
    """The five fields of the first entry, and what it hands to `sh -c`; a second one follows alarms and falls."""
    entry, *more = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert ["--if-alarm" in line for line in more] in ([], [True])
    assert text.endswith("\n"), "cron does not read a last line without an end"
    *time, command = entry.split(" ", 5)
    for field, (least, most) in zip(time, _RANGES, strict=True):
        assert field == "*" or least <= int(field) <= most, field
    assert len(command) <= 998
    assert not re.search(r"(?<!\\)%", command), "an unescaped % is the end of the command"
    return tuple(time), command.replace(r"\%", "%")


def check_crontab(path: Path, crontab: str) -> None:
    """By crontab(1): `-T` where it is cronie's, `-n` where it is Debian's."""
    said = ""
    for option in ("-n", "-T"):
        done = subprocess.run([crontab, option, path], capture_output=True, text=True, check=False, timeout=20)
        if done.returncode == 0:
            return
        said += done.stdout + done.stderr
    raise AssertionError(said)


def command_of(service: str) -> list[str]:
    """The words of ExecStart, as systemd splits and unquotes them."""
    (line,) = re.findall(r"^ExecStart=(.*)$", service, re.MULTILINE)
    words = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line)
    found = [re.sub(r"\\(.)", r"\1", quoted) if quoted else plain for quoted, plain in words]
    return [word.replace("%%", "%").replace("$$", "$") for word in found]


def check_units(*units: Path) -> None:
    """By our own reading, and by systemd-analyze where it is there."""
    for unit in units:
        section = ""
        for line in unit.read_text().splitlines():
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                section = line.strip("[]")
                continue
            key, _, value = line.partition("=")
            assert key in _KEYS[section], line
            assert value.strip() == value
            assert value
            assert not re.search(r"(?<!%)(?:%%)*%(?!%)", value), f"% begins a specifier: {line}"
    if shutil.which("systemd-analyze"):
        environment = {**os.environ, "SYSTEMD_LOG_LEVEL": "warning"}
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *units],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=environment,
        )
        assert (done.returncode, done.stdout + done.stderr) == (0, "")


def check_workflow(path: Path) -> None:
    """By the schema of workflows that check-jsonschema brings along."""
    from check_jsonschema import main

    assert main(["--builtin-schema", "vendor.github-workflows", str(path)], standalone_mode=False) in (0, None)
