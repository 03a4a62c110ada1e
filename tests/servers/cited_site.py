"""A site whose pages answers cite: some exist, some are gone, and some keep programs away."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROBOTS = "User-agent: *\nDisallow: /private\n"
PAGE = """<html><head><style>p { color: red }</style><script>var hidden = "the mayor resigned at noon today";</script>
</head><body><p>The council met on Monday, and <b>voted</b> to close the bridge — for a year.</p></body></html>"""


@dataclass
class Site:
    """`asked` has path and user agent of each request, and `most` how many were answered at a time."""

    port: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    most: int = 0
    robots: tuple[int, str] = (200, ROBOTS)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@contextmanager
def serving_site() -> Iterator[Site]:
    """A site on this machine, for as long as the context is open."""
    site, now, lock = Site(), [0], threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with lock:
                now[0] += 1
                site.most = max(site.most, now[0])
                site.asked.append((self.path, self.headers.get("User-Agent", "")))
            status, kind, body = {
                "/robots.txt": (site.robots[0], "text/plain", site.robots[1]),
                "/there": (200, "text/html; charset=utf-8", PAGE),
                "/picture": (200, "image/png", "\x89PNG"),
                "/gone": (410, "text/html", "no longer here"),
                "/limit": (429, "text/html", "slow down"),
                "/broken": (500, "text/html", "a fault"),
                "/moved": (301, "text/html", "/there"),
                "/round": (302, "text/html", "/round"),
            }.get(self.path, (404, "text/html", "not found"))
            sent = body.encode("utf-8")
            self.send_response(status)
            if status in (301, 302):
                self.send_header("Location", body)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            with lock:
                now[0] -= 1
            self.wfile.write(sent)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
