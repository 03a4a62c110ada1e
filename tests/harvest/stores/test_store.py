"""The address of a store holds no secrets, and what a store says repeats none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harvest.stores.store import StoreFault, is_url, open_store
from tests.support.command_line import harvest
from topics.errors import InputError

CANARY = "CANARY7f3a9c"


@pytest.mark.parametrize(
    "url",
    [
        f"s3://name:{CANARY}@bucket/runs",
        f"s3://{CANARY}@bucket/runs",
        f"az://container/runs?sig={CANARY}",
        f"file:///tmp/x#{CANARY}",
    ],
)
def test_an_address_with_credentials_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InputError, match="credentials in the environment only") as caught:
        open_store(url)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["http://host/x", "s3:///x", "file://host/x", "file:///", "runs/weekly", "s3://[x", "file:runs", "file:/runs"],
)
def test_an_invalid_store_is_refused(url: str) -> None:
    with pytest.raises(InputError):
        open_store(url)


def test_a_path_is_not_an_address() -> None:
    assert is_url("s3://bucket/x")
    assert not is_url("runs/weekly")


def test_objects_are_written_once(tmp_path: Path) -> None:
    store = open_store(f"file://{tmp_path}/a%20b")
    assert store.put_new("runs/1/x", b"one")
    assert not store.put_new("runs/1/x", b"two")
    assert store.put_new("runs/1/empty", b"")
    assert store.get("runs/1/x") == b"one"
    assert store.get("runs/2") == b""
    assert store.sizes("runs/") == {"runs/1/x": 3, "runs/1/empty": 0}
    assert store.folders() == ["runs"]
    assert store.folders("runs/") == ["1"]
    store.remove("runs/1/x")
    assert (tmp_path / "a b" / "runs" / "1").is_dir()
    assert store.get("runs/1/x") == b""


def test_a_fault_is_reported_in_words_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": CANARY,
        "AWS_SECRET_ACCESS_KEY": CANARY,
        "AWS_SESSION_TOKEN": CANARY,
        "AWS_REGION": "eu-west-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:9/{CANARY}",
    }.items():
        monkeypatch.setenv(name, value)
    store = open_store("s3://bucket/runs")
    with pytest.raises(StoreFault, match="AWS_ALLOW_HTTP") as caught:
        store.put_new("x", b"")
    assert CANARY not in f"{caught.value!r} {caught.value} {caught.value.__cause__}"


def test_the_settings_that_azure_needs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(InputError, match="AZURE_STORAGE_ACCOUNT_NAME is not set"):
        open_store("az://container/runs")


def test_without_the_library_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(InputError, match=r"pip install 'conversation-harvest\[stores\]'"):
        open_store("s3://bucket/x")


def test_a_store_cannot_be_combined_with_other_ways_of_sharing(tmp_path: Path) -> None:
    done = harvest("run", "demo", "--store", f"file://{tmp_path}/store", cwd=tmp_path)
    assert done.returncode == 2
    assert "--shard 1/1" in done.stderr
