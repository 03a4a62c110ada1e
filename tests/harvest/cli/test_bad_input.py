"""Bad files and arguments: each gives one clear message that says what, where and what is allowed, and exit code 2."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harvest.cli import main
from tests.support.checkout import ROOT

SAMPLE = ROOT / "recordings" / "samples" / "run-1"
AUDIT = """\
format: harvest-audit/1
name: small
topics: fairweb-45
only: [M001, M002]
protocol: fairweb-two-round
gold: parrot
trials: 2
seed: 1
systems:
  - name: A
    driver: parrot
    options: {profile: steady}
"""
TOPICS = """\
format: harvest-topics/1
name: mine
types:
  movie: {asks_for: "movie title, IMDb URL", url: imdb-title}
topics:
  - {id: T1, type: movie, request: Please list films about bees.}
"""
PROTOCOL = """\
format: harvest-protocol/1
name: mine
version: 1
rules:
  useful: {urls: {kind: asked, at_least: 1}}
start: ask
states:
  ask:
    say: "{{ topic.request }}"
    edges:
      - {if: useful, label: o, stop: completed}
      - {otherwise: true, label: x, stop: completed}
"""


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """The message of a command that must be refused."""
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    printed = capsys.readouterr()
    assert stopped.value.code == 2, printed
    assert "Traceback" not in printed.err
    assert printed.out == ""
    return printed.err


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none", "there is no such folder\n  do: check the path; relative paths start at"),
        ("file", "this is a file, not a run folder"),
        ("empty", "this is not a run folder: it has no run.json\n  do: check the path"),
        (
            "dated",
            "this is not a run folder: it has no run.json\n  do: name one of the runs in it (2), such as dated/20",
        ),
    ],
)
def test_input_that_is_not_a_run_is_called_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], path: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("empty").mkdir()
    for run in ("2026-01", "2026-02"):
        Path("dated", run).mkdir(parents=True)
        Path("dated", run, "run.json").touch()
    assert f"{path}: {said}" in refused(capsys, "score", path)


def test_the_audit_that_is_damaged_below_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT)
    with pytest.raises(SystemExit) as stopped:
        main(["check", str(tmp_path / "audit.yaml")])
    assert stopped.value.code == 0, capsys.readouterr().err


SPOILED_AUDITS = {
    "broken YAML": ("only: [M001, M002]", "only: [M001, M002", "audit.yaml:5:", "not valid YAML"),
    "a tab": ("  - name: A", "\t- name: A", "audit.yaml:10:1", "not valid YAML"),
    "a duplicate key": ("seed: 1", "seed: 1\nseed: 2", "audit.yaml:9:1", "duplicate key 'seed'"),
    "an unknown key": ("trials: 2", "trails: 2", "audit.yaml:7:1", "did you mean 'trials'"),
    "a missing key": ("trials: 2\n", "", "audit.yaml:1:1", "missing key 'trials'"),
    "a word for a number": ("trials: 2", "trials: two", "audit.yaml:7:9", "trials"),
    "a number that is too small": ("trials: 2", "trials: 0", "audit.yaml:7:9", "at least 1"),
    "a fraction for a count": ("trials: 2", "trials: 2.5", "audit.yaml:7:9", "trials"),
    "yes for true": ("seed: 1", "evidence: yes", "audit.yaml:8:11", "evidence"),
    "another format": ("harvest-audit/1", "harvest-audit/9", "audit.yaml:1:9", "harvest-audit/1"),
    "a protocol in the place of an audit": (
        "harvest-audit/1",
        "harvest-protocol/1",
        "audit.yaml:1:9",
        "this is a protocol (harvest-protocol/1), not an audit (harvest-audit/1)",
    ),
    "an unknown topic set": ("topics: fairweb-45", "topics: fairweb-54", "audit.yaml:3:9", "fairweb-45"),
    "an unknown topic": (
        "only: [M001, M002]",
        "only: [M001, M099]",
        "audit.yaml:4:14",
        "'M099' is not in the topic set",
    ),
    "groups that are mappings": (
        "seed: 1",
        "groups: [{name: a}]",
        "audit.yaml:8:10",
        "groups: must be text\n  allowed: groups: [older, younger]",
    ),
    "arms in a list": ("seed: 1", "arms: [{name: a}]", "audit.yaml:8:7", "allowed: arms: {as written: {}, thanks: {"),
    "no topic at all": ("only: [M001, M002]", "only: []", "audit.yaml:4:7", "only"),
    "an unknown protocol": ("protocol: fairweb-two-round", "protocol: fairweb", "audit.yaml:5:11", "fairweb-two-round"),
    "an unknown gold table": ("gold: parrot", "gold: parott", "audit.yaml:6:7", "parrot"),
    "a file that is not there": ("topics: fairweb-45", "topics: nowhere.yaml", "nowhere.yaml", "no such file"),
    "no systems": (AUDIT[AUDIT.index("systems:") :], "systems: []\n", "audit.yaml:9:10", "systems"),
    "two systems of one name": (
        "    options: {profile: steady}",
        "  - name: A\n    driver: parrot",
        "audit.yaml:12:11",
        "two systems are called 'A'",
    ),
    "an unknown driver": ("driver: parrot", "driver: parot", "audit.yaml:11:13", "did you mean 'parrot'"),
    "an unknown option": ("profile: steady", "profil: steady", "audit.yaml:12:15", "did you mean 'profile'"),
    "an unknown profile": ("profile: steady", "profile: stedy", "audit.yaml:12:", "steady"),
    "a bad rate": ("    options", "    rate: often\n    options", "audit.yaml:12:11", "30/min"),
    "a threshold without a bound": (
        "systems:",
        "thresholds: [{measure: R}]\nsystems:",
        "audit.yaml:9:14",
        "at_least, at_most",
    ),
    "a merge key": ("    options:", "    <<: {a: 1}\n    options:", "audit.yaml:12:5", "merge key"),
    "an anchor and an alias": ("seed: 1", "seed: &one 1\nname2: *one", "audit.yaml:8:7", "anchor"),
    "a tag": ("seed: 1", "seed: !!python/object:os.system 1", "audit.yaml:8:7", "tag"),
}


@pytest.mark.parametrize("fault", list(SPOILED_AUDITS))
def test_a_damaged_audit_is_refused_at_the_place_of_the_fault(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad, place, words = SPOILED_AUDITS[fault]
    assert good in AUDIT
    (tmp_path / "audit.yaml").write_text(AUDIT.replace(good, bad, 1))
    message = refused(capsys, "run", tmp_path / "audit.yaml", "--out", tmp_path / "run")
    assert place in message
    assert words in message
    assert not (tmp_path / "run").exists(), "nothing may be begun before everything is checked"


BYTES = {
    "an empty file": (b"", "empty"),
    "Latin-1": (AUDIT.replace("small", "caf\u00e9").encode("latin-1"), "not UTF-8"),
    "UTF-16": (AUDIT.encode("utf-16"), "UTF-16"),
    "a binary file": (gzip.compress(AUDIT.encode() * 9) + b"\0\0", "UTF-8"),
    "a control character": (AUDIT.replace("small", "sm\x07all").encode(), "U+0007"),
    "a list instead of a mapping": (b"- 1\n- 2\n", "audit.yaml:1:1"),
    "a bare word": (b"audit\n", "audit.yaml:1:1"),
    "ten thousand brackets": (b"a: " + b"[" * 10_000, "audit.yaml"),
}


@pytest.mark.parametrize("fault", list(BYTES))
def test_a_file_that_is_not_an_audit_is_refused(fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, words = BYTES[fault]
    (tmp_path / "audit.yaml").write_bytes(data)
    assert words in refused(capsys, "check", tmp_path / "audit.yaml")


OWN_FILES = {
    "a misspelt template variable": ("protocol", "topic.request", "topic.reqest", "mine.yaml:9:", "topic.request"),
    "a missing label": ("protocol", "label: o, ", "", "mine.yaml:11:", "label"),
    "an unknown label": ("protocol", "label: o", "label: good", "mine.yaml:11:", "o"),
    "a state that is not there": (
        "protocol",
        "label: o, stop: completed",
        "label: o, go: more",
        "mine.yaml:11:",
        "more",
    ),
    "an unknown rule": ("protocol", "if: useful", "if: usefull", "mine.yaml:11:", "useful"),
    "an endless loop": ("protocol", "label: o, stop: completed", "label: o, go: ask", "mine.yaml:", "turn_limit"),
    "an unknown topic type": ("topics", "type: movie", "type: film", "topics.yaml:6:", "movie"),
    "an empty request": (
        "topics",
        "request: Please list films about bees.",
        'request: ""',
        "topics.yaml:6:",
        "request",
    ),
    "no topics": ("topics", TOPICS[TOPICS.index("topics:\n") :], "topics: []\n", "topics.yaml:5:", "topics"),
    "a grade that is not a grade": ("gold", "L2", "very", "gold.csv:2:", "L0"),
    "a topic that is not in the set": ("gold", "T1,", "T9,", "gold.csv:2:1", "T9"),
    "a row that is too short": ("gold", ",L2,Bees", "", "gold.csv:2", ""),
}
GOLD = "topic,entity,grade,title\nT1,https://www.imdb.com/title/tt9000000001/,L2,Bees\n"


@pytest.mark.parametrize("fault", list(OWN_FILES))
def test_a_damaged_file_of_a_user_is_refused_at_the_place_of_the_fault(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    which, good, bad, place, words = OWN_FILES[fault]
    texts = {"protocol": PROTOCOL, "topics": TOPICS, "gold": GOLD}
    assert good in texts[which]
    texts[which] = texts[which].replace(good, bad, 1)
    (tmp_path / "mine.yaml").write_text(texts["protocol"])
    (tmp_path / "topics.yaml").write_text(texts["topics"])
    (tmp_path / "gold.csv").write_text(texts["gold"])
    audit = AUDIT.replace("fairweb-45", "topics.yaml").replace("only: [M001, M002]\n", "")
    audit = audit.replace("fairweb-two-round", "mine.yaml").replace("gold: parrot", "gold: gold.csv")
    audit = audit.replace("options: {profile: steady}", "options: {profile: steady, catalogue: gold.csv}")
    (tmp_path / "audit.yaml").write_text(audit)
    message = refused(capsys, "check", tmp_path / "audit.yaml")
    assert place in message
    assert words in message


def test_an_unset_secret_is_named_before_anything_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    options = "{base_url: 'http://127.0.0.1:9/v1', model: m, api_key_env: NO_SUCH_KEY}"
    audit = AUDIT.replace("driver: parrot", "driver: openai").replace("{profile: steady}", options)
    (tmp_path / "audit.yaml").write_text(audit)
    assert "NO_SUCH_KEY" in refused(capsys, "run", tmp_path / "audit.yaml", "--out", tmp_path / "run")


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://a/b", "http://", "http://[::1", "http://user:secret@host/v1"])
def test_a_bad_url_is_refused(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    audit = AUDIT.replace("driver: parrot", "driver: openai").replace(
        "{profile: steady}", f"{{base_url: '{url}', model: m}}"
    )
    (tmp_path / "audit.yaml").write_text(audit)
    message = refused(capsys, "check", tmp_path / "audit.yaml")
    assert "audit.yaml:12:" in message
    assert "secret" not in message


COMMANDS = {
    "an unknown command": (["rnu"], "No such command"),
    "no argument": (["run"], "Missing argument"),
    "an audit that is not there": (["run", "nowhere.yaml"], "no such file"),
    "a folder instead of a file": (["check", "."], "folder"),
    "a run that is not there": (["score", "nowhere"], "there is no such folder"),
    "trials below one": (["run", "demo", "--trials", "0"], "0"),
    "an unknown topic": (["run", "demo", "--topics", "Z001"], "Z001"),
    "an unknown import format": (["data", "import", "--format", "csv", "a", "--out", "b"], "gfrc"),
    "a transcript that is not there": (
        ["data", "import", "--format", "gfrc", "nowhere.txt", "--out", "b"],
        "no such file",
    ),
    "a gain that is not a number": (["score", "nowhere", "--gain", "L1=much"], "NAME=NUMBER"),
}


@pytest.mark.parametrize("fault", list(COMMANDS))
def test_a_wrong_command_is_refused(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words, expected = COMMANDS[fault]
    assert expected in refused(capsys, *words)


DAMAGED: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "garbage in the middle": ("trials", lambda data: data.replace(b"\n", b"\n{garbage\n", 2), "trials-000001.jsonl:2"),
    "a header that is no JSON": ("header", lambda data: data[:50], "run.json"),
    "a header of the future": (
        "header",
        lambda data: data.replace(b"harvest-run/1", b"harvest-run/2"),
        "harvest-run/1",
    ),
    "a turn that is missing": (
        "trials",
        lambda data: b"\n".join(line for line in data.split(b"\n") if b'"turn":1,"text"' not in line),
        "trials-000001.jsonl:",
    ),
}


@pytest.mark.parametrize("fault", list(DAMAGED))
def test_a_damaged_run_is_refused_with_file_and_line(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT)
    run = tmp_path / "run"
    with pytest.raises(SystemExit):
        main(["run", str(tmp_path / "audit.yaml"), "--out", str(run)])
    capsys.readouterr()
    which, damage, words = DAMAGED[fault]
    file = run / ("run.json" if which == "header" else "trials-000001.jsonl")
    before = file.read_bytes()
    after = damage(before)
    assert after != before
    file.write_bytes(after)
    for command in ("score", "show"):
        assert words in refused(capsys, command, run)
    assert file.read_bytes() == after, "reading changes nothing"


def test_a_changed_system_is_refused_with_the_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "audit.yaml").write_text(AUDIT)
    run = tmp_path / "run"
    with pytest.raises(SystemExit):
        main(["run", str(tmp_path / "audit.yaml"), "--out", str(run)])
    capsys.readouterr()
    (tmp_path / "audit.yaml").write_text(AUDIT.replace("steady", "erratic"))
    message = refused(capsys, "run", tmp_path / "audit.yaml", "--out", run)
    assert '-  "profile": "steady"' in message
    assert '+  "profile": "erratic"' in message
    (tmp_path / "audit.yaml").write_text(AUDIT.replace("trials: 2", "trials: 3"))
    with pytest.raises(SystemExit) as stopped:
        main(["run", str(tmp_path / "audit.yaml"), "--out", str(run), "--json"])
    assert stopped.value.code == 0
    trials = {row["trial"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert {1, 2, 3} <= trials


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["score", "RUN", "--gain", "9=0.5"], "scoring setting gains: no entity of the gold table has grade 9"),
        (["score", "RUN", "--input-price", "Z=3"], "scoring setting input_prices: there is no system 'Z'"),
        (["score", "RUN", "--strict"], "--strict only affects thresholds, but the audit has none"),
        (["users", "check", "RUN", "RUN/../run-1"], "must be different files or folders"),
        (["measures", "GF("], "a name or a number is missing in 'GF('"),
        (["scoer", "RUN"], "No such command 'scoer': did you mean 'score'?"),
    ],
)
def test_an_option_without_effect_is_refused_like_a_misspelt_one(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert said in refused(capsys, *(word.replace("RUN", str(SAMPLE)) for word in words))


@pytest.mark.parametrize(
    ("there", "typed", "said"),
    [
        ("weekly.yaml", "weekly.yml", "did you mean weekly.yaml? relative paths start at"),
        ("audits/Weekly-2.yaml", "audits/weekly2.yaml", "did you mean audits/Weekly-2.yaml? relative"),
        ("weekly.yaml", "topics.yaml", "check the path; relative paths start at"),
        ("weekly.yaml", "audits/weekly.yml", "check the path; relative paths start at"),
    ],
)
def test_a_missing_file_is_answered_with_one_of_a_similar_name(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    there: str,
    typed: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(there).parent.mkdir(exist_ok=True)
    Path(there).write_text("format: harvest-audit/1\n")
    message = refused(capsys, "check", typed)
    assert f"{typed}: no such file" in message
    assert f"do: {said}" in message
    assert "relative" not in refused(capsys, "check", tmp_path / typed)


def test_a_missing_run_is_answered_with_one_of_a_similar_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "january").mkdir()
    assert "do: did you mean january? relative" in refused(capsys, "score", "janury")


def test_a_folder_instead_of_an_audit_is_answered_with_its_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SAMPLE, tmp_path / "run of may")
    message = refused(capsys, "check", "run of may")
    assert "run of may: this is the folder of a run, not an audit file" in message
    assert (
        "do: read it with harvest show, score, report or compare; continue it with harvest run AUDIT --out" in message
    )
    assert "--out 'run of may'" in message
    (tmp_path / "mine").mkdir()
    message = refused(capsys, "run", "mine")
    assert "mine: this is a folder, not an audit file" in message
    assert "harvest init writes one" in message
    (tmp_path / "mine" / "audit.yaml").touch()
    assert "do: give the audit in it: mine/audit.yaml" in refused(capsys, "run", "mine")
