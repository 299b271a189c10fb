"""The processes of a node, once the database is there."""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

import psycopg
import structlog
from setproctitle import setproctitle

from mudra.bootstrap.dependencies import build_dependencies
from mudra.bootstrap.node.cannot_listen import CannotListen
from mudra.bootstrap.node.heartbeat import Report
from mudra.bootstrap.node.of_systemd import OfSystemd
from mudra.bootstrap.node.parent_watch import on_parent_exit
from mudra.bootstrap.node.serve import TITLE
from mudra.bootstrap.node.supervisor import DATABASE, STOP_S, Body, Supervisor, listeners
from mudra.bootstrap.node.worker import run_worker
from mudra.bootstrap.observability.node_figures import NodeFigures
from mudra.bootstrap.observability.shared_metrics import SharedMetrics
from mudra.bootstrap.observability.telemetry import BUILD_INFO, ISSUES_LOST, RESTARTS, serve_metrics
from mudra.bootstrap.routes import build_ahead
from mudra.bootstrap.separate_process.process_apart import forget_settings
from mudra.bootstrap.separate_process.submission_check import SubmissionChecker
from mudra.bootstrap.watching.readiness_board import ReadinessBoard
from mudra.demo.network import Demo
from mudra.demo.set_up import set_up_demo
from mudra.jobs.key_rotation import maintain_keys
from mudra.jobs.network_figures import forget_figures
from mudra.jobs.telemetry import count_from_zero
from mudra.mail.mail_server import mail_server
from mudra.registry.directory.directory_log_store import keep_visibility
from mudra.settings.settings import Settings
from mudra.shared.build_version import version
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.connection_name import name_connections
from mudra.storage.database.embedded.programs import EmbeddedServerError
from mudra.storage.database.embedded.server import EmbeddedServer
from mudra.storage.database.schema.migrate import HEAD
from mudra.storage.database.server.server_version import server_version

DEFAULT_TELEMETRY_PORT: Final = 9464
NICE: Final = 10
_log = structlog.get_logger()


class Opened(NamedTuple):
    """The parts that a node has opened before its first process."""

    conninfo: str
    encryption: DataEncryption
    database: EmbeddedServer | None
    metrics: SharedMetrics


def run_node(
    settings: Settings,
    opened: Opened,
    announce: Callable[[Settings], None],
    demo: Demo,
    given: OfSystemd,
) -> int:
    """Run workers and jobs until stopped; returns the exit code."""
    conninfo, encryption, database, metrics = opened
    _check_texts(settings, conninfo, encryption)
    if settings.one_operator_decides and not settings.sandbox:
        _log.warning(
            "one operator alone can change a member's key: MUDRA_REGISTRY_ONE_OPERATOR is true"
        )
    sockets = given.listeners(settings.workers) or listeners(
        settings.host, settings.port, settings.workers
    )
    settings = replace(settings, port=sockets[0].getsockname()[1])
    _say_which_build(_record(conninfo, settings))
    asyncio.run(_prepare(settings, conninfo, encryption, demo))

    def forget(name: str, pid: int) -> None:
        metrics.forget(name)
        forget_figures(settings.telemetry_dir, pid)

    supervisor = Supervisor(
        settings.pause_s + STOP_S,
        sockets,
        on_restart=lambda *of: RESTARTS.labels(*of).inc(),
        on_end=forget,
        restart_database=partial(_restart, database),
        before_serving=partial(build_ahead, settings),
        notifier=given.notifier,
    )
    board = ReadinessBoard()
    figures = NodeFigures(supervisor.processes, board.read)
    supervisor.on_check = figures.checked
    inherited = _Inherited(sockets, database, metrics)
    for number, listener in enumerate(sockets[: settings.workers]):
        serving = _worker(settings, conninfo, encryption, listener)
        inherited.add_to(supervisor, f"worker-{number}", serving, listener)
    inherited.add_to(supervisor, "jobs", _jobs(settings, conninfo, encryption, board))
    if demo is Demo.ALIVE:
        inherited.add_to(supervisor, "demo", _demo_agents(settings, conninfo, encryption))

    count_from_zero(ISSUES_LOST, ("issued", "refused"))
    processes = [child.name for child in supervisor.children]
    count_from_zero(RESTARTS, [*processes, *([DATABASE] if database else ())], ("died", "hung"))

    def on_ready() -> None:
        announce(replace(settings, telemetry_port=_figures(settings, figures)))
        given.notifier.ready(f"{settings.host}:{settings.port}")

    return supervisor.run(on_ready)


def _check_texts(settings: Settings, conninfo: str, encryption: DataEncryption) -> None:
    """Find a catalogue, an email template or a URL that cannot be read now, not at night."""
    dependencies = build_dependencies(settings, conninfo, encryption)
    dependencies.languages.check()
    dependencies.writer.check()
    if settings.smtp_url is not None:
        mail_server(settings.smtp_url, settings.mail_from, settings.network_name)


@dataclass(frozen=True)
class _Inherited:
    """The parts that the supervisor opened, and each child has as well."""

    sockets: Sequence[socket.socket]
    database: EmbeddedServer | None
    metrics: SharedMetrics

    def add_to(
        self, supervisor: Supervisor, name: str, body: Body, served: socket.socket | None = None
    ) -> None:
        """Adds a child that keeps of it only what it needs; `ps` and PostgreSQL show its name.

        A socket that it does not serve is closed: connections to it would get no response. It
        holds the database itself: the last child of a supervisor that was killed stops it.
        """
        self.metrics.add([name])

        def alone(parent_pipe: int, report: Report) -> None:
            setproctitle(TITLE.format(name))
            name_connections(name)
            for listener in self.sockets:
                if listener is not served:
                    listener.close()
            self.metrics.become(name)
            if self.database is None:
                body(parent_pipe, report)
                return
            self.database.hold_in_child()
            try:
                body(parent_pipe, report)
            finally:
                self.database.leave()

        supervisor.add(name, alone, serves=served is not None)


def _restart(database: EmbeddedServer | None) -> bool:
    """Starts the embedded PostgreSQL where it has died; returns whether it did."""
    try:
        restarted = database is not None and database.restart()
    except EmbeddedServerError as error:
        _log.error("the embedded PostgreSQL cannot be started", error=str(error))
        return False
    if restarted:
        _log.error("process died, starting it again", name=DATABASE)
    return restarted


def _worker(
    settings: Settings,
    conninfo: str,
    encryption: DataEncryption,
    listener: socket.socket,
) -> Body:
    def serving(parent_pipe: int, report: Report) -> None:
        forget_settings()
        dependencies = build_dependencies(
            settings, conninfo, encryption, checker=SubmissionChecker()
        )
        run_worker(dependencies, listener, parent_pipe, report)

    return serving


def _jobs(
    settings: Settings, conninfo: str, encryption: DataEncryption, board: ReadinessBoard
) -> Body:
    def body(parent_pipe: int, report: Report) -> None:
        # Loaded here, during the workers' own last steps: no request waits for a job.
        from mudra.bootstrap.node.jobs_process import run_jobs_process  # noqa: PLC0415  # see above

        dependencies = build_dependencies(settings, conninfo, encryption)
        run_jobs_process(dependencies, parent_pipe, report, board)

    return body


def _demo_agents(settings: Settings, conninfo: str, encryption: DataEncryption) -> Body:
    def body(parent_pipe: int, report: Report) -> None:
        # The service comes first: what follows may use only time that it leaves.
        os.nice(NICE)
        report()
        from mudra.demo.live import live  # noqa: PLC0415  # loads the whole agent

        live(
            build_dependencies(settings, conninfo, encryption), partial(on_parent_exit, parent_pipe)
        )

    return body


async def _prepare(
    settings: Settings, conninfo: str, encryption: DataEncryption, demo: Demo
) -> None:
    """Make the first signing keys, and the demonstration network when asked to."""
    dependencies = build_dependencies(settings, conninfo, encryption)
    if settings.sandbox:
        await dependencies.time_machine.load()
    await maintain_keys(dependencies.transaction)
    await keep_visibility(dependencies.database, opened=settings.registry_open)
    if demo is not Demo.NONE:
        await set_up_demo(dependencies)
    await dependencies.invalidation.stop()
    await dependencies.close()


def _figures(settings: Settings, figures: NodeFigures) -> int:
    """Serve /metrics from the supervisor, on a free port when the default one is taken."""
    wanted = settings.telemetry_port
    try:
        server, _ = serve_metrics(
            settings.telemetry_host,
            DEFAULT_TELEMETRY_PORT if wanted is None else wanted,
            settings.telemetry_dir,
            figures,
        )
    except OSError as error:
        if wanted is not None:
            raise CannotListen(
                f"MUDRA_TELEMETRY_PORT {wanted} cannot be had: {error.strerror}; choose another"
            ) from error
        server, _ = serve_metrics(settings.telemetry_host, 0, settings.telemetry_dir, figures)
    return server.server_port


def _record(conninfo: str, settings: Settings) -> str:
    """Keep what commands next to the service need to write the same links and decide alike.

    Returns the version of PostgreSQL, which a server says when one connects.
    """
    alone = "true" if settings.one_operator_decides else "false"
    with psycopg.connect(conninfo, connect_timeout=5) as connection:
        connection.execute(
            "INSERT INTO service_fact (name, value)"
            " VALUES ('base-url', %s), ('registry-one-operator', %s)"
            " ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value",
            [settings.issuer, alone],
        )
        return server_version(connection)


def _say_which_build(postgresql: str) -> None:
    build = {"version": version(), "schema": HEAD, "postgresql": postgresql}
    _log.info("node starts", **build)
    BUILD_INFO.labels(**build).set(1)
