"""Start a node: database, migrations, keys, processes; and stop it in the reverse order."""

import contextlib
import gc
import importlib
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TextIO

import psycopg
import structlog
from setproctitle import setproctitle

from mudra.bootstrap.config import unknown_names
from mudra.bootstrap.data_directory import using
from mudra.bootstrap.node.node_lock import only_node
from mudra.bootstrap.node.of_systemd import OfSystemd, take_from
from mudra.bootstrap.observability.logging import set_up_logging
from mudra.bootstrap.observability.shared_metrics import SharedMetrics, use_places
from mudra.demo.network import Demo
from mudra.settings.settings import Settings
from mudra.shared.build_version import version
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.crypto.encryption_keys import data_encryption_of
from mudra.storage.database.connection_name import name_connections
from mudra.storage.database.embedded.server import EmbeddedServer
from mudra.storage.database.primary import of_primary
from mudra.storage.database.schema.migrate import HEAD, for_schema, migrate, revisions
from mudra.storage.database.schema.roles import (
    SERVICE,
    as_role,
    excess_rights,
    grant,
    is_granted,
    make_roles,
    role_of,
)

_log = structlog.get_logger()
_NODE: Final = "mudra.bootstrap.node.processes"
TITLE: Final = "mudra serve: {}"
"""Of a process of a node, in `ps`."""
_WORD: Final = re.compile("[a-z][a-z-]*")
"""Of a command: no option, and no ID of an entity."""


@contextlib.contextmanager
def open_server(settings: Settings) -> Iterator[tuple[str, EmbeddedServer | None]]:
    """Returns the database's address, and the embedded server where that is the database.

    The address is the embedded server's owner's, else the one that is set. Connections are named
    by the command that this process runs.
    """
    name_connections(" ".join(word for word in sys.argv[1:3] if _WORD.fullmatch(word)))
    if settings.database_url is not None:
        yield of_primary(settings.database_url.reveal()), None
        return
    server = EmbeddedServer(settings.data_dir, secured=True)
    try:
        yield server.hold(), server
    finally:
        server.leave()


def owner_of(settings: Settings, found: str) -> str:
    """Return the address of the role that owns the schema; `found` is that of `open_server`."""
    own = settings.database_owner_url
    return of_primary(own.reveal()) if settings.database_url is not None and own else found


def _prepared(settings: Settings, conninfo: str) -> str:
    """Bring schema and rights up to date; returns the address that the service uses.

    An own database whose owner is not named is used by one role for everything, or was prepared
    by `mudra database prepare`.
    """
    folder = None
    if settings.database_url is None:
        owner, service = conninfo, as_role(conninfo, SERVICE)
        folder = settings.data_dir
    elif settings.database_owner_url is not None:
        owner, service = of_primary(settings.database_owner_url.reveal()), conninfo
    else:
        direct = settings.database_direct_url
        migrate(of_primary(direct.reveal()) if direct else conninfo)
        return conninfo
    if not _is_up_to_date(owner, role_of(service).name):
        migrate(owner, folder)
        grant(owner, role_of(service).name)
    return service


def _is_up_to_date(owner: str, service: str) -> bool:
    """Return whether schema and rights fit this release: one connection says both."""
    with for_schema(owner) as connection:
        return revisions(connection).present == HEAD and is_granted(connection, service)


def prepare_database(settings: Settings) -> Sequence[str]:
    """Make roles, schema and rights; returns what the service's role may do beyond its needs.

    Raises AdminTooWeak when the address that is to make the roles is not a superuser's.
    """
    admin, owner = settings.database_admin_url, settings.database_owner_url
    with open_server(settings) as (conninfo, _):
        if settings.database_url is not None and admin is not None and owner is not None:
            make_roles(of_primary(admin.reveal()), role_of(owner.reveal()), role_of(conninfo))
        with psycopg.connect(_prepared(settings, conninfo), connect_timeout=5) as connection:
            return excess_rights(connection)


@contextlib.contextmanager
def open_store(settings: Settings, *, create: bool) -> Iterator[tuple[str, DataEncryption]]:
    """Give the migrated database and its keys at rest; `create` allows a new master key."""
    with open_server(settings) as (found, _):
        conninfo = _prepared(settings, found)
        with psycopg.connect(conninfo, connect_timeout=5) as connection:
            encryption = _load_encryption(settings, connection, create=create)
        yield conninfo, encryption


def _load_encryption(
    settings: Settings, connection: psycopg.Connection[tuple[object, ...]], *, create: bool
) -> DataEncryption:
    with using(settings.data_dir):
        pass
    return data_encryption_of(connection, settings.data_dir, create=create)


def serve(settings: Settings, announce: Callable[[Settings], None], demo: Demo = Demo.NONE) -> int:
    """Run a node until it is stopped; returns the exit code.

    Raises CommandFailed for a database whose restore was not finished.
    `announce` is called when the node answers, with the settings as they came out
    (a port 0 is replaced by the real one).
    """
    # Before the environment changes: the library finds its place next to it.
    setproctitle(TITLE.format("supervisor"))
    for sentence in unknown_names(os.environ):
        sys.stderr.write(f"warning: {sentence}\n")
    # First of all: what is started from here on must not take them for its own.
    given = take_from(os.environ)
    settings = given.applied_to(settings)
    with only_node(settings.data_dir):
        return _serve(settings, announce, demo, given)


def _serve(
    settings: Settings, announce: Callable[[Settings], None], demo: Demo, given: OfSystemd
) -> int:
    figures = settings.telemetry_dir
    with using(settings.data_dir):
        set_up_logging(settings.log_level, _log_stream(settings))
        given.notifier.starting()
        shutil.rmtree(figures, ignore_errors=True)
        figures.mkdir(parents=True, mode=0o700)
        metrics = SharedMetrics(figures)
    # What is loaded stays, and looking for what does not is an eighth of loading it. The
    # supervisor begins to collect again, once all this is set aside.
    gc.disable()
    # Most of a start is loading code, and the database's start is waiting: side by side.
    loading = threading.Thread(target=_load, name="loading")
    loading.start()
    try:
        with open_server(settings) as (found, server):
            conninfo = _prepared(settings, found)
            # Next to the thread, which loads most of it too.
            from mudra.bootstrap.backup.place import refuse_unfinished  # noqa: PLC0415  # see above
            from mudra.overview.restored_store import contents_of  # noqa: PLC0415  # see above

            with psycopg.connect(conninfo, connect_timeout=5) as connection:
                contents = contents_of(connection)
                refuse_unfinished(contents)
                encryption = _load_encryption(settings, connection, create=True)
            loading.join()
            from mudra.bootstrap.node.processes import Opened, run_node  # noqa: PLC0415  # loaded above, or says why not

            opened = Opened(conninfo, encryption, server, metrics)
            if contents.is_rehearsal:
                _log.warning("a rehearsal of a restore: this node sends nothing to anyone")
                settings = replace(settings, rehearsal=True)
            return run_node(settings, opened, announce, demo, given)
    finally:
        loading.join()  # else it goes on loading in a process that ends, and complains


def _load() -> None:
    use_places()
    importlib.import_module(_NODE)
    version()  # kept from here on: a checkout asks git


def _log_stream(settings: Settings) -> TextIO:
    if not settings.sandbox:
        return sys.stderr
    # The terminal of the sandbox is for people; the log is a file next to the data.
    return (settings.data_dir / "mudra.log").open("a", encoding="utf-8", buffering=1)
