"""The placebo of a watched audit: is the harness itself as it should be?"""

from pathlib import Path

from rich.console import Console

from harvest.audits.audit import Audit
from harvest.audits.placebo import placebo_audit
from harvest.cli.playing import play_to_folder
from harvest.parrot.placebo import placebo_server
from harvest.studies.watch.dated_runs import free_name
from harvest.studies.watch.harness import Harness, hold_against_placebo
from recordings.log.run_folder import read


def play_placebo(audit: Audit, folder: Path, console: Console) -> Harness:
    """Play the placebo of an audit into a new run beside that of the audit, `folder`. One that was stopped is not gone
    on with: what its page was sent is not known any more."""
    with placebo_server() as placebo:
        made = placebo_audit(audit, placebo.url)
        beside = free_name(folder.with_name(f"{folder.name}.placebo"))
        console.print(f"placebo: {len(made.topics.topics)} of the topics, to see whether the harness is sound")
        play_to_folder(made, beside.absolute(), "", console)
        return hold_against_placebo(read(beside), placebo.heard)
