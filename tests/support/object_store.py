"""A server of S3's and other interfaces of AWS that nobody here wrote (moto), in a process and an environment of its
own."""

from __future__ import annotations

import contextlib
import urllib.request
from collections.abc import Iterator

from tests.servers.environment import python_environment
from tests.servers.leashed import answers, direct, free_port, leashed

__all__ = ["CANARY", "moto_server", "post", "s3_server"]

CANARY = "CANARY5d1e77aa"
"""What its credentials are made of."""


@contextlib.contextmanager
def moto_server() -> Iterator[str]:
    """The URL of a server of AWS's interfaces."""
    port = free_port()
    program = str(python_environment("moto") / "bin" / "moto_server")
    url = f"http://127.0.0.1:{port}"
    with leashed([program, "-H", "127.0.0.1", "-p", str(port)]) as running:
        running.wait_for(lambda: answers(f"{url}/moto-api/data.json"))
        yield url


def post(url: str, content: bytes = b"", method: str = "POST", **headers: str) -> str:
    """What the server answers to a request, without a proxy."""
    with direct().open(urllib.request.Request(url, content, headers, method=method), timeout=30) as response:
        return str(response.read().decode())


@contextlib.contextmanager
def s3_server(bucket: str) -> Iterator[dict[str, str]]:
    """The environment variables by which a server with an empty bucket is reached."""
    with moto_server() as url:
        post(f"{url}/{bucket}", method="PUT")
        yield {
            "AWS_ENDPOINT_URL": url,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": f"{CANARY}ID",
            "AWS_SECRET_ACCESS_KEY": f"{CANARY}KEY",
            "NO_PROXY": "127.0.0.1",
        }
