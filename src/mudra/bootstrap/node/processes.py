"""The processes of a node, once the database is there."""

import asyncio
import os
import select
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import msgspec
import psycopg
import structlog

from mudra.bootstrap.dependencies import build_dependencies
from mudra.bootstrap.node.cannot_listen import CannotListen
from mudra.bootstrap.node.heartbeat import Report
from mudra.bootstrap.node.of_systemd import OfSystemd
from mudra.bootstrap.node.parent_watch import on_parent_exit
from mudra.bootstrap.node.supervisor import STOP_S, Body, Supervisor, listeners
from mudra.bootstrap.node.worker import run_worker
from mudra.bootstrap.observability.telemetry import (
    BUILD_INFO,
    ISSUES_LOST,
    RESTARTS,
    forget_process,
    serve_metrics,
)
from mudra.bootstrap.routes import build_ahead
from mudra.bootstrap.separate_process.process_apart import forget_settings
from mudra.bootstrap.separate_process.submission_check import SubmissionChecker
from mudra.demo.network import Demo
from mudra.demo.set_up import set_up_demo
from mudra.jobs.key_rotation import maintain_keys
from mudra.jobs.telemetry import count_from_zero
from mudra.mail.mail_server import mail_server
from mudra.registry.directory.directory_log_store import keep_visibility
from mudra.settings.settings import Settings
from mudra.shared.build_version import version
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.embedded.programs import EmbeddedServerError
from mudra.storage.database.migrate import HEAD
from mudra.storage.database.server_version import server_version

DEFAULT_TELEMETRY_PORT: Final = 9464
NICE: Final = 10
_HEAL_EVERY_S: Final = 2.0
_log = structlog.get_logger()


def run_node(
    settings: Settings,
    conninfo: str,
    encryption: DataEncryption,
    announce: Callable[[Settings], None],
    demo: Demo,
    heal: Callable[[], None] | None,
    given: OfSystemd,
) -> int:
    """Run workers and jobs until stopped; returns the exit code."""
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
    supervisor = Supervisor(
        settings.pause_s + STOP_S,
        sockets,
        on_restart=lambda *of: RESTARTS.labels(*of).inc(),
        on_end=partial(forget_process, settings.telemetry_dir),
        before_serving=partial(build_ahead, settings),
        notifier=given.notifier,
    )
    for number, listener in enumerate(sockets):
        serving = _worker(settings, conninfo, encryption, listener, sockets)
        supervisor.add(f"worker-{number}", serving, serves=True)
    supervisor.add("jobs", _without(sockets, _jobs(settings, conninfo, encryption)))
    if heal is not None:
        supervisor.add("database", _without(sockets, _watch_database(heal)), last=True)
    if demo is Demo.ALIVE:
        supervisor.add("demo", _without(sockets, _demo_agents(settings, conninfo, encryption)))

    count_from_zero(ISSUES_LOST, ("issued", "refused"))
    count_from_zero(RESTARTS, [child.name for child in supervisor.children], ("died", "hung"))

    def on_ready() -> None:
        announce(replace(settings, telemetry_port=_figures(settings)))
        given.notifier.ready(f"{settings.host}:{settings.port}")

    return supervisor.run(on_ready)


def _check_texts(settings: Settings, conninfo: str, encryption: DataEncryption) -> None:
    """Find a catalogue, an email template or a URL that cannot be read now, not at night."""
    dependencies = build_dependencies(settings, conninfo, encryption)
    dependencies.languages.check()
    dependencies.writer.check()
    if settings.smtp_url is not None:
        mail_server(settings.smtp_url, settings.mail_from, settings.network_name)


def _without(sockets: Sequence[socket.socket], body: Body) -> Body:
    """Close in a child what it does not serve: connections to it would get no response."""

    def closing(parent_pipe: int, report: Report) -> None:
        for listener in sockets:
            listener.close()
        body(parent_pipe, report)

    return closing


def _worker(
    settings: Settings,
    conninfo: str,
    encryption: DataEncryption,
    listener: socket.socket,
    sockets: Sequence[socket.socket],
) -> Body:
    def serving(parent_pipe: int, report: Report) -> None:
        forget_settings()
        checker = SubmissionChecker()
        dependencies = msgspec.structs.replace(
            build_dependencies(settings, conninfo, encryption),
            check_submission=checker.check,
            prepare_check=checker.prepare,
        )
        run_worker(dependencies, listener, parent_pipe, report)

    return _without([other for other in sockets if other is not listener], serving)


def _jobs(settings: Settings, conninfo: str, encryption: DataEncryption) -> Body:
    def body(parent_pipe: int, report: Report) -> None:
        # Loaded here, during the workers' own last steps: no request waits for a job.
        from mudra.bootstrap.node.jobs_process import run_jobs_process  # noqa: PLC0415

        run_jobs_process(build_dependencies(settings, conninfo, encryption), parent_pipe, report)

    return body


def _watch_database(heal: Callable[[], None]) -> Body:
    """Repair the embedded server where even the process that watches it was killed."""

    def body(parent_pipe: int, report: Report) -> None:
        report()
        while not select.select([parent_pipe], [], [], _HEAL_EVERY_S)[0]:
            try:
                heal()
            except EmbeddedServerError as error:
                _log.error("the embedded PostgreSQL cannot be started", error=str(error))

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


def _figures(settings: Settings) -> int:
    """Serve /metrics from the supervisor, on a free port when the default one is taken."""
    wanted = settings.telemetry_port
    try:
        server, _ = serve_metrics(
            settings.telemetry_host,
            DEFAULT_TELEMETRY_PORT if wanted is None else wanted,
            settings.telemetry_dir,
        )
    except OSError as error:
        if wanted is not None:
            raise CannotListen(
                f"MUDRA_TELEMETRY_PORT {wanted} cannot be had: {error.strerror}; choose another"
            ) from error
        server, _ = serve_metrics(settings.telemetry_host, 0, settings.telemetry_dir)
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
