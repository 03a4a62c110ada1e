"""One obvious place for each change: each row of the table in docs/extending.md, made in a copy of the tree.

A change may touch the files that its row names and no others, and the new thing then works through the command line.
Four of them, each of another kind, are made in `make test`, all in `make soak`.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from recordings import read
from tests.support.checkout import DOCS, ROOT

PACKAGES = ("topics", "protocols", "simulators", "recordings", "scoring", "harvest")
FILE = re.compile(r"`((?:\w[\w-]*/)+[\w.-]+\.(?:py|yaml|csv))`")
ROWS = [
    [cell.strip() for cell in line.split("|")[1:4]]
    for line in (DOCS / "extending.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| a")
]
TABLE = {change: (FILE.findall(model), FILE.findall(edit)) for change, model, edit in ROWS}
DATA_ONLY = {"a protocol, a topic set, a gold table", "a schema of SWAN"}
"""Rows whose change is a file of data, which the commands also take from anywhere else."""


@dataclass
class House:
    """A copy of the tree in which one change is made, as its row of the table says."""

    change: str
    tree: Path
    folder: Path
    held: bool = False

    def add(self, name: str, text: str) -> None:
        """A new file beside the one that the row says to copy."""
        (model,) = TABLE[self.change][0]
        (self.tree / model).with_name(name).write_text(text)

    def edit(self, *replaced: tuple[str, str]) -> None:
        """Edit the one file that the row names."""
        (name,) = TABLE[self.change][1]
        text = (self.tree / name).read_text()
        for old, new in replaced:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (self.tree / name).write_text(text)

    def write(self, name: str, text: str) -> None:
        """A file of the person who uses the change."""
        (self.folder / name).write_text(text)

    def harvest(self, *words: str, code: int = 0) -> str:
        """What `harvest …` prints on standard output, or where it fails as expected on standard error."""
        if not self.held:
            self.hold_to_the_row()
            self.held = True
        done = subprocess.run(
            [sys.executable, "-m", "harvest", *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.tree), "COLUMNS": "120"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code else done.stdout

    def test(self, *tests: str) -> None:
        """Run tests of the copy, which must not notice that there is one more of a kind."""
        for name in ("docs", "tests"):
            shutil.copytree(ROOT / name, self.tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        for file in (*ROOT.glob("*.toml"), *ROOT.glob("*.md")):
            shutil.copy(file, self.tree)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests],
            cwd=self.tree,
            env={**os.environ, "PYTHONPATH": str(self.tree)},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def hold_to_the_row(self) -> None:
        models, edits = TABLE[self.change]
        before, now = (
            {str(path.relative_to(tree)): path.read_bytes() for path in sources(tree)} for tree in (ROOT, self.tree)
        )
        added, changed = now.keys() - before.keys(), {name for name in before if now.get(name) != before[name]}
        assert changed == set(edits)
        parents = {Path(name).parent for name in added}
        if any(Path(model).name == "__init__.py" for model in models):
            (folder,) = parents
            assert not (ROOT / folder).exists()
            assert [folder.parent] == [Path(model).parents[1] for model in models]
        else:
            assert parents == {Path(model).parent for model in models}
            assert len(added) == len(models)


def sources(tree: Path) -> Iterator[Path]:
    """The files of the packages, but for what Python has compiled."""
    for package in PACKAGES:
        for path in (tree / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


Build: TypeAlias = Callable[[str], House]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages with what Python compiles of them for these commands; it holds for copies of the copy."""
    tree = tmp_path_factory.mktemp("compiled")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": ""}
    modules = ", ".join(f"harvest.cli.{name}" for name in ("run", "score", "check", "tree"))
    drivers = "harvest.drivers.python, harvest.drivers.browser"
    warm = [sys.executable, "-c", f"import {modules}, {drivers}"]
    subprocess.run(warm, cwd=tree, env=environment, check=True, timeout=300)
    return tree


@pytest.fixture
def build(compiled: Path, tmp_path: Path) -> Build:
    """Makes a copy for the change of a row, with an audit beside it."""

    def copied(change: str) -> House:
        house = House(change, tmp_path / "tree", tmp_path)
        shutil.copytree(compiled, house.tree)
        for name, text in (("bot.py", BOT), ("audit.yaml", AUDIT), ("protocol.yaml", PROTOCOL)):
            house.write(name, text)
        return house

    return copied


BOT = """\
def answer(text):
    return "Back to the Future https://www.imdb.com/title/tt0088763/ " + text
"""
PROTOCOL = """\
format: harvest-protocol/1
name: once
version: 1
turn_limit: 4
start: ask
states:
  ask:
    say: "Please: {{ topic.request }}"
    edges: [{otherwise: true, label: o, stop: completed}]
"""
AUDIT = """\
format: harvest-audit/1
name: small
topics: fairweb-45
only: [M001, M002]
protocol: protocol.yaml
trials: 2
systems: [{name: A, driver: python, options: {function: "bot.py:answer"}}]
"""


def test_a_measure_of_a_conversation(build: Build) -> None:
    house = build("a measure of a conversation")
    house.add(
        "politeness.py",
        '''\
"""Politeness: how many answers say please."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scoring.figure import Figure
from scoring.measure import Declaration, Measure

if TYPE_CHECKING:
    from scoring.material import Material

__all__ = ["POLITENESS"]


def _score(material: Material, measure: Measure) -> Figure:
    replies = [turn.reply.answer.text for turn in material.conversation.turns if turn.reply is not None]
    polite = ["Please" in text for text in replies]
    return Figure(measure.name, sum(polite) / len(polite) if polite else float("nan"), len(polite))


POLITENESS = Declaration(
    name="Politeness",
    sentence="How many of the answers say please.",
    of="conversation",
    formula="answers with please / answers",
    source="this file",
    undefined="no answer",
    example="Politeness",
    n="answers",
    score=_score,
)
''',
    )
    house.edit(
        ("OF_CONVERSATIONS = (\n", "OF_CONVERSATIONS = (\n    POLITENESS,\n"),
        (
            "from scoring.measures.relevance import",
            "from scoring.measures.politeness import POLITENESS\nfrom scoring.measures.relevance import",
        ),
    )
    house.write("audit.yaml", AUDIT + "thresholds: [{measure: CVaR(Politeness), at_least: 1, judge: estimate}]\n")
    house.harvest("run", "audit.yaml", "--out", "run")
    scored = json.loads(house.harvest("score", "run", "--measure", "Politeness", "--json"))
    assert {(row["measure"], row["value"]) for row in scored["rows"]} == {("Politeness", 1.0)}


@pytest.mark.soak
def test_a_measure_over_many_conversations(build: Build) -> None:
    house = build("a measure over many conversations")
    house.add(
        "best.py",
        '''\
"""best: the best conversation that was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from scoring.pool import Pool, Reading, parts
from scoring.forms.worst import MINIMUM
from scoring.measure import Declaration, Measure
from scoring.inference.interval import no_interval

__all__ = ["BEST"]


def _rows(measure: Measure, pool: Pool) -> Iterator[Reading]:
    cells = pool.scores.values(str(measure.base))
    for part in parts(pool.scores.topics):
        values = cells[list(part.rows)]
        none = no_interval("the most that was seen; another trial can be better")
        yield Reading(part, float(np.nanmax(values)), int(np.isfinite(values).sum()), none, len(part.rows))


BEST = Declaration(
    name="best",
    sentence="The best conversation that was seen.",
    of="measure",
    formula="greatest value of all conversations",
    source="maximum",
    undefined="no conversation has a value of M",
    example="best(R)",
    n="conversations",
    written=("best(R)",),
    arguments=(1, 1),
    read=MINIMUM.read,
    rows=_rows,
)
''',
    )
    house.edit(
        ("    MINIMUM,\n", "    MINIMUM,\n    BEST,\n"),
        ("from scoring.forms.chains", "from scoring.forms.best import BEST\nfrom scoring.forms.chains"),
    )
    about_films(house)
    house.harvest("run", "audit.yaml", "--out", "run")
    scored = json.loads(house.harvest("score", "run", "--measure", "best(R)", "--json"))
    assert {(row["value"] > 0, row["n"]) for row in scored["rows"] if row["measure"] == "best(R)"} == {(True, 2)}


@pytest.mark.soak
def test_a_setting_of_score(build: Build) -> None:
    house = build("a setting of `score`")
    house.edit(
        (
            "    level: float = setting(0.95",
            '    tempo: int = setting(3, Number(1, 9, whole=True), "Words a second")\n    level: float = setting(0.95',
        )
    )
    house.write("audit.yaml", AUDIT + "scoring: {tempo: 5}\n")
    played = json.loads(house.harvest("run", "audit.yaml", "--out", "run", "--json"))
    assert played["settings"]["tempo"] == 5
    assert json.loads(house.harvest("score", "run", "--json", "--tempo", "7"))["settings"]["tempo"] == 7
    house.write("audit.yaml", AUDIT + "scoring: {tempo: 10}\n")
    refused = house.harvest("check", "audit.yaml", code=2)
    assert "audit.yaml:8:18: tempo: must be at most 9 (here: 10)" in refused


@pytest.mark.soak
def test_a_driver(build: Build, tmp_path: Path) -> None:
    house = build("a driver")
    house.add(
        "capitals.py",
        '''\
"""Answers in capitals."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from harvest.systems.driver import Capabilities, Opening, Reply, Surroundings
from protocols.answer import Answer
from recordings.conversations.conversation import SystemTurn
from topics.document import StrictModel


class Options(StrictModel):
    mark: str = Field("!", max_length=3, description="what each answer ends with")


@dataclass
class Session:
    mark: str

    async def say(self, text: str) -> Reply:
        return Reply(SystemTurn(Answer(text.upper() + self.mark)))

    async def close(self) -> None:
        """Nothing is held."""


@dataclass
class Shouting:
    mark: str
    capabilities: Capabilities = Capabilities(stateful=True)

    async def open(self, opening: Opening) -> Session:
        return Session(self.mark)

    async def close(self) -> None:
        """Nothing is held."""


def build(options: Options, surroundings: Surroundings) -> Shouting:
    return Shouting(options.mark)
''',
    )
    house.edit(('        "replay": "', '        "capitals": "harvest.drivers.capitals",\n        "replay": "'))
    old = 'driver: python, options: {function: "bot.py:answer"}'
    house.write("audit.yaml", AUDIT.replace(old, 'driver: capitals, options: {mark: "?"}'))
    house.harvest("run", "audit.yaml", "--out", "run")
    said = [
        turn.reply.answer.text
        for one in read(tmp_path / "run").conversations
        for turn in one.turns
        if turn.reply is not None
    ]
    assert len(said) == 4
    assert all(text.startswith("PLEASE") and text.endswith("?") for text in said)
    house.test(
        "tests/docs/test_drivers.py",
        "tests/docs/test_extending.py",
        "tests/harvest/audits/test_exposures.py",
        "tests/harvest/audits/test_fingerprints.py",
        "tests/harvest/cli/test_init.py",
        "tests/harvest/drivers/test_options.py",
        "tests/harvest/drivers/test_registry.py",
        "tests/harvest/systems/test_conformance.py::test_the_documented_drivers_pass_these_tests",
        "tests/harvest/test_plug_ins.py::test_check_lists_the_code_of_other_packages_that_an_audit_uses",
    )


@pytest.mark.soak
def test_a_kind_of_rule(build: Build, tmp_path: Path) -> None:
    house = build("a kind of rule")
    house.add(
        "shouted.py",
        '''\
"""`shouted`: the answer is all in capitals."""

from __future__ import annotations

from typing import ClassVar

from protocols.rules.rule import Sight, Verdict, span
from topics.document import StrictModel
from topics.topic import Topic

__all__ = ["Shouted"]


class Shouted(StrictModel):
    version: ClassVar[str] = "shouted/1"
    needs: ClassVar[frozenset[str]] = frozenset()

    def judge(self, sight: Sight) -> Verdict:
        text = sight.answer.text
        return Verdict(text == text.upper(), (span(text, 0, min(len(text), 20), "the beginning"),))

    def unfit(self, topic: Topic) -> str | None:
        return None
''',
    )
    house.edit(
        (
            "from protocols.rules.format import",
            "from protocols.rules.shouted import Shouted\nfrom protocols.rules.format import",
        ),
        ('    "urls": Urls,\n', '    "shouted": Shouted,\n    "urls": Urls,\n'),
    )
    edges = "edges: [{if: loud, label: o, stop: completed}, {otherwise: true, label: x, stop: completed}]"
    protocol = PROTOCOL.replace("edges: [{otherwise: true, label: o, stop: completed}]", edges)
    house.write("protocol.yaml", protocol.replace("start: ask", "rules: {loud: {shouted: {}}}\nstart: ask"))
    house.harvest("run", "audit.yaml", "--out", "run")
    assert {turn.label for one in read(tmp_path / "run").conversations for turn in one.turns} == {"x"}


@pytest.mark.soak
def test_a_simulated_user(build: Build, tmp_path: Path) -> None:
    house = build("a simulated user")
    house.add(
        "impatient.py",
        '''\
"""The impatient user: asks on a fixed number of times, and leaves."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from protocols.route import Say, Stop
from simulators.memory import memory_kind, recall
from simulators.reasons import LEFT
from simulators.user import Chance, Observation, Scenario, State
from simulators.user import Streams
from topics.document import StrictModel


class Options(StrictModel):
    turns: int = Field(2, ge=1, le=50, description="user turns")


@memory_kind("impatient")
@dataclass(frozen=True, slots=True)
class ImpatientMemory:
    need: str
    turn: int = 0
    over: bool = False


@dataclass(frozen=True)
class ImpatientUser:
    turns: int
    name: str = "impatient"

    def start(self, scenario: Scenario, rng: Streams) -> State:
        return ImpatientMemory(scenario.topic.request)

    def respond(self, state: State, observation: Observation | None, rng: Streams) -> tuple[Say | Stop, State]:
        (only,) = self.distribution(state, observation)
        return only.action, only.state

    def distribution(self, state: State, observation: Observation | None) -> tuple[Chance, ...]:
        memory = recall(state, ImpatientMemory)
        if memory.over or (observation is None) != (memory.turn == 0):
            raise ValueError("out of turn")
        turn = memory.turn + 1
        if turn > self.turns:
            left = ImpatientMemory(memory.need, memory.turn, True)
            return (Chance(1.0, Stop("user-stopped", LEFT), left),)
        said = Say(memory.need, "ask", 1) if turn == 1 else Say("Well?", "urge", turn)
        return (Chance(1.0, said, ImpatientMemory(memory.need, turn)),)


def build(options: Options) -> ImpatientUser:
    return ImpatientUser(options.turns)
''',
    )
    house.edit(('        "llm": "', '        "impatient": "simulators.impatient:build",\n        "llm": "'))
    house.write("protocol.yaml", played_by("{simulator: impatient, turns: 3}"))
    house.harvest("run", "audit.yaml", "--out", "run")
    for one in read(tmp_path / "run").conversations:
        assert [turn.act for turn in one.turns] == ["ask", "urge", "urge"]
        assert one.outcome is not None
        assert (one.outcome.kind, one.outcome.reason) == ("user-stopped", "left")


def played_by(user: str) -> str:
    """A protocol that leaves everything to a simulated user."""
    states = "states: {talk: {user: visitor, edges: [{otherwise: true, label: o, go: talk}]}}"
    return (
        f"format: harvest-protocol/1\nname: talk\nversion: 1\nturn_limit: 8\nusers: {{visitor: {user}}}\n"
        f"start: talk\n{states}\n"
    )


@pytest.mark.soak
def test_a_stop_model(build: Build, tmp_path: Path) -> None:
    house = build("a stop model")
    house.add(
        "bored.py",
        '''\
"""Leaves after so many turns, whatever was answered."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from simulators.reasons import PATIENCE
from simulators.user import Observation
from simulators.stopping.model import Experience
from simulators.stopping.model import Exit
from topics.document import StrictModel

__all__ = ["Bored"]


class Bored(StrictModel):
    model: Literal["bored"] = "bored"
    after: int = Field(2, ge=1, le=100, description="user turns")

    def hazard(self, memory: Experience, observation: Observation) -> float:
        return float(memory.turn >= self.after)

    def exits(self, memory: Experience, observation: Observation) -> tuple[Exit, ...]:
        return ((PATIENCE, self.hazard(memory, observation)),)
''',
    )
    house.edit(
        (
            "from simulators.stopping.hazard",
            "from simulators.stopping.bored import Bored\nfrom simulators.stopping.hazard",
        ),
        ("    Geometric | TwoAlpha", "    Bored | Geometric | TwoAlpha"),
    )
    house.write("protocol.yaml", played_by("{simulator: markov, stop: {model: bored, after: 3}}"))
    house.harvest("run", "audit.yaml", "--out", "run")
    ends = [(len(one.turns), one.outcome and one.outcome.reason) for one in read(tmp_path / "run").conversations]
    assert ends == [(3, "patience")] * 4


def test_an_import_format(build: Build) -> None:
    house = build("an import format")
    house.edit(
        (
            "IMPORTERS: Mapping[str, Importer] = MappingProxyType(\n    {",
            '''def read_pairs(request: Request) -> Found:
    """A line of the user, a line of the system, and so on; a file for each conversation."""
    from protocols.answer import Answer
    from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey, Turn

    found = []
    for trial, file in enumerate(request.files, request.trial):
        lines = file.read_text().splitlines()
        turns = tuple(
            Turn(number, "", said, SystemTurn(Answer.of(answered)))
            for number, (said, answered) in enumerate(zip(lines[::2], lines[1::2]), 1)
        )
        key = TrialKey(request.system_of(file), request.topic or "T1", trial)
        found.append(Conversation(key, f"pairs-{trial}", 1, turns, Outcome("completed")))
    return Found(tuple(found), make_topics(found))


IMPORTERS: Mapping[str, Importer] = MappingProxyType(
    {"pairs": Importer(read_pairs), ''',
        )
    )
    house.write("one.txt", "Hello\nGood day\nBye\nSee you\n")
    house.harvest("data", "import", "--format", "pairs", "one.txt", "--out", "run")
    shown = house.harvest("show", "run", "--system", "one", "--topic", "T1", "--trial", "1")
    assert all(words in shown for words in ("Hello", "Good day", "Bye", "See you"))


@pytest.mark.soak
def test_an_attribute_set(build: Build) -> None:
    house = build("an attribute set")
    about_films(house)
    house.harvest("run", "audit.yaml", "--out", "run")
    scored = json.loads(house.harvest("score", "run", "--measure", "GF(LENGTH)", "--json"))
    (value,) = {row["value"] for row in scored["rows"] if row["topic"] is None and "by=" not in row["measure"]}
    assert 0 < value < 1


def about_films(house: House) -> None:
    """An audit with a topic set and gold of its own, in which films are grouped by their length."""
    house.write(
        "films.yaml",
        """\
format: harvest-topics/1
name: films
attributes:
  LENGTH: {scale: ordinal, of: minutes, bounds: [90, 120], gold: uniform}
types:
  movie: {asks_for: "movie title, IMDb URL", url: imdb-title, attributes: [LENGTH]}
topics:
  - {id: M1, type: movie, request: Films about time travel}
""",
    )
    house.write("gold.csv", "topic,entity,grade,LENGTH\nM1,tt0088763,L2,116\n")
    audit = AUDIT.replace("topics: fairweb-45\nonly: [M001, M002]", "topics: films.yaml\ngold: gold.csv")
    house.write("audit.yaml", audit)


PAGE = """<!doctype html><title>chat</title><main id=log></main>
<form id=form><textarea id=box placeholder="Your message"></textarea><button>Send</button></form>
<script>
const add = (name, text) => {
  const made = document.createElement("div");
  made.className = name;
  made.textContent = text;
  document.getElementById("log").append(made);
  return made;
};
document.getElementById("form").onsubmit = (event) => {
  event.preventDefault();
  const said = document.getElementById("box").value;
  document.getElementById("box").value = "";
  add("user", said);
  setTimeout(() => {
    const answer = add("bot", "One");
    answer.setAttribute("ATTRIBUTE", "true");
    setTimeout(() => { answer.textContent += " two"; }, 300);
    setTimeout(() => { answer.textContent += " three."; }, 600);
    setTimeout(() => { answer.setAttribute("ATTRIBUTE", "false"); }, 700);
  }, 200);
};
</script>
"""


class Pages(http.server.BaseHTTPRequestHandler):
    """`/NAME` is a chat that says with the attribute NAME that it is still writing."""

    def do_GET(self) -> None:
        body = PAGE.replace("ATTRIBUTE", self.path.strip("/")).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as its base calls it
        """Nothing."""


@pytest.fixture
def pages() -> Iterator[str]:
    """The address of the server."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.soak
def test_a_sign_that_a_page_is_still_writing(build: Build, tmp_path: Path, pages: str) -> None:
    house = build("a sign that a page is still writing")
    house.edit(
        (
            '    BusySign("site", "trusted"),\n',
            '    BusySign("site", "trusted"),\n    BusySign("live", "trusted", css="[data-live=true]"),\n',
        )
    )
    systems = "".join(
        f'  - {{name: {name}, driver: browser, options: {{url: "{pages}/{name}", evidence: []}}}}\n'
        for name in ("data-live", "data-other")
    )
    audit = AUDIT.replace("only: [M001, M002]", "only: [M001]").replace("trials: 2", "trials: 1")
    house.write("audit.yaml", audit[: audit.index("systems:")] + "systems:\n" + systems)
    house.harvest("run", "audit.yaml", "--out", "run")
    finished = {
        one.key.system: (turn.reply.answer.text, turn.reply.finish)
        for one in read(tmp_path / "run").conversations
        for turn in one.turns
        if turn.reply is not None
    }
    assert finished == {"data-live": ("One two three.", "signs"), "data-other": ("One two three.", "quiet")}


@pytest.mark.soak
def test_a_label_besides_o_and_x(build: Build, tmp_path: Path) -> None:
    house = build("a label besides `o` and `x`")
    house.edit(
        ('Label = Literal["o", "x"]', 'Label = Literal["o", "x", "c"]'),
        ('"x": "not useful"}', '"x": "not useful", "c": "asks back"}'),
    )
    house.write("protocol.yaml", PROTOCOL.replace("label: o", "label: c"))
    played = json.loads(house.harvest("run", "audit.yaml", "--out", "run", "--json"))
    usefulness = [(row["value"], row["n"]) for row in played["rows"] if row["measure"] == "ave%useful"]
    assert set(usefulness) == {(None, 0)}  # it says nothing of usefulness
    assert {turn.label for one in read(tmp_path / "run").conversations for turn in one.turns} == {"c"}
    assert "S1 c" in house.harvest("show", "run", "--system", "A", "--topic", "M001", "--trial", "1")
    tree = house.harvest("tree", "run", "--system", "A", "--topic", "M001", "--merge", "label", "--format", "text")
    assert re.search(r"\bc\b", tree)
    house.write("protocol.yaml", PROTOCOL.replace("label: o", "label: z"))
    assert "allowed: 'o', 'x' or 'c'" in house.harvest("check", "audit.yaml", code=2)


def test_a_command(build: Build) -> None:
    house = build("a command")
    house.add(
        "hello.py",
        '''\
"""`harvest hello`: says hello."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command()
def command() -> None:
    """Say hello."""
    click.echo("hello")
''',
    )
    house.edit(
        (
            '        "doctor": Entry(',
            '        "hello": Entry("Say hello.", "harvest.cli.hello"),\n        "doctor": Entry(',
        )
    )
    assert house.harvest("hello") == "hello\n"
    assert "Say hello." in house.harvest("--help")


STUDY = '''\
"""How long conversations are."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from harvest.studies.runs.sources import sources
from harvest.tables.long_rows import LongRow
from harvest.tables.study_form import StudyForm
from recordings.log.run_folder import Run


def study_form(runs: Sequence[Run]) -> StudyForm:
    """Count the turns of conversations."""
    return StudyForm(
        head={"format": "harvest-lengths/1"},
        rows=lambda: _rows(runs),
        tables=lambda _: (Text(f"{row.run}: {row.estimate:.0f} turns") for row in _rows(runs)),
        sources=sources(runs),
        chart=lambda: "<svg xmlns='http://www.w3.org/2000/svg'/>",
    )


def _rows(runs: Sequence[Run]) -> Iterator[LongRow]:
    for run in runs:
        turns = sum(len(one.turns) for one in run.finished)
        yield LongRow(study="lengths", run=run.path.name, figure="turns", unit="count", estimate=float(turns))
'''


def test_a_study(build: Build) -> None:
    house = build("a study")
    folder = house.tree / "harvest/studies/lengths"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""How long conversations are."""\n')
    (folder / "lengths.py").write_text(STUDY)
    house.edit(
        (
            '        "doctor": Entry(',
            '        "lengths": Entry("Count the turns of conversations.", "harvest.studies.lengths.lengths"),\n'
            '        "doctor": Entry(',
        )
    )
    house.harvest("run", "audit.yaml", "--out", "run")
    document = json.loads(house.harvest("lengths", "run", "--json", "--figure", "lengths.svg"))
    ((row,), (source,)) = (document["long"], document["sources"])
    assert (document["format"], row["figure"], source["run"]) == ("harvest-lengths/1", "turns", "run")
    assert house.harvest("lengths", "run") == f"run: {row['estimate']:.0f} turns\n"
    assert house.harvest("lengths", "run", "--csv").startswith("study,run,figure")
    assert "tabular" in house.harvest("lengths", "run", "--latex")
    assert (house.folder / "lengths.svg").read_text().startswith("<svg")
    assert "Count the turns of conversations." in house.harvest("--help")


@pytest.mark.soak
def test_a_figure_of_a_study(build: Build) -> None:
    house = build("a figure of a study")
    house.edit(
        (
            '    yield _component_row(counted, "ICC(1)", "ratio", split.icc, level)\n',
            '    yield _component_row(counted, "ICC(1)", "ratio", split.icc, level)\n'
            '    yield replace(counted, figure="trials counted", unit="count", estimate=float(split.trials))\n',
        )
    )
    house.harvest("run", "audit.yaml", "--out", "run")
    document = json.loads(house.harvest("variance", "run", "--json"))
    counted = [row for row in document["long"] if row["figure"] == "trials counted"]
    assert counted
    assert all(row["estimate"] == row["trials"] for row in counted)
    assert house.harvest("variance", "run", "--csv").count(",trials counted,") == len(counted)
    assert "trials counted" in house.harvest("variance", "run", "--latex")


@pytest.mark.soak
def test_a_form_of_output_of_studies(build: Build) -> None:
    house = build("a form of output of studies")
    house.edit(
        (
            '        "csv": Form(',
            '        "names": Form("The names of all figures.", lambda study: "".join(\n'
            '            f"{name}\\n" for name in dict.fromkeys(row.figure for row in study.rows())\n'
            "        )),\n"
            '        "csv": Form(',
        )
    )
    house.harvest("run", "audit.yaml", "--out", "run")
    assert "The names of all figures." in house.harvest("compare", "-hh")
    assert "ICC(1)\n" in house.harvest("variance", "run", "--names")
    said = house.harvest("compare", "run", "--names", "--csv", code=2)
    assert "--json, --names, --csv, --latex and --long cannot be used together" in said


@pytest.mark.soak
def test_a_form_of_verdicts_for_machines(build: Build) -> None:
    house = build("a form of verdicts for machines")
    house.add(
        "word.py",
        '''\
"""One word in a file: the verdict."""

from __future__ import annotations

from harvest.notices.bulletin import Bulletin

__all__ = ["is_word", "word"]


def word(bulletin: Bulletin) -> bytes:
    """The whole file, in UTF-8."""
    return f"{bulletin.verdict}\\n".encode()


def is_word(data: bytes) -> bool:
    """Whether this is such a file, so that it may be replaced."""
    return data in (b"kept\\n", b"missed\\n")
''',
    )
    house.edit(
        (
            "from harvest.notices.prometheus import is_metrics, metrics\n",
            "from harvest.notices.prometheus import is_metrics, metrics\n"
            "from harvest.notices.word import is_word, word\n",
        ),
        (
            '    "junit": _Form(',
            '    "word": _Form(lambda told, _: word(told), is_word, "Write the verdict."),\n    "junit": _Form(',
        ),
    )
    house.harvest("run", "audit.yaml", "--out", "run", "--word", "word.txt")
    assert (house.folder / "word.txt").read_text() == "kept\n"


@pytest.mark.soak
def test_a_rule_that_scores_nuggets(build: Build) -> None:
    house = build("a rule that scores nuggets")
    house.add(
        "politeness.py",
        '''\
"""`politeness`: 1 where a turn says please."""

from collections.abc import Iterator

from scoring.swan.rules.rule import Rule, Sight, Verdict


def judge(sight: Sight) -> Iterator[Verdict]:
    """Whether each turn says please."""
    for item in sight.items:
        yield Verdict(item, float("Please" in sight.text(item)))


POLITENESS = Rule(
    name="politeness", version="1", level="turn", limits="counts a word", silence="no turn", judge=judge
)
''',
    )
    house.edit(
        (
            "from scoring.swan.rules.recovery",
            "from scoring.swan.rules.politeness import POLITENESS\nfrom scoring.swan.rules.recovery",
        ),
        ("            LABEL,", "            POLITENESS,\n            LABEL,"),
    )
    shipped = (ROOT / "scoring/swan/sakai-2023.yaml").read_text()
    house.write("own.yaml", shipped.replace("brevity(words=250)", "politeness"))
    house.harvest("run", "audit.yaml", "--out", "run")
    house.harvest("judge", "rules", "run", "--schema", "own.yaml")
    scored = json.loads(
        house.harvest("score", "run", "--measure", "WAN(Conciseness)", "--schema", "own.yaml", "--json")
    )
    assert {row["value"] for row in scored["rows"] if row["topic"] is None} == {1.0}


def test_every_row_of_the_table_has_a_test_that_makes_the_change() -> None:
    names = {re.sub(r"\W+", "_", change.replace("`", "")).strip("_").lower() for change in TABLE.keys() - DATA_ONLY}
    tests = {name.removeprefix("test_") for name in globals() if name.startswith("test_a")}
    assert names == tests
