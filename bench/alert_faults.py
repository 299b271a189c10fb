"""Parts of the drill of alerts: places where something can be broken, and the faults."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

GOAL_S: Final = 120.0


class Place(Struct, frozen=True, kw_only=True):
    """A running service that is scraped, and asked for tokens."""

    folder: Path
    port: int
    telemetry: int
    entity_id: str = "NO-FIU"
    secret: str = "x"  # of no one


P = TypeVar("P", bound=Place)


class Fault(Struct, Generic[P], frozen=True):
    """Something that breaks some alerts for the length of a block; its end is the repair."""

    alerts: tuple[str, ...]
    how: str
    made: Callable[[P], AbstractContextManager[None]]
    goal_s: float = GOAL_S
    """More than two minutes where the rule itself waits longer before it fires."""


class Scene(Struct, Generic[P], frozen=True):
    """A place, and what is broken in it, one after the other."""

    opened: Callable[[Path], AbstractContextManager[P]]
    faults: tuple[Fault[P], ...]


AnyScene = Scene[Any]


@contextlib.contextmanager
def again_and_again(act: Callable[[], None], every_s: float = 0.5) -> Iterator[None]:
    """Do it every half second until the end of the block."""
    over = threading.Event()

    def repeat() -> None:
        act()
        while not over.wait(every_s):
            act()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(60)


class Other:
    """A server of others: it listens, but while it is away."""

    def __init__(self, opened: Callable[[], AbstractContextManager[None]]) -> None:
        self._opened = opened
        self._held = contextlib.ExitStack()

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Listen until the end of the block."""
        self._held.enter_context(self._opened())
        try:
            yield
        finally:
            self._held.close()

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Listen again at the end of the block."""
        self._held.close()
        try:
            yield
        finally:
            self._held.enter_context(self._opened())


@contextlib.contextmanager
def receiver(port: int) -> Iterator[None]:
    """Take every POST at a port: a webhook that answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def output_kept(output: Any, log: Path) -> Iterator[None]:
    """Move a service's output to a file until it ends: a full pipe would stop the service."""
    own = os.dup(output.fileno())  # the other one is closed while this one is read

    def move() -> None:
        with os.fdopen(own, "rb", buffering=0) as source, log.open("wb") as file:
            while piece := source.read(1 << 16):
                file.write(piece)
                file.flush()

    threading.Thread(target=move, daemon=True).start()
    yield
