"""A run folder that somebody sends may hold anything: each command that reads it says what is wrong, and reads nothing
that lies outside."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from harvest.cli import main
from harvest.judging.replies.asking import EXTRACTION_REPLIES, JUDGE_REPLIES, KeptReplies
from recordings.files.errors import RunError
from recordings.files.evidence import keep_exhibit, read_exhibit
from recordings.judged.decision_book import DecisionBook
from recordings.judged.judgments import Layer, put_layer, write_layer
from recordings.log.run_folder import read
from recordings.merging.merge import merge
from recordings.secrets.redaction import Redactor
from topics.regular_file import read_inside

OUTSIDE = "what lies outside of the run"
AUDIT = """\
format: harvest-audit/1
name: traps
topics: fairweb-45
only: [M001]
protocol: fairweb-two-round
trials: 1
systems:
  - name: A
    driver: parrot
"""
ENDPOINTS = """\
format: harvest-endpoints/1
endpoints:
  nuggets: {base_url: "http://127.0.0.1:9/v1", model: none}
"""
MESSAGES = """\
{"messages": [{"role": "user", "content": "Hello"}], "metadata": {"system": "A", "topic": "M001"}}
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("played")
    (folder / "audit.yaml").write_text(AUDIT)
    with pytest.raises(SystemExit):
        main(["run", str(folder / "audit.yaml"), "--out", str(folder / "run")])
    write_layer(folder / "run", Layer("rule", "spelling", "2"))
    for page in (b"page 1", b"page 2"):
        keep_exhibit(folder / "run", page, "text/html")
    return folder / "run"


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    shutil.copytree(played, tmp_path / "run")
    (tmp_path / "outside.jsonl").write_text(OUTSIDE)
    return tmp_path / "run"


def _socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the path of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    finally:
        os.chdir(before)


TRAPS: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (lambda path: os.mkfifo(path), "this is a pipe, not a file"),
    "link": (lambda path: path.symlink_to(path.parents[_depth(path)] / "outside.jsonl"), "this is a link"),
    "link to a device": (lambda path: path.symlink_to("/dev/zero"), "this is a link"),
    "link to nothing": (lambda path: path.symlink_to("/nowhere/at/all"), "this is a link"),
    "link to itself": (lambda path: path.symlink_to(path.name), "this is a link"),
    "socket": (_socket, "this is a socket, not a file"),
    "folder": (lambda path: path.mkdir(), "this is a folder, not a file"),
}


def _depth(path: Path) -> int:
    """How far above `path` the folder is in which the run lies."""
    return path.parts[::-1].index("run")


READERS: dict[str, tuple[str, ...]] = {
    "score": ("score", "RUN", "--replications", "100"),
    "show": ("show", "RUN"),
    "tree": ("tree", "RUN"),
    "export": ("data", "export", "RUN", "--format", "gfrc", "--out", "OUT"),
    "merge": ("data", "merge", "RUN", "--out", "OUT"),
    "read again": ("pages", "read-again", "RUN"),
    "relabel": ("relabel", "RUN"),
    "sheet": ("judge", "sheet", "RUN", "--export", "SHEET"),
    "pairs": ("judge", "pairs", "RUN", "--out", "SHEET"),
    "serve": ("judge", "page", "RUN", "--port", "0", "--author", "a", "--criterion", "Fluency"),
    "run": ("run", "AUDIT", "--out", "RUN"),
    "salvage": ("data", "merge", "RUN", "--salvage", "--out", "OUT"),
    "tree of scores": ("tree", "RUN", "--score", "R"),
    "check": ("check", "AUDIT", "--out", "RUN"),
    "check a replay": ("check", "REPLAY"),
    "run a replay": ("run", "REPLAY", "--out", "OUT"),
    "run a replay of branches": ("run", "BRANCHES", "--out", "OUT"),
    "chat": ("users", "chat", "AUDIT", "--topic", "M001", "--out", "RUN"),
    "extract": ("judge", "extract", "RUN", "--with", "ENDPOINTS"),
    "users fit": ("users", "fit", "RUN", "--out", "OUT"),
    "users check": ("users", "check", "RUN", "RUN"),
    "users groups": ("users", "groups", "RUN"),
    "variance": ("variance", "RUN"),
    "users findings": ("users", "findings", "RUN"),
    "report": ("report", "RUN", "--out", "PAGE"),
    "import into it": ("data", "import", "MESSAGES", "--format", "messages", "--out", "RUN"),
}


@pytest.fixture
def said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def of(*words: str) -> str:
        replay = AUDIT.replace("driver: parrot", "driver: replay\n    options: {run: run}")
        texts = {
            "audit.yaml": AUDIT,
            "replay.yaml": replay,
            "branches.yaml": replay.replace("run: run", "run: run, play: branches"),
            "endpoints.yaml": ENDPOINTS,
            "messages.jsonl": MESSAGES,
        }
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        places = {
            "RUN": tmp_path / "run",
            "OUT": tmp_path / "out",
            "SHEET": tmp_path / "sheet.csv",
            "PAGE": tmp_path / "page.html",
            **{name.partition(".")[0].upper(): tmp_path / name for name in texts},
        }
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(places.get(word, word)) for word in words])
        assert ended.value.code == 2
        told = capsys.readouterr()
        assert OUTSIDE not in told.out + told.err
        return told.err

    return of


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("command", READERS)
def test_a_trap_among_the_files_of_events_is_one_message(
    command: str, trap: str, run: Path, said: Callable[..., str]
) -> None:
    lay, words = TRAPS[trap]
    lay(run / "trials-000009.jsonl")
    message = said(*READERS[command])
    assert message.count("trials-000009.jsonl") == 1
    assert words in message
    assert "Traceback" not in message
    assert not (run.parent / "out").exists()
    assert not (run.parent / "page.html").exists()


@pytest.mark.parametrize("trap", ["pipe", "link", "link to a device", "socket"])
@pytest.mark.parametrize("command", ["score", "merge", "run"])
def test_a_trap_in_place_of_the_header_is_one_message(
    command: str, trap: str, run: Path, said: Callable[..., str]
) -> None:
    (run / "run.json").unlink()
    lay, words = TRAPS[trap]
    lay(run / "run.json")
    assert words in said(*READERS[command])


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("command", ["score", "merge", "sheet", "report"])
def test_a_trap_among_the_judgments_is_one_message(
    command: str, trap: str, run: Path, said: Callable[..., str]
) -> None:
    lay, words = TRAPS[trap]
    lay(run / "judgments" / "human-a-1.jsonl")
    message = said(*READERS[command])
    assert message.count("human-a-1.jsonl") == 1
    assert words in message
    assert not (run.parent / "out").exists()


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("command", ["score", "merge", "sheet", "serve"])
def test_a_trap_among_the_decisions_is_one_message(
    command: str, trap: str, run: Path, said: Callable[..., str]
) -> None:
    lay, words = TRAPS[trap]
    (run / "decisions").mkdir()
    lay(run / "decisions" / "000001.jsonl")
    message = said(*READERS[command])
    assert message.count("000001.jsonl") == 1
    assert words in message
    assert not (run.parent / "out").exists()


def test_merging_copies_only_exhibits_that_are_what_their_names_say(run: Path) -> None:
    kept = sorted(file.relative_to(run).as_posix() for file in (run / "evidence").rglob("*") if file.is_file())
    assert kept
    (run / kept[0]).write_bytes(b"damaged")
    folder = run / "evidence" / "zz"
    folder.mkdir()
    faults = {str(run / kept[0]): "its content does not match its name"}
    for trap, (lay, words) in TRAPS.items():
        lay(folder / f"{trap.replace(' ', '-')}.html")
        faults[str(folder / f"{trap.replace(' ', '-')}.html")] = words
    outside = run.parent / "outside"
    (outside / "ab").mkdir(parents=True)
    (outside / "ab" / "abc.html").write_text(OUTSIDE)
    (run / "evidence" / "yy").symlink_to(outside / "ab")
    faults[str(run / "evidence" / "yy")] = "this is a link"
    (run / "extraction" / "model").mkdir(parents=True)
    for trap in ("pipe", "link", "link to a device", "socket", "folder"):
        file = run / "extraction" / "model" / f"{trap.replace(' ', '-')}.jsonl"
        TRAPS[trap][0](file)
        faults[str(file)] = TRAPS[trap][1]
    (run / "extraction" / "other").symlink_to(outside / "ab")
    faults[str(run / "extraction" / "other")] = "this is a link"
    done = merge([run], run.parent / "both")
    assert len(done.damage) == len(faults)
    for path, words in faults.items():
        (told,) = (one for one in done.damage if one.startswith(f"{path}: "))
        assert words in told
    copied = [file for file in (run.parent / "both").rglob("*") if file.is_file()]
    assert (
        sorted(file.relative_to(run.parent / "both").as_posix() for file in copied if "evidence" in file.parts)
        == (kept[1:])
    )
    assert not any(OUTSIDE.encode() in file.read_bytes() for file in copied)


@pytest.mark.parametrize("part", ["evidence", "judgments", "extraction", "decisions"])
def test_a_link_in_place_of_a_part_of_the_run_is_not_followed(part: str, run: Path, tmp_path: Path) -> None:
    shutil.rmtree(run / part, ignore_errors=True)
    (tmp_path / "elsewhere" / "ab").mkdir(parents=True)
    (tmp_path / "elsewhere" / "ab" / "human-x-1.jsonl").write_text(OUTSIDE)
    (tmp_path / "elsewhere" / "human-x-1.jsonl").write_text(OUTSIDE)
    (run / part).symlink_to(tmp_path / "elsewhere")
    if part in ("judgments", "decisions"):
        with pytest.raises(RunError, match="this is a link"):
            merge([run], tmp_path / "both")
        assert not (tmp_path / "both").exists()
        if part == "decisions":
            with pytest.raises(RunError, match="this is a link"):
                DecisionBook.open(run)
        assert not (tmp_path / "elsewhere" / "lock").exists()
        return
    done = merge([run], tmp_path / "both")
    assert [one for one in done.damage if one.startswith(f"{run / part}: ") and "this is a link" in one]
    assert not any(OUTSIDE in file.read_text() for file in (tmp_path / "both").rglob("*") if file.is_file())


@pytest.mark.parametrize("folder", ["judgments", "decisions", "extraction", "extraction/none-1", "judge"])
def test_nothing_is_written_through_a_link(run: Path, tmp_path: Path, folder: str) -> None:
    kind = EXTRACTION_REPLIES if folder.startswith("extraction") else JUDGE_REPLIES
    writers: dict[str, Callable[[], object]] = {
        "judgments": lambda: put_layer(run, b"{}", "human", "anna"),
        "decisions": lambda: DecisionBook.open(run),
    }
    shutil.rmtree(run / folder, ignore_errors=True)
    (run / folder).parent.mkdir(exist_ok=True)
    (tmp_path / "disk").mkdir()
    (run / folder).symlink_to(tmp_path / "disk")
    with pytest.raises(RunError, match="this is a link") as caught:
        writers.get(folder, lambda: KeptReplies(run, kind, "none", "1", Redactor()))()
    assert f"{run / folder}: " in str(caught.value)
    assert "move the whole run folder" in str(caught.value)
    assert not list((tmp_path / "disk").iterdir())


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_among_the_replies_of_a_model_is_one_message(trap: str, run: Path) -> None:
    lay, words = TRAPS[trap]
    (run / "extraction" / "none-1").mkdir(parents=True)
    lay(run / "extraction" / "none-1" / "000001.jsonl")
    with pytest.raises(RunError, match=words) as caught:
        KeptReplies(run, EXTRACTION_REPLIES, "none", "1", Redactor())
    assert str(caught.value).count("000001.jsonl") == 1


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_in_place_of_kept_scores_is_one_message(trap: str, run: Path, said: Callable[..., str]) -> None:
    lay, words = TRAPS[trap]
    (run / "scores.json").unlink()
    lay(run / "scores.json")
    message = said("users", "check", "RUN", "RUN", "--measure", "R")
    assert message.count("scores.json") == 1
    assert words in message


@pytest.mark.parametrize("trap", [trap for trap in TRAPS if trap not in ("link", "folder")])
@pytest.mark.parametrize(
    "words",
    [
        ("score", "RUN", "--gold", "TRAP.csv"),
        ("score", "RUN", "--measure", "SWAN", "--schema", "TRAP.yaml"),
        ("judge", "sheet", "RUN", "--import", "TRAP.csv"),
        ("judge", "extract", "RUN", "--with", "TRAP.yaml"),
        ("data", "import", "TRAP.jsonl", "--format", "messages", "--out", "OUT"),
        ("check", "TRAP.yaml"),
        ("users", "fit", "TRAP.jsonl", "--out", "OUT"),
        ("users", "check", "RUN", "TRAP.jsonl"),
        ("relabel", "RUN", "--protocol", "TRAP.yaml"),
    ],
)
def test_a_trap_in_place_of_a_named_file_is_one_message(
    trap: str, words: tuple[str, ...], run: Path, tmp_path: Path, said: Callable[..., str]
) -> None:
    """A person may name a link; what it leads to is read only where it is a file."""
    (named,) = (word for word in words if word.startswith("TRAP"))
    TRAPS[trap][0](tmp_path / named)
    message = said(*(str(tmp_path / named) if word == named else word for word in words))
    assert message.count("error:") + message.count("Error:") == 1
    assert "Traceback" not in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("address", ["/etc/passwd", "../outside.jsonl", "evidence/../../outside.jsonl", ""])
def test_an_address_that_leads_out_of_the_run_is_not_read(address: str, run: Path) -> None:
    with pytest.raises(ValueError, match="leads outside the folder"):
        read_exhibit(run, address)


def test_the_run_itself_may_be_reached_by_a_link(run: Path, tmp_path: Path) -> None:
    (tmp_path / "shortcut").symlink_to(run)
    assert len(read(tmp_path / "shortcut").finished) == 1
    assert read_inside(tmp_path / "shortcut", "run.json").startswith(b"{")
