"""The tree of commands: the entries that `harvest` and its groups list, and the import of a command when it is
called."""

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry in a list of commands. A group has `commands`. The `module` of any other entry has a `command` or, for
    a study of recorded runs, a `study_form`."""

    summary: str
    module: str = ""
    commands: Mapping[str, "Entry"] = field(default_factory=dict)


# Summaries are repeated here so that `harvest --help` imports no command; a test compares them with the commands.
SECTIONS: Mapping[str, Mapping[str, Entry]] = {
    "Every day": {
        "init": Entry("Write an audit to start from.", "harvest.cli.init"),
        "check": Entry("Validate an audit and print its plan.", "harvest.cli.check"),
        "run": Entry("Play an audit (or resume it), then score it.", "harvest.cli.run"),
        "show": Entry("List a run's trials, or print one conversation.", "harvest.cli.show"),
        "score": Entry("Score recorded runs, offline, as often as you like.", "harvest.cli.score"),
        "report": Entry("Write one HTML page about recorded runs.", "harvest.cli.report"),
        "view": Entry("Watch and read the runs in a folder on a local page.", "harvest.cli.view"),
    },
    "Studies of recorded runs": {
        "compare": Entry("Compare systems over common topics.", "harvest.cli.compare"),
        "variance": Entry("Show how much trials vary, and why.", "harvest.cli.variance"),
        "robustness": Entry("Compare the arms of an audit with their control.", "harvest.cli.robustness"),
        "sources": Entry("Show which sources answers cite.", "harvest.cli.sources"),
        "attribute": Entry("Attribute the difference between two runs to its causes.", "harvest.cli.attribute"),
        "plan": Entry("Plan how many topics and trials a comparison needs.", "harvest.cli.plan"),
        "tree": Entry("Merge a run's repeated trials into conversation trees.", "harvest.cli.tree"),
    },
    "Groups of commands": {
        "watch": Entry(
            "Play an audit regularly, and say when it changed.",
            commands={
                "bless": Entry("Make recorded runs the baseline of later audits.", "harvest.cli.watch.bless"),
                "run": Entry("Play an audit again, and say whether it changed.", "harvest.cli.watch.reaudit"),
                "history": Entry("Show the figures of a watched audit over time.", "harvest.cli.watch.history"),
                "schedule": Entry(
                    "Print a schedule for cron, systemd or GitHub Actions.", "harvest.cli.watch.schedule"
                ),
            },
        ),
        "judge": Entry(
            "Let people, models or rules judge answers.",
            commands={
                "page": Entry("Let people judge on a page of this machine.", "harvest.cli.judge.page"),
                "sheet": Entry("Write a sheet for people to fill in, or import one.", "harvest.cli.judge.sheet"),
                "pairs": Entry("Let people compare conversations in blind pairs.", "harvest.cli.judge.pairs"),
                "preferences": Entry("Show which systems people prefer.", "harvest.cli.judge.preferences"),
                "model": Entry(
                    "Let a model judge nuggets, turns, conversations or blind pairs.", "harvest.cli.judge.model"
                ),
                "rules": Entry("Extract nuggets by rules, and score them by rules.", "harvest.cli.judge.rules"),
                "extract": Entry("Let a model extract nuggets.", "harvest.cli.judge.extract"),
                "cited": Entry("Look up whether cited pages exist.", "harvest.cli.judge.cited"),
                "triage": Entry("List the turns that should be reviewed first.", "harvest.cli.judge.triage"),
                "pool": Entry("List the items to judge in RUNs, each once.", "harvest.cli.judge.pool"),
                "nuggets": Entry(
                    "Show how many of the topics' nuggets the answers contain.", "harvest.cli.judge.nuggets"
                ),
            },
        ),
        "data": Entry(
            "Import, export, merge, verify and compress runs.",
            commands={
                "import": Entry(
                    "Make a run from files of conversations, whose format is recognised.", "harvest.cli.data.importing"
                ),
                "export": Entry(
                    "Write a run's conversations, or people's scores, for others.", "harvest.cli.data.exporting"
                ),
                "merge": Entry("Merge the runs of several machines into a new one.", "harvest.cli.data.merging"),
                "verify": Entry("Verify recorded runs and reports, offline.", "harvest.cli.data.verify"),
                "compact": Entry("Compress the events and the evidence of runs.", "harvest.cli.data.compacting"),
            },
        ),
        "pages": Entry(
            "Examine chat pages, log in, and read stored pages again.",
            commands={
                "probe": Entry(
                    "Examine a chat page, send one message, and draft a site file.", "harvest.cli.pages.probe"
                ),
                "login": Entry(
                    "Open a window to log in by hand, and store the log-in in a file.", "harvest.cli.pages.login"
                ),
                "read-again": Entry(
                    "Read stored pages and replies again, and show what changed.", "harvest.cli.pages.rereading"
                ),
            },
        ),
        "users": Entry(
            "Play a user yourself; fit, check and submit simulated users.",
            commands={
                "chat": Entry("Play the user yourself and record the conversation.", "harvest.cli.users.chat"),
                "fit": Entry("Fit a simulated user to recorded users.", "harvest.cli.users.fit"),
                "check": Entry("Compare simulated users with real users.", "harvest.cli.users.check"),
                "groups": Entry("Compare groups of users.", "harvest.cli.users.groups"),
                "population": Entry(
                    "Show figures of a population of users, by user and re-weighted.", "harvest.cli.users.population"
                ),
                "counterfactual": Entry(
                    "Estimate the figures of a run with another user.", "harvest.cli.users.counterfactual"
                ),
                "findings": Entry("Show the findings of probes.", "harvest.cli.users.findings"),
                "submit": Entry(
                    "Play a campaign: submit a simulated user, or a system, to a track such as TREC's.",
                    "harvest.cli.users.submit",
                ),
            },
        ),
        "metrics": Entry(
            "Compute the metrics of campaigns from their files.",
            commands={
                "gfr": Entry("Score ranked lists: ERR, iRBU, GF and GFR.", "harvest.cli.metrics.gfr"),
                "breakdown": Entry(
                    "Detect dialogue breakdown, and evaluate predictions of it (DBDC).", "harvest.cli.metrics.breakdown"
                ),
                "helpdesk": Entry(
                    "Predict quality and nuggets of helpdesk dialogues (STC-3).", "harvest.cli.metrics.helpdesk"
                ),
                "structured": Entry(
                    "Evaluate structured answers by line (experimental).", "harvest.cli.metrics.structured"
                ),
            },
        ),
    },
    "Further commands": {
        "probe": Entry("Find out which API a URL has, with one harmless turn.", "harvest.cli.probe"),
        "menu": Entry("Walk a menu of buttons, and show its graph.", "harvest.cli.menu"),
        "relabel": Entry("Label recorded answers again, and show what changes.", "harvest.cli.relabel"),
        "measures": Entry("List all measures, or explain one.", "harvest.cli.measures"),
        "doctor": Entry("Check this machine and report what is missing.", "harvest.cli.doctor"),
        "completion": Entry("Print a script that completes the command line in a shell.", "harvest.cli.completion"),
    },
}


def _with_full_names(entries: Mapping[str, Entry], group: str = "") -> Iterator[tuple[str, Entry]]:
    for name, entry in entries.items():
        yield f"{group}{name}", entry
        yield from _with_full_names(entry.commands, f"{group}{name} ")


COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in _with_full_names(section)}
"""All commands and groups by their full names, such as `watch run`."""

# Names that commands had before they were put into groups, except those whose last word stayed.
_FORMER = {
    "annotate": "judge page (--serve), sheet (--export, --import), pairs, extract, triage or rules",
    "reaudit": "watch run",
    "reread": "pages read-again",
    "replay-routes": "relabel",
    "simulate": "users",
}


class CommandGroup(click.Group):
    """A group that imports a command only when that command is called, which keeps `--help` quick. `sections` are the
    lists of commands, by their headings."""

    def __init__(self, *arguments: Any, sections: Mapping[str, Mapping[str, Entry]], **others: Any) -> None:
        super().__init__(*arguments, **others)
        self._sections = sections
        self._entries = {name: entry for section in sections.values() for name, entry in section.items()}

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self._entries)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        entry = self._entries.get(name)
        if entry is None:
            return None
        if entry.commands:
            return CommandGroup(name, sections={"Commands": entry.commands}, help=entry.summary)
        module = importlib.import_module(entry.module)
        if hasattr(module, "study_form"):
            from harvest.cli.study_output import study_command  # late, as every command

            return study_command(module.study_form)
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0]
        if name not in self._entries and not name.startswith("-"):
            context.fail(self._explain_unknown(context, name))
        return super().resolve_command(context, arguments)

    def _explain_unknown(self, context: click.Context, name: str) -> str:
        """Name the command that is meant: commands moved into groups, and `harvest judge RUN` became one of a group."""
        from topics.errors import suggestion  # late: only a typing error needs it

        said = f"{context.command_path} {name}"
        known = [full for full in COMMANDS if full.rpartition(" ")[2] == name]
        if context.parent is None and (now := _FORMER.get(name) or next(iter(known), None)):
            return f"{said} is now harvest {now}"
        if context.command_path == "harvest judge" and Path(name).exists():
            return "harvest judge RUN is now harvest judge model RUN"
        return f"No such command {name!r}{suggestion(name, self._entries)}"

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands. Click's own method would import every command for its help text."""
        found = [
            CompletionItem(name, help=one.summary) for name, one in self._entries.items() if name.startswith(incomplete)
        ]
        options = click.Command.shell_complete(self, context, incomplete) if incomplete.startswith("-") else []
        return [*found, *options]

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, self._entries))
        for heading, entries in self._sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), entry.summary) for name, entry in entries.items()])
