"""Files of topics: known by their bytes, below the folder of the topic file, of a known type, not too large."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from recordings.log.header import topic_value
from topics import sent_files
from topics.errors import InputError
from topics.library import load_topics
from topics.topic_file import decode_topics, encode_topics

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))


def topics_with(folder: Path, *files: Any) -> Path:
    topic = {"id": "T1", "type": "page", "request": "What is it?", "files": list(files)}
    written = {"format": "harvest-topics/1", "name": "seen", "types": {"page": {}}, "topics": [topic]}
    (folder / "topics.yaml").write_text(yaml.safe_dump(written))
    return folder / "topics.yaml"


def test_a_file_is_identified_by_its_bytes_and_a_run_keeps_its_digest(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "mill.png").write_bytes(PNG)
    (tmp_path / "odd").write_bytes(b"text")
    path = topics_with(tmp_path, "in/mill.png", {"path": "odd", "type": "text/plain"})
    topics = load_topics(str(path))
    picture, text = topics["T1"].files
    assert (picture.name, picture.type, picture.size) == ("mill.png", "image/png", 72)
    assert (text.name, text.type) == ("odd", "text/plain")
    assert picture.read() == PNG
    again = decode_topics(encode_topics(topics))["T1"]
    assert again.files == topics["T1"].files
    assert topic_value(again) == topic_value(topics["T1"])
    (tmp_path / "in" / "mill.png").write_bytes(PNG + b"1")
    assert topic_value(load_topics(str(path))["T1"]) != topic_value(topics["T1"])
    with pytest.raises(InputError, match=r"the file mill\.png has changed since the topics were read"):
        picture.read()
    (tmp_path / "in" / "mill.png").unlink()
    with pytest.raises(InputError, match=r"mill\.png cannot be read: No such file"):
        picture.read()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("no.png", "there is no file 'no.png' in the folder of the topic file"),
        ("../secret.png", "'../secret.png' is outside the folder of the topic file"),
        ("link.png", "'link.png' is outside the folder of the topic file"),
        ("/etc/hostname", "'/etc/hostname' is outside the folder of the topic file"),
        ("empty.png", "the file 'empty.png' is empty"),
        ("large.png", "the file 'large.png' is too large to be sent with a turn"),
        ("what", "the type of 'what' is unknown"),
        ("a\0b", "the file 'a\\x00b' cannot be read"),
        (".", "there is no file '.'"),
        ({"path": "what", "type": "text"}, "a media type, such as image/png"),
    ],
)
def test_a_file_that_cannot_be_sent_is_refused_at_its_place(
    tmp_path: Path, written: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_files, "MOST_BYTES", 100)
    folder = tmp_path / "topics"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    for name, data in (("empty.png", b""), ("large.png", bytes(101)), ("what", b"x")):
        (folder / name).write_bytes(data)
    with pytest.raises(InputError) as fault:
        load_topics(str(topics_with(folder, written)))
    assert said in str(fault.value)
    assert "topics.yaml:" in str(fault.value)
