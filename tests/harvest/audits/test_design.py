"""Designs of audits: questions x templates x languages x personas x places x systems, every cell named."""

from pathlib import Path

import pytest

from harvest.audits.audit import Audit, load_audit
from protocols.route import Say
from recordings.log.run_folder import read
from simulators.promises import initial_state, next_action
from simulators.user import Scenario, Streams
from tests.support.command_line import harvest
from topics.errors import InputError

QUESTIONS = """\
id,question,question:de,party,party:de,year
Q1,Who may vote?,Wer darf wählen?,the Greens,die Grünen,2026
Q2,When is it?,Wann ist sie?,the Left,die Linke,2025
"""
DESIGN = """\
  languages: [en, de]
  templates:
    plain: "{question}"
    of: {en: "Of {party} in {year}: {question}", de: "Zu {party} ({year}): {question}"}
  personas: {nobody: "", older: {en: "I am 74.", de: "Ich bin 74."}}
  places: {oslo: {country: "NO"}, lyon: {country: FR, network: mobile, systems: {A: {function: "bot.py:abroad"}}}}
"""
SYSTEMS = """\
systems:
  - {name: A, driver: python, options: {function: "bot.py:answer"}}
  - {name: B, driver: python, options: {function: "bot.py:answer"}}
"""
BOT = """\
def answer(text):
    return f"{text} At home."


def abroad(text):
    return f"{text} Abroad."
"""
PROTOCOL = """\
format: harvest-protocol/1
name: two
version: 1
start: ask
states:
  ask: {say: "{{ topic.request }}", edges: [{otherwise: true, label: o, go: more}]}
  more: {say: "What else?", edges: [{otherwise: true, label: o, stop: completed}]}
"""


def written(
    folder: Path,
    design: str = DESIGN,
    *,
    questions: str = QUESTIONS,
    protocol: str = "seed-turns",
    further: str = "",
    trials: int = 1,
) -> Path:
    (folder / "questions.csv").write_text(questions, encoding="utf-8")
    (folder / "bot.py").write_text(BOT, encoding="utf-8")
    (folder / "two.yaml").write_text(PROTOCOL, encoding="utf-8")
    head = f"format: harvest-audit/1\nname: news\ntopics: questions.csv\nprotocol: {protocol}\ntrials: {trials}\n"
    file = folder / "audit.yaml"
    file.write_text(f"{head}design:\n{design}{further}{SYSTEMS}", encoding="utf-8")
    return file


def opening(audit: Audit, arm: str, topic: str) -> list[str]:
    """Return the words of the first user turn of an arm."""
    (one,) = (one for one in audit.arms if one.name == arm)
    state = initial_state(one.user, Scenario(audit.topics[topic]), Streams(0))
    action, _ = next_action(one.user, state, None, Streams(0))
    assert isinstance(action, Say)
    return [action.text]


def test_every_combination_is_a_cell_with_its_own_words(tmp_path: Path) -> None:
    audit = load_audit(str(written(tmp_path)))
    assert len(audit.arms) == 16
    assert audit.arms[0].name == "plain + nobody + en + oslo"
    assert audit.factors == {
        "template": ["plain", "of"],
        "persona": ["nobody", "older"],
        "language": ["en", "de"],
        "place": ["oslo", "lyon"],
    }
    assert opening(audit, "plain + nobody + en + oslo", "Q1") == ["Who may vote?"]
    assert opening(audit, "of + older + de + lyon", "Q2") == ["Ich bin 74. Zu die Linke (2025): Wann ist sie?"]


def test_a_place_changes_how_a_system_is_asked_and_is_recorded(tmp_path: Path) -> None:
    file = written(tmp_path)
    assert harvest("run", str(file), "--out", str(tmp_path / "run")).returncode == 0
    run = read(tmp_path / "run")
    said = {one.key.system: one.turns[0].reply.answer.text for one in run.conversations if one.turns[0].reply}
    assert said["A [plain + nobody + de + lyon]"].endswith("Abroad.")
    assert said["A [plain + nobody + de + oslo]"].endswith("At home.")
    assert said["B [plain + nobody + de + lyon]"].endswith("At home.")
    system = run.header.systems["A [of + older + de + lyon]"]
    assert isinstance(system, dict)
    assert system["vantage"] == "lyon"
    assert system["options"] == {"function": "bot.py:abroad"}
    assert system["levels"] == {"template": "of", "persona": "older", "language": "de", "place": "lyon"}
    changes = system["changes"]
    assert isinstance(changes, dict)
    assert changes["place"] == {"name": "lyon", "country": "FR", "network": "mobile"}


def test_another_language_is_added_to_an_existing_run(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    assert harvest("run", str(written(tmp_path, "  languages: [en, de]\n")), "--out", out).returncode == 0
    questions = (
        QUESTIONS.replace("year\n", "year,question:fr\n").replace("26\n", "26,Qui ?\n").replace("25\n", "25,Quand ?\n")
    )
    file = written(tmp_path, "  languages: [en, de, fr]\n", questions=questions)
    assert harvest("run", str(file), "--out", out).returncode == 0
    said = [(one.key.system, one.turns[0].said) for one in read(out).conversations]
    assert len(said) == 2 * 2 * 3
    assert ("A [fr]", "Qui ?") in said


def test_a_changed_translation_does_not_continue_a_run(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    assert harvest("run", str(written(tmp_path, "  languages: [en, de]\n")), "--out", out).returncode == 0
    file = written(tmp_path, "  languages: [en, de]\n", questions=QUESTIONS.replace("Wann", "Wo"))
    assert harvest("run", str(file), "--out", out).returncode == 2


def test_topics_without_a_translation_are_left_out_and_named(tmp_path: Path) -> None:
    design = (
        '  languages: [en, de]\n  templates: {plain: "{question}", of: {en: "Of {question}"}}\n  missing: leave out\n'
    )
    file = written(tmp_path, design, questions=QUESTIONS.replace("Wann ist sie?", ""))
    audit = load_audit(str(file))
    assert [topic.id for topic in audit.topics.topics] == ["Q1"]
    assert audit.topics.left_out == ("Q2",)
    assert audit.factors == {"language": ["en", "de"]}
    told = harvest("check", file, width=200).stdout
    assert "left out: template of: no words in de" in told
    assert "left out: topic Q2: no question in 'de'" in told
    assert "language (en, de): 2 cells of each system" in told


def test_codes_of_languages_are_compared_without_regard_to_capitals(tmp_path: Path) -> None:
    questions = "id,question,question:PT-br\nQ1,Who may vote?,Quem pode votar?\n"
    audit = load_audit(str(written(tmp_path, "  languages: [EN, pt-BR]\n", questions=questions)))
    assert opening(audit, "pt-BR", "Q1") == ["Quem pode votar?"]


def test_a_table_without_a_single_translation_is_not_advised_to_leave_topics_out(tmp_path: Path) -> None:
    for missing in ("refuse", "leave out"):
        with pytest.raises(InputError, match="translations are missing") as caught:
            load_audit(str(written(tmp_path, f"  languages: [en, fr]\n  missing: {missing}\n")))
        assert str(caught.value.advice).endswith("in a column `question:de`: without them no topic is left")


def test_the_protocols_own_texts_are_given_by_language(tmp_path: Path) -> None:
    design = '  languages: {en: {}, de: {states: {more: "Was noch?"}}}\n'
    out = tmp_path / "run"
    assert harvest("run", str(written(tmp_path, design, protocol="two.yaml")), "--out", str(out)).returncode == 0
    said = {
        one.key.system: [turn.said for turn in one.turns] for one in read(out).conversations if one.key.topic == "Q1"
    }
    assert said["A [de]"] == ["Wer darf wählen?", "Was noch?"]
    assert said["A [en]"] == ["Who may vote?", "What else?"]


def test_factors_are_combined_with_the_design(tmp_path: Path) -> None:
    further = "factors:\n  tone: {usual: {}, polite: {wording: {politeness: 1}}}\n"
    audit = load_audit(str(written(tmp_path, "  languages: [en, de]\n", further=further)))
    assert [arm.name for arm in audit.arms] == ["en + usual", "en + polite", "de + usual", "de + polite"]


@pytest.mark.parametrize(
    ("design", "place", "message"),
    [
        ("  languages: [en]\n", "6:1", "the design has one cell only"),
        ("  languages: [en, fr]\n", "7:14", "the topic 'Q1' has no question in 'fr'; the topic 'Q2' has no question"),
        ("  languages: [en, english]\n", "7:19", "the code of a language, such as de"),
        ("  languages: [en, de, de]\n", "7:14", "differ only in blanks"),
        ('  templates: {a: "{question}", b: "Say: {word}"}\n', "7:35", "there is no {word} in the topics"),
        ('  templates: {a: "{question}", b: "Say."}\n', "7:35", "the template 'b' does not ask the question"),
        ('  languages: [en, de]\n  templates: {a: "Say: {question}"}\n', "8:18", "would be said in every language"),
        ('  languages: [en, de]\n  templates: {a: {en: "{question}"}}\n', "8:18", "has no words in de"),
        ('  languages: [en, de]\n  personas: {old: "I am 74."}\n', "8:19", "would be said in every language"),
        ("  places: {oslo: {}, lyon: {systems: {C: {}}}}\n", "7:39", "the audit has no system 'C'"),
        ("  places: {oslo: {}, lyon: {options: {fun: 1}}}\n", "7:28", "unknown key 'fun'"),
        ("  languages: [en, de]\n  places: {}\n", "8:11", "places: needs at least 1 entry, and has 0"),
        ("  places: {oslo: {}, lyon: {nation: FR}}\n", "7:29", "unknown key 'nation'"),
        ("  languages: {en: {}, de: {states: {ask: x}}}\n", "7:37", "has no words of its own in a state 'ask'"),
    ],
)
def test_an_unplayable_design_is_refused_with_its_place(tmp_path: Path, design: str, place: str, message: str) -> None:
    with pytest.raises(InputError) as fault:
        load_audit(str(written(tmp_path, design)))
    assert message in str(fault.value)
    assert f"audit.yaml:{place}:" in str(fault.value)


@pytest.mark.parametrize(
    ("protocol", "further", "message"),
    [
        ("two.yaml", "", "the protocol 'two' has a text for the state 'more', but none in the language 'de'"),
        ("robustness-one-turn", "", "says nothing of its own"),
        ("seed-turns", "arms: {a: {}, b: {wording: {typos: 1}}}\n", "arms or a design, not both"),
        ("seed-turns", "factors: {language: {a: {}, b: {wording: {typos: 1}}}}\n", "has a factor 'language' already"),
        ("seed-turns", "factors: {t: {a: {}, b: {texts: x.yaml}}}\n", "no factor can replace them by texts"),
    ],
)
def test_a_combination_that_a_design_does_not_allow_is_refused(
    tmp_path: Path, protocol: str, further: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_audit(str(written(tmp_path, "  languages: [en, de]\n", protocol=protocol, further=further)))
