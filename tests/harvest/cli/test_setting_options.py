"""Options for scoring settings say what the declarations say."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from harvest.audits.audit_file import AuditFile
from harvest.cli.score import command as score_command
from harvest.cli.setting_options import resampling_options, setting_options
from scoring.settings import SETTINGS, Choice, Number
from tests.support.command_line import harvest
from topics.document import parse_document
from topics.errors import InputError


@click.command()
@setting_options()
def every(**given: object) -> None:
    click.echo({name: value for name, value in given.items() if value is not None})


def run(*words: str) -> str:
    return CliRunner().invoke(every, words).output


def test_every_command_line_option_of_score_has_the_bounds_of_its_declaration() -> None:
    options = {one.name: one for one in score_command.params}
    for name, declared in SETTINGS.items():
        option = options[name]
        assert declared.option in option.opts
        if isinstance(declared.kind, Number):
            assert isinstance(option.type, (click.IntRange, click.FloatRange))
            assert (option.type.min, option.type.max) == (declared.kind.least, declared.kind.most)
        if isinstance(declared.kind, Choice):
            assert isinstance(option.type, click.Choice)
            assert tuple(option.type.choices) == declared.kind.words


def test_options_that_are_not_given_are_left_to_the_audit() -> None:
    assert run() == "{}\n"


def test_values_of_all_kinds_are_read() -> None:
    assert run("--patience", "9", "--gain", "L1=0.25", "--gain", "L2=1", "--turn-weight", "largest-pw") == (
        "{'patience': 9, 'gains': {'L1': 0.25, 'L2': 1.0}, 'turn_weight': 'largest-pw'}\n"
    )
    assert run("--shares", "wilson") == "{'shares': 'unseen-topic'}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ordinal", "RNDO"), "'RNDO' is not one of 'RNOD', 'NMD': did you mean 'RNOD'?"),
        (("--level", "nan"), "'nan' is not a number"),
        (("--level", "1"), "1.0 is not in the range 0.5<=x<=0.9999"),
        (("--weight", "RATINGS"), "'RATINGS' is not NAME=NUMBER"),
    ],
)
def test_an_impossible_value_is_refused_before_anything_is_read(words: tuple[str, str], said: str) -> None:
    assert said in run(*words)


def test_a_command_without_an_audit_gets_the_defaults() -> None:
    @click.command()
    @resampling_options()
    def command(**given: object) -> None:
        click.echo(given)

    assert CliRunner().invoke(command).output == "{'level': 0.95, 'replications': 2000, 'seed': 0}\n"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{ordinal: RNDO}", "ordinal: is not one of the words allowed here (here: 'RNDO'): did you mean 'RNOD'?"),
        ("{patience: 0}", "patience: must be at least 1 (here: 0)"),
        ("{level: 1}", "level: must be at most 0.9999 (here: 1)"),
        ("{ordnial: RNOD}", "unknown key 'ordnial': did you mean 'ordinal'?"),
    ],
)
def test_the_section_of_an_audit_obeys_the_same_declarations(written: str, said: str) -> None:
    text = (
        "format: harvest-audit/1\nname: a\ntopics: fairweb-45\nprotocol: fairweb-two-round\ntrials: 1\n"
        f"systems: [{{name: s, driver: parrot}}]\nscoring: {written}\n"
    )
    with pytest.raises(InputError) as fault:
        parse_document(text, "audit.yaml").validate_as(AuditFile)
    assert fault.value.what == said
    assert fault.value.place is not None
    assert fault.value.place.line == 7


@pytest.mark.parametrize("name", ["score", "compare", "tree", "variance", "robustness", "report"])
def test_another_protocol_is_a_matter_of_relabel(name: str) -> None:
    refused = harvest(name, "run-1", "--protocol", "other.yaml")
    assert refused.returncode == 2
    assert "No such option '--protocol'" in refused.stderr
    assert "`harvest relabel RUN --protocol NAME|FILE`" in " ".join(refused.stderr.split())


def test_an_option_that_no_command_has_gets_no_word_on_relabel() -> None:
    assert "relabel" not in harvest("score", "run-1", "--protocols", "other.yaml").stderr
