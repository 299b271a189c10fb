"""Start a node: database, migrations, keys, processes; and stop it in the reverse order."""

import contextlib
import gc
import importlib
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Final, TextIO

from mudra.bootstrap.config import Settings, unknown_names
from mudra.bootstrap.logging import set_up_logging
from mudra.bootstrap.node_lock import only_node
from mudra.demo.network import Demo
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.crypto.encryption_keys import load_data_encryption
from mudra.storage.database.embedded.server import EmbeddedServer
from mudra.storage.database.migrate import migrate

_NODE: Final = "mudra.bootstrap.node"


@contextlib.contextmanager
def open_database(settings: Settings) -> Iterator[str]:
    """Return the database's address: the one that is set, else the embedded server's."""
    with _open_server(settings) as (conninfo, _):
        yield conninfo


@contextlib.contextmanager
def _open_server(settings: Settings) -> Iterator[tuple[str, Callable[[], None] | None]]:
    """Return the database's address, and what repairs the embedded server when it was killed."""
    if settings.database_url is not None:
        yield settings.database_url.reveal(), None
        return
    server = EmbeddedServer(settings.data_dir)
    try:
        yield server.hold(), server.heal
    finally:
        server.leave()


@contextlib.contextmanager
def open_store(settings: Settings, *, create: bool) -> Iterator[tuple[str, DataEncryption]]:
    """Give the migrated database and its keys at rest; `create` allows a new master key."""
    with open_database(settings) as conninfo:
        yield conninfo, _load_encryption(settings, conninfo, create=create)


def _load_encryption(settings: Settings, conninfo: str, *, create: bool) -> DataEncryption:
    migrate(conninfo)
    settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    return load_data_encryption(conninfo, settings.data_dir, create=create)


def serve(settings: Settings, announce: Callable[[Settings], None], demo: Demo = Demo.NONE) -> int:
    """Run a node until it is stopped; returns the exit code.

    `announce` is called when the node answers, with the settings as they came out
    (a port 0 is replaced by the real one).
    """
    for sentence in unknown_names(os.environ):
        sys.stderr.write(f"warning: {sentence}\n")
    with only_node(settings.data_dir):
        return _serve(settings, announce, demo)


def _serve(settings: Settings, announce: Callable[[Settings], None], demo: Demo) -> int:
    log = _log_stream(settings)
    set_up_logging(settings.log_level, log)
    # Which implementation prometheus-client uses is decided when it is imported.
    figures = settings.data_dir / "telemetry"
    shutil.rmtree(figures, ignore_errors=True)
    figures.mkdir(parents=True, mode=0o700)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(figures.resolve())
    # What is loaded stays, and looking for what does not is an eighth of loading it. The
    # supervisor begins to collect again, once all this is set aside.
    gc.disable()
    # Most of a start is loading code, and the database's start is waiting: side by side.
    loading = threading.Thread(target=importlib.import_module, args=(_NODE,), name="loading")
    loading.start()
    with _open_server(settings) as (conninfo, heal):
        loading.join()
        from mudra.bootstrap.node import run_node  # noqa: PLC0415  # loaded above, or says why not

        encryption = _load_encryption(settings, conninfo, create=True)
        return run_node(settings, conninfo, encryption, announce, demo, heal)


def _log_stream(settings: Settings) -> TextIO:
    if not settings.sandbox:
        return sys.stderr
    # The terminal of the sandbox is for people; the log is a file next to the data.
    settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    return (settings.data_dir / "mudra.log").open("a", encoding="utf-8", buffering=1)
