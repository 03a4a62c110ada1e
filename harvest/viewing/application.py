"""The page as an application: its files, the list as a stream of news, reports, and conversations."""

import asyncio
import shlex
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from markupsafe import escape
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from harvest.report import page as report_page
from harvest.report.blocks import Block, as_blocks
from harvest.report.transcripts import conversation_body, limit_text
from harvest.serving.guard import CONTENT_POLICY, Allowed
from harvest.studies.pairs.conversation_rows import outcome_words
from harvest.studies.watch.history import Look
from harvest.studies.watch.history_chart import history_chart
from harvest.studies.watch.history_tables import history_tables
from harvest.viewing.following import Follower
from harvest.viewing.judging import JudgingPages, offered_criteria
from harvest.viewing.reports import PICTURE, Reports
from recordings.conversations.conversation import TrialKey
from recordings.files.json_text import Json, encode_line
from recordings.log.run_folder import Run, event_file_sizes, read
from topics.errors import HarvestError, InputError

_PAGE = Path(__file__).with_name("page")
_SCRIPTS = ("conversation.js", "elements.js", "folder.js", "list.js", "playing.js", "run.js", "view.js", "watches.js")
_FILES = {
    "/": ("page.html", "text/html"),
    "/view.css": ("view.css", "text/css"),
    **{f"/{name}": (name, "text/javascript") for name in _SCRIPTS},
}

# The report's own files: what both show looks the same.
_REPORT_FILES = {"/report.css": ("style.css", "text/css"), "/reading.js": ("reading.js", "text/javascript")}

# Browsers request it on a report. It does not exist, which is not a fault.
_ICON = "/favicon.ico"

# The most runs that are compared in one report.
MOST_COMPARED = 8

_KEY = "[0-9a-f]{32}"
_KEYS = rf"{_KEY}(?:\+{_KEY}){{0,{MOST_COMPARED - 1}}}"

# The requests of the page. Addresses of reports have keys in them, which only the page knows.
ALLOWED = (
    *(Allowed(path, public=True) for path in (*_FILES, *_REPORT_FILES, _ICON)),
    Allowed(rf"/reports/{_KEYS}/report\.html", public=True),
    Allowed(rf"/reports/{_KEYS}/report-files/[0-9]{{4,9}}\.js", public=True),
    Allowed(rf"/reports/{_KEYS}/(?:.{{1,4000}}/)?{PICTURE}", public=True),
    Allowed("/api/news"),
    Allowed(f"/api/runs/{_KEY}"),
    Allowed(f"/api/runs/{_KEY}/conversation"),
    Allowed(f"/api/runs/{_KEY}/judging"),
    Allowed(f"/api/runs/{_KEY}/judge", "POST"),
    Allowed(f"/api/histories/{_KEY}"),
)


class _JudgeRequest(msgspec.Struct, forbid_unknown_fields=True):
    author: Annotated[str, msgspec.Meta(max_length=200)] = ""
    schema: Annotated[str, msgspec.Meta(max_length=4096)] = ""
    criterion: Annotated[str, msgspec.Meta(max_length=200)] = ""
    sample: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    close: bool = False


_JUDGE = msgspec.json.Decoder(_JudgeRequest)

# A report has a policy in its page, which allows its own script and style only.
_REPORT_POLICY = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

_BACK = '<body>\n<p class="dim"><a href="/">← All runs</a></p>'

_FAILED = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>No report – Harvest</title>
<link rel="stylesheet" href="/report.css">
<main>
<h1>There is no report</h1>
<p>{}</p>
<p><a href="/">All runs</a></p>
</main>
</html>
"""


def application(follower: Follower, judging: JudgingPages) -> Starlette:
    """Return the application for the listing of `follower`, which must follow meanwhile. Judging pages that are opened
    from the page are added to `judging`."""
    listing = follower.listing
    reports, conversations = Reports(listing), Conversations()
    files = {path: ((_PAGE / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}
    for path, (name, kind) in _REPORT_FILES.items():
        files[path] = (Path(report_page.__file__).with_name(name).read_bytes(), kind)

    async def file(request: Request) -> Response:
        content, kind = files[request.scope["path"]]
        # Charts are drawn from blobs, and screenshots come with the address of a report.
        images = f"img-src blob: http://{request.headers['host']}/reports/"
        policy = {"content-security-policy": f"{CONTENT_POLICY}; {images}"}
        return Response(content, media_type=f"{kind}; charset=utf-8", headers=policy)

    async def icon(_: Request) -> Response:
        return Response(status_code=204)

    async def news(_: Request) -> Response:
        async def lines() -> AsyncIterator[bytes]:
            async for one in follower.news():
                yield encode_line(one)

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def run(request: Request) -> Response:
        found = await follower.details(request.path_params["key"])
        return _json(found) if found is not None else _missing("run")

    async def conversation(request: Request) -> Response:
        found = listing.runs.get(request.path_params["key"])
        given = request.query_params
        trial, attempt = (given.get(name, "0") for name in ("trial", "attempt"))
        if found is None or not (trial.isdecimal() and attempt.isdecimal() and len(trial + attempt) < 30):
            return _missing("conversation")
        key = TrialKey(given.get("system", ""), given.get("topic", ""), int(trial))
        try:
            address = f"/reports/{found.key}/{found.path}"
            body = await asyncio.to_thread(conversations.find, listing.folder / found.path, key, int(attempt), address)
        except HarvestError as fault:
            return _json({"error": str(fault)}, 409)
        return _json(body) if body is not None else _missing("conversation")

    async def judging_state(request: Request) -> Response:
        key = request.path_params["key"]
        run, found = listing.runs.get(key), judging.page(key)
        offered = await asyncio.to_thread(offered_criteria, listing.folder / run.path) if run is not None else {}
        opened = {"author": found.author, "criterion": found.criterion, "link": found.link} if found else None
        return _json({"schemas": [[Path(name).name, name, own] for name, own in offered.items()], "open": opened})

    async def judge(request: Request) -> Response:
        found = listing.runs.get(request.path_params["key"])
        try:
            asked = _JUDGE.decode(await request.body())
        except msgspec.MsgspecError:
            return _json({"error": "this is not a request to judge"}, 400)
        if found is None:
            return _missing("run")
        if asked.close:
            await judging.close(found.key)
            return _json({"open": None})
        try:
            opened = await judging.open(
                found.key, listing.folder / found.path, asked.author, asked.schema, asked.criterion, asked.sample
            )
        except InputError as fault:
            return _json({"error": str(fault)})
        except TimeoutError:
            return _json({"error": "harvest judge page did not begin in time"})
        return _json({"open": {"author": opened.author, "criterion": opened.criterion, "link": opened.link}})

    async def history(request: Request) -> Response:
        found = listing.histories.get(request.path_params["key"])
        if found is None:
            return _missing("history")
        return _json({"series": await asyncio.to_thread(_series, found.looks)})

    async def report(request: Request) -> Response:
        keys = _keys(request)
        if any(key not in listing.runs for key in keys):
            return _no_report(
                "A run of this address is not there. The address changes whenever the page is started.", 404
            )
        try:
            made = await reports.make(keys)
        except HarvestError as fault:
            return _no_report(str(fault), 409)
        html = made.html.replace("<body>", _BACK, 1)
        return Response(
            html, media_type="text/html; charset=utf-8", headers={"content-security-policy": _REPORT_POLICY}
        )

    async def report_file(request: Request) -> Response:
        text = reports.file(_keys(request), f"report-files/{request.path_params['name']}")
        return _missing("file") if text is None else Response(text, media_type="text/javascript; charset=utf-8")

    async def picture(request: Request) -> Response:
        found = await asyncio.to_thread(reports.picture, _keys(request), request.path_params["path"])
        return _missing("picture") if found is None else Response(found[0], media_type=found[1])

    async def failed(request: Request, fault: Exception) -> Response:
        """Answer after a bug, whose traceback is printed where the command runs."""
        words = f"This failed ({type(fault).__name__}), which is a bug in Harvest. The command has printed more."
        if request.scope["path"].startswith("/api/"):
            return _json({"error": words}, 500)
        return _no_report(words, 500)

    return Starlette(
        exception_handlers={Exception: failed},
        routes=[
            *(Route(path, file, methods=["GET"]) for path in files),
            Route(_ICON, icon, methods=["GET"]),
            Route("/api/news", news, methods=["GET"]),
            Route("/api/runs/{key}", run, methods=["GET"]),
            Route("/api/runs/{key}/conversation", conversation, methods=["GET"]),
            Route("/api/runs/{key}/judging", judging_state, methods=["GET"]),
            Route("/api/runs/{key}/judge", judge, methods=["POST"]),
            Route("/api/histories/{key}", history, methods=["GET"]),
            Route("/reports/{keys}/report.html", report, methods=["GET"]),
            Route("/reports/{keys}/report-files/{name}", report_file, methods=["GET"]),
            Route("/reports/{keys}/{path:path}", picture, methods=["GET"]),
        ],
    )


def _series(looks: Sequence[Look]) -> list[Json]:
    """Return each gated figure with its chart and its tables, as `harvest watch history` has them."""
    gated = dict.fromkeys(
        (system, name)
        for look in looks
        for system, one in look.systems.items()
        for name, own in one.figures.items()
        if own.evidence is not None
    )
    return [
        {
            "name": f"{system}, {name}",
            "svg": history_chart(looks, [(system, name)]),
            "words": f"{name} of {system}, audit by audit; the table below has the values",
            "blocks": list(
                map(_set_minus, as_blocks(history_tables(looks, system, name), f"{name} of {system}, audit by audit"))
            ),
        }
        for system, name in gated
    ]


def _set_minus(block: Block) -> Block:
    if "table" not in block:
        return block
    rows = [list(map(report_page.minus_signs, row)) for row in block["table"]["rows"]]
    return {"table": {**block["table"], "rows": rows}}


def _keys(request: Request) -> Sequence[str]:
    return list(dict.fromkeys(request.path_params["keys"].split("+")))


def _missing(what: str) -> Response:
    return _json({"error": f"this {what} is not there any more"}, 404)


def _no_report(why: str, status: int) -> Response:
    return Response(_FAILED.format(escape(why)), status, media_type="text/html; charset=utf-8")


def _json(value: Json, status: int = 200) -> Response:
    return Response(encode_line(value), status, media_type="application/json")


_LONGEST = 200  # characters of a name


class Conversations:
    """The conversations of runs. The run that was read last is kept until it changes."""

    def __init__(self) -> None:
        self._kept: tuple[Path, dict[str, int], Run] | None = None

    def find(self, folder: Path, key: TrialKey, attempt: int, address: str) -> dict[str, Any] | None:
        """Return an attempt at a trial of the run in `folder`, with the data that the report's script needs, or None if
        there is no such attempt. Attempt 0 means the attempt that counts, or else the last one. `address` is the
        address of the run's evidence. Raises HarvestError if the run cannot be read."""
        run = self._read(folder)
        attempts = [one for one in run.attempts if one.started.key == key]
        chosen = [one for one in attempts if one.started.attempt == attempt] if attempt else attempts
        found = next((one for one in chosen if one.valid and not attempt), chosen[-1] if chosen else None)
        if found is None:
            return None
        conversation = found.conversation()
        first = next((one for one in attempts if one.valid), None)
        index = {
            "systems": [limit_text(key.system, _LONGEST)[0]],
            "topics": [limit_text(key.topic, _LONGEST)[0]],
            "ends": [limit_text(outcome_words(conversation), _LONGEST)[0]],
            **{name: [0] for name in ("system", "topic", "end", "chunks")},
            "trial": [key.trial],
            "attempt": [conversation.attempt],
            "counted": [0] if found is first else [],
            "shown": [shlex.join(["harvest", "show", str(folder), "--system", key.system])],
            "files": [],
        }
        return {
            "system": key.system,
            "topic": key.topic,
            "trial": key.trial,
            "attempt": conversation.attempt,
            "attempts": [one.started.attempt for one in attempts],
            "index": index,
            "body": conversation_body(conversation, address, {}),
        }

    def _read(self, folder: Path) -> Run:
        sizes = event_file_sizes(folder)
        if self._kept is None or self._kept[:2] != (folder, sizes):
            self._kept = (folder, sizes, read(folder))
        return self._kept[2]
