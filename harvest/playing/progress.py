"""The live progress display on standard error: a bar for each system, labels so far, errors, and the likely end."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Column
from rich.text import Text

from harvest.audits.system import System
from harvest.playing.plan import Plan, Work
from harvest.systems.timing import REAL_CLOCK, Clock
from harvest.terminal import printable
from protocols.labels import NOT_USEFUL, USEFUL
from recordings.conversations.conversation import INVALID, Outcome
from topics.counting import count_time, pluralize

_WIDE = 72  # columns of a terminal in which bars fit beside names and labels
_FEWEST = 3  # trials after which the end of a run is estimated


class _Bars(Progress):
    """Bars with a line below them, which says when all will be done."""

    ending = ""

    def get_renderables(self) -> Iterator[RenderableType]:
        yield self.make_tasks_table(self.tasks)
        if self.ending:
            yield Text(self.ending, style="dim", no_wrap=True, overflow="ellipsis")


class Display:
    """A `harvest.playing.runner.Watcher` that draws on a terminal, or else writes plain lines. `labels` has the number
    of each label so far, by system. `left` has the systems that were given up. `rewrite` shows a line in place of the
    previous line, which also works in notebooks."""

    def __init__(
        self,
        console: Console,
        systems: tuple[System, ...],
        plan: Plan,
        clock: Clock = REAL_CLOCK,
        *,
        rewrite: Callable[[str], None] | None = None,
    ) -> None:
        self._rewrite = rewrite
        self._console, self._clock, self._began = console, clock, clock.monotonic()
        self.labels: dict[str, Counter[str]] = {system.name: Counter() for system in systems}
        self.left: set[str] = set()
        self._said: set[tuple[str, str]] = set()
        # On a narrow terminal, names are cut and the bar is left out, so that counts stay on one line.
        wide = console.width >= _WIDE
        self._progress = _Bars(
            TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
            *([BarColumn(bar_width=20)] if wide else []),
            TextColumn("{task.fields[count]}", table_column=Column(no_wrap=True)),
            TextColumn("{task.fields[seen]}", table_column=Column(no_wrap=True)),
            console=console,
            expand=not wide,
            refresh_per_second=8,
            disable=not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}
        self._done, self._total, self._step = 0, plan.to_play, 0
        for system in systems:
            works = sum(len(sitting.works) for sitting in plan.sittings.get(system.name, ()))
            # The end of a long name is kept, since versions and dates come last.
            most = 20 if wide else max(8, console.width - 32)
            name = system.name if len(system.name) <= most else f"…{system.name[1 - most :]}"
            # The name is user text: square brackets in it are not markup.
            self._tasks[system.name] = self._progress.add_task(
                f"[bold]{escape(name)}[/]" + (f" {escape(system.driver)}" if wide else ""),
                total=works,
                seen="",
                count=f"0/{works}",
            )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def turn_asked(self, work: Work) -> None:
        self.labels[work.key.system]["turns"] += 1
        self._redraw_labels(work.key.system)

    def attempt_ended(self, work: Work, outcome: Outcome, labels: tuple[str, ...], *, again: bool) -> None:
        counts = self.labels[work.key.system]
        if outcome.kind == INVALID:
            counts["invalid"] += 1
            self._print_once(work.key.system, outcome)
        else:
            counts.update(labels)
        if not again:
            self._done += 1
            task = self._tasks[work.key.system]
            self._progress.advance(task)
            row = next(one for one in self._progress.tasks if one.id == task)
            self._progress.update(task, count=f"{row.completed:g}/{row.total:g}")
            self._progress.ending = self._describe_end()
            self._print_step()
        self._redraw_labels(work.key.system)

    def _print_once(self, system: str, outcome: Outcome) -> None:
        """Show the reason for a failed attempt, once for each system and reason, to reveal a wrong address early."""
        if (system, outcome.reason) not in self._said:
            self._said.add((system, outcome.reason))
            why = f"{outcome.reason}: {outcome.detail}" if outcome.detail else outcome.reason
            self._console.print(f"[yellow]{escape(printable(f'{system}: an attempt failed: {why}', line=True))}[/]")

    def system_left(self, system: str, reason: str, unplayed: int) -> None:
        self.left.add(system)
        told = printable(f"{system} is not contacted again: {reason}; trials left: {unplayed}", line=True)
        self._console.print(f"[yellow]{escape(told)}[/]")

    def pace_lowered(self, system: str, why: str) -> None:
        self._console.print(f"[yellow]{escape(printable(f'{system} {why}', line=True))}[/]")

    def _describe_end(self) -> str:
        """Return when the run will end if it goes on as it went so far, or "" if nothing is known yet."""
        passed, left = self._clock.monotonic() - self._began, self._total - self._done
        if not left or self._done < _FEWEST or passed < 1:
            return ""
        seconds = left * passed / self._done
        ends = (self._clock.now() + timedelta(seconds=seconds)).astimezone()
        at = f"{ends:%H:%M}" if seconds < 86400 else f"{ends:%Y-%m-%d %H:%M}"
        return f"ends about {at}, in {count_time(seconds)}"

    def _print_step(self) -> None:
        """Print a line after every tenth of the trials if nothing can be drawn, as in a scheduled job's log, or after
        every hundredth if it takes the place of the line before it."""
        step = (100 if self._rewrite else 10) * self._done // max(1, self._total)
        if step > self._step and not self._console.is_terminal:
            self._step = step
            told = {
                system: ", ".join(f"{kind} {counts[kind]}" for kind in (USEFUL, NOT_USEFUL, "invalid") if counts[kind])
                for system, counts in self.labels.items()
            }
            # A system without new turns, such as one that was played before, has no entry.
            seen = "; ".join(f"{system}: {kinds}" for system, kinds in told.items() if kinds)
            done = f"{self._done} of {pluralize(self._total, 'trial')}" + (f" ({seen})" if seen else "")
            ending = self._describe_end()
            line = printable(done + (f"; {ending}" if ending else ""), line=True)
            if self._rewrite:
                self._rewrite(line)
            else:
                self._console.print(line, markup=False, soft_wrap=True)

    def _redraw_labels(self, system: str) -> None:
        counts = self.labels[system]
        seen = f"[green]o {counts[USEFUL]}[/] [yellow]x {counts[NOT_USEFUL]}[/]"
        if counts["invalid"]:
            seen += f" [red]invalid {counts['invalid']}[/]"
        self._progress.update(self._tasks[system], seen=seen)
