"""The conclusion of a re-audit: the reason for its finding, the next step, and three things to look at."""

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harvest.cli.next_steps import Step, print_next_steps, report_step, write_run_report
from harvest.cli.watch.looking import Reaudit, rule_options
from harvest.report.finding import Finding
from harvest.report.watch_finding import most_serious, watch_finding
from harvest.studies.scores.gathered import gather_runs
from harvest.studies.watch.blessed_run import BeforeAndNow, find_blessed_run
from harvest.studies.watch.watched import MOVED, Watched, WatchedSystem
from harvest.studies.watch.words import later_audit
from harvest.terminal import people_console
from recordings.log.run_folder import Run, read
from topics.counting import pluralize


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The conclusion from a judged run, which the user calls `named`. `finding` comes from the run's report, about the
    system with the most serious verdict, and `system` is None if the baseline has no system of the run."""

    found: Watched
    named: Path
    this: Reaudit
    finding: Finding
    system: WatchedSystem | None

    @classmethod
    def of(cls, watched: Watched, run: Run, named: Path, reaudit: Reaudit) -> "Conclusion":
        audit, base = (reaudit.audit, *reaudit.further), str(reaudit.base)
        finding = watch_finding(watched, gather_runs(run).material, named, audit, base)
        return cls(watched, named, reaudit, finding, most_serious(watched)[0] if watched.systems else None)

    @property
    def sentences(self) -> Sequence[str]:
        """The reason and the next step: the second and third sentence after the verdict."""
        of = f" ({self.system.name})" if self.system is not None and len(self.found.systems) > 1 else ""
        why = self.finding.drives
        if not why and self.finding.verdict in MOVED:
            why = "It is spread: no topic and no turn shows it alone, only all topics together."
        named = (("Why", why), ("Next", self.finding.next))
        return [f"{name}{of}: {sentence}" for name, sentence in named if sentence]

    def print_next_steps(self, run: Run) -> None:
        """Write the report of the run, and print what to look at next."""
        people = people_console()
        reported = write_run_report(people, self.named, run, baseline=self.this.base, history=self.this.log)
        print_next_steps(people, [*self._steps(run, reported=reported)][:3])

    def _steps(self, run: Run, *, reported: bool) -> Iterator[Step]:
        verdict, system, name = self.finding.verdict, self.system, shlex.quote(str(self.named))
        blessed = find_blessed_run(self.this.blessed, self.this.base.parent, self.named)
        if reported:
            beside = ", and conversations from before beside those of now" if blessed and verdict in MOVED else ""
            yield report_step(self.named, f"what was found{beside or ', and every conversation behind it'}")
        rules = rule_options(self.this.rules, self.this.given)
        again = shlex.join(["harvest", "watch", "run", self.this.audit, *self.this.further, *rules])
        series = ("how the figures went, audit by audit", f"harvest watch history {shlex.quote(str(self.this.log))}")
        if verdict == "nothing":
            if system is not None and system.incomparable:
                yield "runs of the audit as it is now, for a new baseline", self.finding.command
            yield "what went wrong", f"harvest show {name} --all"
            yield "the audit again, once the cause is removed", again
            return
        if verdict in MOVED:
            if system is not None:
                yield self._conversations(system, run, blessed)
            if verdict != "changed":
                figure = most_serious(self.found)[1]
                first = math.nan if figure is None else figure.waits_since
                yield f"{later_audit(first, self.found.rules.apart)}, which confirms it or does not", again
            elif blessed is not None:
                moved = most_serious(self.found)[1]
                words = ["harvest", "compare", str(blessed), str(self.named), "--estimand", "these"]
                yield "which topics carry it", shlex.join([*words, *(["-m", moved.name] if moved is not None else [])])
        elif verdict in ("cannot tell", "perhaps back"):
            settles = next((one.settles.trials for one in system.figures if one.gated), 0) if system else 0
            if settles:
                more = f"{pluralize(settles, 'more trial')} of each topic, likely to settle it"
                yield more, f"{again} --extend {settles}"
            else:
                yield "another audit, at another hour, whose evidence adds to this", again
        yield series
        yield "the paths of all conversations", f"harvest tree {name}"

    def _conversations(self, system: WatchedSystem, run: Run, blessed: Path | None) -> Step:
        """Return the step to the conversations that differ: one from before beside one of now, or those of now."""
        name, own = shlex.quote(str(self.named)), [one for one in run.finished if one.key.system == system.name]
        before = [one for one in read(blessed).finished if one.key.system == system.name] if blessed is not None else []
        both = BeforeAndNow(own, before)
        if blessed is not None:
            pair = both.first_pair(system)
            if pair is not None:
                sides = ",".join(f"{system.name}@{folder.resolve().name}" for folder in (blessed, self.named))
                words = ["--beside", sides, "--topic", pair.topic, "--flipped"]
                return (
                    f"the conversations on {pair.topic} that went another way, before and now",
                    f"harvest show {shlex.quote(str(blessed))} {name} {shlex.join(words)}",
                )
        topic, _ = both.first_now(system) or (own[0].key.topic, 0)
        words = ["--system", system.name, "--topic", topic]
        return f"its conversations on {topic}", f"harvest show {name} {shlex.join(words)}"
