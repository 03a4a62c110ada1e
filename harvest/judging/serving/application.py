"""The page and what it asks for, as a Starlette application; `harvest.judging.serving.guard` stands before it."""

import json
from collections.abc import Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from harvest.judging.serving.desk import Desk, Unacceptable
from recordings.files.errors import StoreError, in_words
from recordings.files.json_text import Json, line

_FILES = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}


def application(desk: Desk, troubled: Callable[[StoreError], None]) -> Starlette:
    """Three files by their names, and three addresses of JSON. A request comes with `harvest.person` in its scope.

    troubled: is told why a decision could not be saved, with the file; who judges is told the reason alone.
    """
    files = {path: ((Path(__file__).parent / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}

    async def file(request: Request) -> Response:
        content, kind = files[request.scope["path"]]
        return Response(content, media_type=f"{kind}; charset=utf-8")

    async def work(request: Request) -> Response:
        return _json(desk.work(request.scope["harvest.person"]))

    async def question(request: Request) -> Response:
        try:
            return _json(desk.question(request.path_params["known"]))
        except Unacceptable as fault:
            return _json({"error": str(fault)}, fault.status)

    async def answers(request: Request) -> Response:
        person = request.scope["harvest.person"]
        try:
            sent = _object(await request.body())
            take = desk.take_back if "undo" in sent else desk.decide
            return _json(await take(person, sent))
        except Unacceptable as fault:
            return _json({"error": str(fault)}, fault.status)
        except StoreError as fault:
            troubled(fault)
            return _json({"error": f"the disk of the page's machine says: {in_words(fault.fault)[0]}"}, 507)

    return Starlette(
        routes=[
            *(Route(path, file, methods=["GET"]) for path in files),
            Route("/api/work", work, methods=["GET"]),
            Route("/api/questions/{known}", question, methods=["GET"]),
            Route("/api/answers", answers, methods=["POST"]),
        ]
    )


def _object(body: bytes) -> dict[str, Json]:
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        raise Unacceptable(400, "this is not JSON") from None
    if not isinstance(sent, dict):
        raise Unacceptable(400, "this is not a JSON object")
    return sent


def _json(value: Json, status: int = 200) -> Response:
    # Not Starlette's own: it cannot write halves of surrogate pairs, which a system may have sent.
    return Response(line(value), status, media_type="application/json")
