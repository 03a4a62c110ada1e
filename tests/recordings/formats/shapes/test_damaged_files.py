"""A damaged file is refused with a message, or read as far as it is whole. It never raises anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from recordings.formats.importers import IMPORTERS, Request
from recordings.formats.imports import import_header, record
from recordings.formats.recognition import recognise_format
from recordings.judged.judgments import keep_layer
from recordings.log.run_folder import read
from tests.support.checkout import DATA
from tests.support.mutations import mutated
from tests.support.shape_examples import CHATGPT, EXAMPLES, MESSAGES, dumped, form_of
from topics.errors import HarvestError, InputError

PUBLIC = {
    "atif_openhands_hello_world.trajectory.json": "atif",
    "dialoguekit_annotated_dialogues.json": "dialoguekit",
    "ikat_2023_sample_run.json": "ikat",
    "inspect_popularity.eval": "inspect",
    "sdialog_doctor_patient.json": "sdialog",
}
FILES = {
    **{name: (form_of(name), example.data) for name, example in EXAMPLES.items()},
    **{name: (form, (DATA / "transcripts" / name).read_bytes()) for name, form in PUBLIC.items()},
    "chatgpt": ("messages", dumped([CHATGPT])),
    "messages": ("messages", dumped(MESSAGES) + b"\n"),
}


@pytest.mark.parametrize("many", [50, pytest.param(200, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", FILES)
def test_many_damaged_files_are_refused_or_read(tmp_path: Path, name: str, many: int) -> None:
    form, data = FILES[name]
    file = tmp_path / "file"
    refused = 0
    for seed in range(many):
        file.write_bytes(mutated(data, seed))
        for chosen in (form, ""):
            try:
                chosen = chosen or recognise_format([file]) or "messages"
                found = IMPORTERS[chosen].read(Request((file,), topic="T"))
                if found.conversations and seed % 20 == 0:  # what was read can be recorded
                    run = tmp_path / f"run-{seed}-{chosen}"
                    record(run, found.conversations, import_header(found.conversations, found.topics))
                    for layer in found.layers:
                        keep_layer(run, layer)
                    assert len(read(run).conversations) == len(found.conversations)
            except HarvestError as fault:
                refused += isinstance(fault, InputError)
    assert refused > many // 10  # the damage is real
