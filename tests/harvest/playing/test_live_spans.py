"""Spans that are sent while a run is played are those of its recording, and no receiver can disturb the run."""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from harvest.audits.audit import load_audit
from harvest.playing.live_spans import follow
from harvest.playing.play import play
from recordings.events.events import events_of
from recordings.formats.spans_export import Span, conversation_spans
from recordings.log.header import make_header
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from recordings.log.turn_counts import add_missing_turns, most_turns
from tests.recordings.formats.test_exporters import desk
from tests.servers.threaded import QuietHandler, threaded
from tests.support.command_line import harvest
from tests.support.scoring_examples import conversation


def recorded_spans(run: Path) -> list[Span]:
    found = read(run)
    most = most_turns(found.header, ())
    whole = add_missing_turns(found.conversations, found.header)
    return [span for one in whole for span in conversation_spans(one, most.get((one.key.system, one.key.topic), 0))]


async def test_a_collector_in_memory_gets_the_spans_of_the_recording(tmp_path: Path) -> None:
    memory = InMemorySpanExporter()
    header = make_header(audit={"name": "t"}, protocol=None, topics=None, systems={"B1": {}})
    talks = [desk(), conversation(("My key?", "It is hunter2-hunter2."), topic="keys")]
    async with RunWriter.create(tmp_path / "run", header, secrets=["hunter2-hunter2"]) as writer:
        with follow(writer, SimpleSpanProcessor(memory)) as spans:
            for one in talks:
                await writer.append(*events_of(one), sync=True)
        await writer.append(*events_of(conversation(("Hi", "Ho"), trial=9)))  # nobody follows any more
    followed = [span for span in recorded_spans(tmp_path / "run") if span.attributes["harvest.trial"] != 9]
    wanted = {span.id: span for span in followed}
    made: dict[str, Any] = {f"{one.context.span_id:016x}": one for one in memory.get_finished_spans()}
    assert made.keys() == wanted.keys()
    assert spans.made == 5
    for name, span in wanted.items():
        one = made[name]
        assert (one.name, f"{one.context.trace_id:032x}") == (span.name, span.trace)
        assert (f"{one.parent.span_id:016x}" if one.parent else "") == span.parent
        assert (one.start_time, one.end_time) == (span.start, span.end)
        assert (one.status.description or "") == span.error
        assert one.status.is_ok != bool(span.error)
        assert dict(one.attributes) == {
            key: tuple(value) if isinstance(value, list) else value for key, value in span.attributes.items()
        }
        assert one.resource.attributes["service.name"] == "harvest"
    told = "".join(str(one.attributes) for one in made.values())
    assert "hunter2" not in told
    assert "[redacted:" in told


@dataclass
class Receiver:
    """A receiver of OTLP over HTTP: what it got, and the status that it answers with."""

    address: str
    status: int = 200
    got: list[Any] = field(default_factory=list)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    class Handler(QuietHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            packed = self.headers.get("Content-Encoding") == "gzip"
            request = ExportTraceServiceRequest.FromString(gzip.decompress(data) if packed else data)
            for resource in request.resource_spans:
                for scope in resource.scope_spans:
                    here.got += scope.spans
            self.send_response(here.status)
            self.end_headers()

    with threaded(Handler) as server:
        here = Receiver(f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", here.address)
        yield here


def demo(tmp_path: Path) -> tuple[object, ...]:
    return ("run", "demo", "--topics", "M001,M002", "--trials", "2", "--spans", "--out", tmp_path / "run")


def test_a_receiver_gets_every_span_of_a_run(tmp_path: Path, receiver: Receiver) -> None:
    done = harvest(*demo(tmp_path))
    assert (done.returncode, "span" in done.stderr) == (0, False), done.stderr
    wanted = recorded_spans(tmp_path / "run")
    assert len(wanted) > 16
    assert sorted(one.span_id.hex() for one in receiver.got) == sorted(span.id for span in wanted)
    assert {one.trace_id.hex() for one in receiver.got} == {span.trace for span in wanted}
    again = harvest(*demo(tmp_path))  # nothing is left to play
    assert again.returncode == 0
    assert len(receiver.got) == len(wanted)


def test_a_receiver_that_refuses_changes_nothing_but_is_told(tmp_path: Path, receiver: Receiver) -> None:
    receiver.status = 400
    done = harvest(*demo(tmp_path))
    assert done.returncode == 0
    count = len(recorded_spans(tmp_path / "run"))
    told = " ".join(done.stderr.split())
    assert f"note: {count} spans could not be delivered" in told
    assert "400" in told
    assert "`harvest data export --format otlp` writes all spans" in told
    assert read(tmp_path / "run").damage == ()


def test_processes_of_one_run_send_its_spans_between_them(tmp_path: Path, receiver: Receiver) -> None:
    done = harvest(*demo(tmp_path), "--workers", "2")
    assert (done.returncode, "could not be delivered" in done.stderr) == (0, False), done.stderr
    wanted = recorded_spans(tmp_path / "run")
    assert sorted(one.span_id.hex() for one in receiver.got) == sorted(span.id for span in wanted)
    assert {one.trace_id.hex() for one in receiver.got} == {span.trace for span in wanted}


def test_a_function_sends_the_spans_of_what_it_plays(tmp_path: Path, receiver: Receiver) -> None:
    audit = tmp_path / "a.yaml"
    audit.write_text(
        "format: harvest-audit/1\nname: a\nprotocol: fairweb-two-round\ntopics: fairweb-45\ntrials: 1\n"
        "systems: [{name: A, driver: parrot}]\n"
    )
    resolved = load_audit(str(audit), only=("M001",))
    play(resolved, tmp_path / "run", spans=True)
    wanted = sorted(span.id for span in recorded_spans(tmp_path / "run"))
    assert sorted(one.span_id.hex() for one in receiver.got) == wanted
    receiver.status = 400
    with pytest.warns(UserWarning, match=r"\d spans could not be delivered .*400"):
        play(resolved, tmp_path / "again", spans=True)


def test_a_shard_that_cannot_deliver_says_so(tmp_path: Path, receiver: Receiver) -> None:
    receiver.status = 400
    done = harvest(*demo(tmp_path), "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert re.search(r"note: shard [12]: \d+ spans could not be delivered", " ".join(done.stderr.split())), done.stderr


def test_spans_need_their_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    done = harvest(*demo(tmp_path))
    assert done.returncode == 2
    assert "pip install 'conversation-harvest[spans]'" in done.stderr
    assert not (tmp_path / "run").exists()
