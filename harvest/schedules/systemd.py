"""A service and a timer for systemd, as a script that installs both as the user's own units."""

import re
from collections.abc import Sequence

from harvest.schedules.job import BUSY, Job

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")
_PLAIN = re.compile(r"[A-Za-z0-9_@+=:,./-]+")


def systemd(jobs: Sequence[Job], flock: str) -> str:
    """Return a shell script that installs the jobs: `harvest watch schedule AUDIT --systemd | sh`."""
    return "".join(_installation(job, flock) for job in jobs) + (
        "# So that it also runs when you are not logged in: loginctl enable-linger\n"
    )


def _installation(job: Job, flock: str) -> str:
    unit = job.unit
    needs = ""
    if job.variables:
        needs = f"# {job.environment} must hold {', '.join(job.variables)} as NAME=value lines; chmod 600.\n"
    return f"""\
# {job.sentence} Give this to sh.
{needs}units=${{XDG_CONFIG_HOME:-$HOME/.config}}/systemd/user
mkdir -p "$units"
cat > "$units"/{unit}.service <<'END'
{service(job, flock)}END
cat > "$units"/{unit}.timer <<'END'
{timer(job)}END
systemctl --user daemon-reload
systemctl --user enable --now {unit}.timer
"""


def service(job: Job, flock: str) -> str:
    """Return the service unit. Exit codes 1 and 3 make the unit fail on purpose, which triggers OnFailure=."""
    words = [flock, "-n", "-E", str(BUSY), str(job.lock), *job.words]
    for i, word in enumerate(words):
        if not _PLAIN.fullmatch(word):
            for sign, escaped in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$")):
                words[i] = words[i].replace(sign, escaped)
            words[i] = f'"{words[i]}"'
    environment = f"EnvironmentFile={_escape_percent(str(job.environment))}\n" if job.variables else ""
    log = _escape_percent(str(job.log))
    return f"""\
[Unit]
Description=Harvest: {_escape_percent(job.name)} is audited again
# A unit of yours that tells somebody: it changed (exit code 1), or could not be measured (3).
#OnFailure=tell-somebody@%n.service

[Service]
Type=oneshot
WorkingDirectory={_escape_percent(str(job.folder))}
{environment}ExecStart={" ".join(words)}
SuccessExitStatus={BUSY}
TimeoutStartSec={"50min" if job.every == "hour" else "12h"}
StandardOutput=append:{log}
StandardError=append:{log}
"""


def timer(job: Job) -> str:
    """Return the timer unit. An audit that was missed while the machine was off is played later."""
    slot = job.slot
    time = f"{slot.hour:02}:{slot.minute:02}:00"
    calendar = {
        "hour": f"*-*-* *:{slot.minute:02}:00",
        "day": f"*-*-* {time}",
        "week": f"{_DAYS[slot.weekday - 1]} *-*-* {time}",
        "month": f"*-*-{slot.day:02} {time}",
    }[job.every]
    return f"""\
[Unit]
Description=Harvest: when {_escape_percent(job.name)} is audited again

[Timer]
OnCalendar={calendar}
Persistent=true
RandomizedDelaySec=10min
FixedRandomDelay=true

[Install]
WantedBy=timers.target
"""


def _escape_percent(text: str) -> str:
    return text.replace("%", "%%")
