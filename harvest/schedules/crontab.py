"""A line for crontab(5).

cron gives a command almost no environment, mails its output, and reads `%` as the end of a line. Therefore all paths
are absolute, and `%` is escaped by a backslash, which cron removes. The output goes to a log, and its last lines are
mailed only if the exit code is not 0.
"""

import shlex

from harvest.schedules.job import BUSY, Every, Job, Slot
from topics.errors import InputError

# Characters of a command: cron of Debian and of BSD silently cuts longer ones.
LONGEST_LINE = 998

_MAILED_LINES = 60  # lines


def crontab(job: Job, flock: str) -> str:
    """Return comments and one line for crontab. `flock` is the path of flock(1). Raises InputError if the line is too
    long for cron."""
    log, environment = shlex.quote(str(job.log)), shlex.quote(str(job.environment))
    begin = f"cd {shlex.quote(str(job.folder))} || exit 3; "
    if job.variables:
        begin += f"set -a; . {environment} || exit 3; set +a; "
    words = shlex.join([flock, "-n", "-E", str(BUSY), str(job.lock), *job.words])
    said = shlex.quote(f"harvest watch run of {job.name}: exit code")
    failed = f"c=$?; echo {said} $c; tail -n {_MAILED_LINES} {log}; exit $c"
    command = (f"{begin}{words} >>{log} 2>&1 || {{ {failed}; }}").replace("%", r"\%")
    if len(command) > LONGEST_LINE:
        raise InputError(
            f"the command has {len(command)} characters, but cron cuts it off after {LONGEST_LINE}",
            advice="shorten paths and options, or use --systemd",
        )
    lines = [f"# {job.sentence}"]
    if job.variables:
        lines.append(f"# {job.environment} holds {', '.join(job.variables)} as NAME=value lines; chmod 600.")
    return "".join(f"{line}\n" for line in (*lines, f"{cron_time(job.slot, job.every)} {command}"))


def cron_time(slot: Slot, every: Every) -> str:
    """Return the five time fields of a line in crontab."""
    return {
        "hour": f"{slot.minute} * * * *",
        "day": f"{slot.minute} {slot.hour} * * *",
        "week": f"{slot.minute} {slot.hour} * * {slot.weekday}",
        "month": f"{slot.minute} {slot.hour} {slot.day} * *",
    }[every]
