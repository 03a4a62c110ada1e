"""What a compacted run takes on the disk, and to be made and read.

    python -m tests.benchmarks.compacting              half a minute
    python -m tests.benchmarks.compacting --write      writes its part of docs/performance.md

Replies are prose that nobody repeats: sentences of this documentation, each once. Each turn keeps a raw reply and its
headers, as those of an API, whose ids are random. The payload is what was said on both sides, as UTF-8.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from protocols.answer import Answer
from protocols.route import Route
from recordings.checking.chain_check import check_recording
from recordings.conversations.conversation import Outcome, SystemTurn, TrialKey
from recordings.events.events import Answered, Asked, Routed, TrialEnded, TrialStarted
from recordings.files.times import stamp
from recordings.log.compaction import compact
from recordings.log.header import Header
from recordings.log.run_folder import read
from recordings.log.store import RunWriter
from tests.servers.instant_chat import REPLY
from tests.support.checkout import DOCS
from tests.support.performance_page import HEADING, Bounded, machine, write_part

ASK, MORE = "Please explain this to me: {topic}. A few sentences will do.", "Can you say more about it?"

HEAD = """## On the disk

A run before and after `harvest data compact`, beside its payload: what was said on both sides, as UTF-8. All of the run
is counted but `run.json` and the inventory: events, chains, raw replies and headers. Replies are sentences of this
documentation, each once; where trials repeat a topic, as in most runs, answers resemble each other and take less.
Written by `python -m tests.benchmarks.compacting --write`."""
TOLD = """What misses its bound: of a turn, 40 bytes are random names of exhibits, and others the time it was asked, the
seconds it took and an id that the system gave it. These cannot be compressed, and outweigh a reply of one or two
sentences."""


def sentences() -> Iterator[str]:
    """Sentences of the pages, without code and tables."""
    for page in sorted(DOCS.rglob("*.md")):
        text = re.sub(r"```.*?```|^[|#<].*?$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for paragraph in text.split("\n\n"):
            yield from re.findall(r"[A-Z][^.!?]{20,400}[.!?](?=\s|$)", " ".join(paragraph.split()))


def replies(words: int) -> Iterator[str]:
    """Replies of so many words; of 0, always the same one."""
    if not words:
        yield from [REPLY] * 400
        return
    said: list[str] = []
    for sentence in sentences():
        said.append(sentence)
        if sum(len(one.split()) for one in said) >= words:
            yield " ".join(said)
            said = []


async def record(run: Path, words: int, draw: random.Random) -> int:
    """Record conversations of two turns, and return the payload."""
    payload, now, left = 0, datetime(2026, 1, 1, tzinfo=UTC), list(replies(words))

    def later() -> str:
        nonlocal now
        now += timedelta(seconds=draw.expovariate(1))
        return stamp(now)

    async with RunWriter.create(
        run, Header({"name": "varied"}, None, None, {"S": {"driver": "http"}}, 1, {})
    ) as writer:
        for trial in range(len(left) // 2):
            name, topic = f"{draw.getrandbits(128):032x}", f"T{trial % 45:03d}"
            await writer.append(TrialStarted(name, TrialKey("S", topic, trial // 45 + 1), 1, f"S/{trial}", at=later()))
            for number, ask in enumerate((ASK, MORE), 1):
                text, asked = left.pop(), ask.format(topic=topic)
                body, head = api_reply(text, draw)
                await writer.append(Asked(name, 1, number, "ask", asked, later()))
                evidence = await writer.keep_all(
                    [("response", "application/json", body), ("headers", "application/json", head)]
                )
                taken = round(draw.expovariate(1), 6)
                reply = SystemTurn(
                    Answer(text), later(), None, taken, "stop", {"completion": len(text) // 4}, (), evidence
                )
                await writer.append(Answered(name, 1, number, reply))
                await writer.append(Routed(name, 1, Route(number, "ask", "o", "urls", "urls/1", (), "more")))
                payload += len(text.encode()) + len(asked.encode())
            await writer.append(TrialEnded(name, 1, Outcome("completed"), later()))
    return payload


def api_reply(text: str, draw: random.Random) -> tuple[bytes, bytes]:
    """The raw reply of a chat API, and its headers."""
    message = {"role": "assistant", "content": text, "refusal": None}
    body = {
        "id": f"chatcmpl-{draw.getrandbits(96):024x}",
        "object": "chat.completion",
        "created": 1767225600 + draw.randrange(10**5),
        "model": "instant",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": draw.randrange(20, 400), "completion_tokens": len(text) // 4},
    }
    head = {
        "status": 200,
        "headers": {"content-type": "application/json", "x-request-id": f"{draw.getrandbits(128):032x}"},
    }
    return json.dumps(body).encode(), json.dumps(head).encode()


def stored(run: Path) -> int:
    return sum(file.stat().st_size for pattern in ("trials-*", "evidence/*/*") for file in run.glob(pattern))


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def figures(folder: Path) -> Iterator[Bounded]:
    for words in (0, 190, 40):
        run, plain = folder / f"varied-{words}", folder / f"plain-{words}"
        payload = asyncio.run(record(run, words, random.Random(1)))
        shutil.copytree(run, plain)
        before, hashed = stored(run), check_recording(run).hash
        spent = seconds(lambda run=run: compact(run))  # type: ignore[misc]
        assert check_recording(run).hash == hashed
        assert read(run).conversations == read(plain).conversations
        replied = f"replies of {words} words" if words else "one reply of 190 words, again and again"
        what = f"compacted run ÷ payload, {replied}"
        yield Bounded(what, stored(run) / payload, 0.6, "×", f"before {before / payload:.1f} ×")
        print(f"compacting took {spent / before * 1e6:.2f} s of CPU for each MB", file=sys.stderr)
    both = [min(seconds(lambda one=one: read(one)) for _ in range(5)) for one in (run, plain)]  # type: ignore[misc]
    yield Bounded("reading a compacted run, beside the same run before", both[0] / both[1], 1.3, "×")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="compacting-") as folder:
        rows = [HEADING]
        print("\n".join(rows))
        for figure in figures(Path(folder)):
            rows.append(figure.row())
            print(rows[-1], flush=True)
    if given.write:
        write_part("compacting", "\n".join([HEAD, "", *rows, "", TOLD]))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
