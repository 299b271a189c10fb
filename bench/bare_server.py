"""A server that signs and does nothing else: the peer that `bench/entity_token` compares with.

Bare ASGI on uvicorn, the key in memory, no form read, no secret checked, nothing noted. What
it reaches of the machine's signatures is the most that any server on this stack can reach here.
"""

import contextlib
import functools
import multiprocessing
import secrets
import socket
from collections.abc import Iterator

import uvicorn
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, Scope

from bench.sizes import SHORT

_BODY = b"t" * 1100
"""As long as an answer with an Entity Access Token."""


@contextlib.contextmanager
def bare_server(workers: int) -> Iterator[tuple[int, list[int]]]:
    """Give port and process IDs of a running server, a process for each worker."""
    with contextlib.ExitStack() as held:
        first = held.enter_context(_listener(0))
        port: int = first.getsockname()[1]
        sockets = [first, *(held.enter_context(_listener(port)) for _ in range(workers - 1))]
        # In a run of the smallest size nothing is measured that memory of the parent could blur.
        context = multiprocessing.get_context
        start = context("fork").Process if SHORT else context("spawn").Process
        processes = [start(target=_serve, args=(one,)) for one in sockets]
        for process in processes:
            process.start()
        try:
            yield port, [process.pid for process in processes if process.pid is not None]
        finally:
            for process in processes:
                process.terminate()
                process.join()


@functools.cache
def signing_key() -> rsa.RSAPrivateKey:
    """The key of this process; one that it is forked from may have made it."""
    return rsa.generate_private_key(65537, 2048)


def _listener(port: int) -> socket.socket:
    """A socket of its own for each process: shared, one process would take all connections."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener


def _serve(listener: socket.socket) -> None:
    key = signing_key()
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
