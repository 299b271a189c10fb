"""A server that signs and does nothing else: the peer that `bench/entity_token` compares with.

Bare ASGI on uvicorn, the key in memory, no form read, no secret checked, nothing noted. What
it reaches of the machine's signatures is the most that any server on this stack can reach here.
"""

import contextlib
import multiprocessing
import secrets
import socket
import urllib.request
from collections.abc import Iterator

import uvicorn
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, Scope

_BODY = b"t" * 1100
"""As long as an answer with an Entity Access Token."""


@contextlib.contextmanager
def bare_server() -> Iterator[tuple[int, int]]:
    """Give port and process ID of a running server."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        port: int = listener.getsockname()[1]
        process = multiprocessing.get_context("spawn").Process(target=_serve, args=(listener,))
        process.start()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as answer:
                assert answer.status == 200
            assert process.pid is not None
            yield port, process.pid
        finally:
            process.terminate()
            process.join()


def _serve(listener: socket.socket) -> None:
    key = rsa.generate_private_key(65537, 2048)
    message = secrets.token_bytes(600)

    async def app(_: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await receive()
        key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(_BODY)).encode()),
        ]
        await send(
            {"type": "http.response.start", "status": 200, "headers": headers, "trailers": False}
        )
        await send({"type": "http.response.body", "body": _BODY, "more_body": False})

    config = uvicorn.Config(
        app, loop="uvloop", http="httptools", ws="none", lifespan="off",
        log_config=None, access_log=False,
    )  # fmt: skip  # what a service of this stack sets
    uvicorn.Server(config).run(sockets=[listener])
