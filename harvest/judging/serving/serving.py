"""The judging page as an application: its files, and the addresses that exchange JSON."""

import json
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from harvest.judging.serving.desk import Desk, InvalidRequest
from harvest.serving.guard import Allowed
from harvest.serving.server import serve
from recordings.files.errors import StoreError, describe_fault
from recordings.files.json_text import Json, encode_line

_FILES = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}

# The requests of the page.
ALLOWED = (
    *(Allowed(path, public=True) for path in _FILES),
    Allowed("/api/work"),
    Allowed("/api/questions/[0-9a-f]{16}"),
    Allowed("/api/answers", "POST"),
)


async def serve_desk(
    desk: Desk,
    server_socket: socket.socket,
    tokens: Mapping[str, str],
    on_start: Callable[[], None],
    on_fault: Callable[[StoreError], None] = lambda _: None,
) -> None:
    """Serve the page until cancelled. `tokens` has the token of each person. `on_start` is called when the page can be
    opened, and `on_fault` when a decision could not be saved."""
    await serve(application(desk, on_fault), ALLOWED, server_socket, tokens, on_start)


def application(desk: Desk, on_fault: Callable[[StoreError], None]) -> Starlette:
    """Return the application: three files, and three addresses that exchange JSON. In the scope, `harvest.person`
    is the person who sent the request. If a decision could not be saved, `on_fault` is called with the reason
    and the file. The page shows only the reason."""
    files = {path: ((Path(__file__).parent / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}
    page, kind = files["/"]
    words = encode_line(desk.words.as_json()).replace(b"<", b"\\u003c")  # nothing in it ends the element
    files["/"] = page.replace(b"{}", words.strip(), 1), kind

    async def file(request: Request) -> Response:
        content, kind = files[request.scope["path"]]
        return Response(content, media_type=f"{kind}; charset=utf-8")

    async def work(request: Request) -> Response:
        return _json(desk.page_state(request.scope["harvest.person"]))

    async def question(request: Request) -> Response:
        try:
            return _json(desk.question(request.path_params["known"]))
        except InvalidRequest as fault:
            return _json({"error": str(fault)}, fault.status)

    async def answers(request: Request) -> Response:
        person = request.scope["harvest.person"]
        try:
            try:
                sent = json.loads(await request.body())
            except (ValueError, RecursionError):
                raise InvalidRequest(400, "the body is not JSON") from None
            if not isinstance(sent, dict):
                raise InvalidRequest(400, "the body is not a JSON object")
            take = desk.take_back if "undo" in sent else desk.decide
            return _json(await take(person, sent))
        except InvalidRequest as fault:
            return _json({"error": str(fault)}, fault.status)
        except StoreError as fault:
            on_fault(fault)
            return _json({"error": f"the decision could not be saved: {describe_fault(fault.fault)[0]}"}, 507)

    return Starlette(
        routes=[
            *(Route(path, file, methods=["GET"]) for path in files),
            Route("/api/work", work, methods=["GET"]),
            Route("/api/questions/{known}", question, methods=["GET"]),
            Route("/api/answers", answers, methods=["POST"]),
        ]
    )


def _json(value: Json, status: int = 200) -> Response:
    # Not Starlette's own: it cannot write halves of surrogate pairs, which a system may have sent.
    return Response(encode_line(value), status, media_type="application/json")
