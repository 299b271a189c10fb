"""One process that serves HTTP on its own socket."""

import asyncio
import socket
import sys
from random import random
from time import monotonic, thread_time

import uvicorn
import uvloop

from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.node.free_memory import allocate_apart, give_back_regularly
from mudra.bootstrap.node.graceful_stop import StoppingServer, pulse
from mudra.bootstrap.node.heartbeat import Report
from mudra.bootstrap.node.parent_watch import on_parent_exit
from mudra.bootstrap.observability.logging import (
    RequestLine,
    RequestLog,
    level_of,
    shown_path,
)
from mudra.bootstrap.observability.loop_watch import LoopWatch, RequestMetrics
from mudra.bootstrap.observability.open_tracing import open_tracing
from mudra.bootstrap.routes import application
from mudra.bootstrap.wiring import open_http_edge
from mudra.http.app import build_fast_path
from mudra.http.server.fast_path_protocol import fast_path_protocol
from mudra.http.server.instrumentation import ObserveRequest, instrumented, instrumented_fast_path
from mudra.server_protocol.connection_limits import ConnectionLimits
from mudra.shared.clock import Clock
from mudra.shared.garbage import set_aside_what_is_loaded

_GRACE_S = 30
_LOCK_S = 0.0005
"""Seconds after which a thread that makes a page lets the loop go on, where it waits. Python's own
are ten times as many, at every round: a token next to four such threads took two rounds of 5 ms,
`/readyz` some twenty. A change of threads costs a few microseconds."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})


def run_worker(
    dependencies: Dependencies, listener: socket.socket, parent_pipe: int, report: Report
) -> None:
    """Serve until stopped, or until the supervisor is gone."""
    allocate_apart()
    sys.setswitchinterval(_LOCK_S)
    uvloop.run(_serve(dependencies, listener, parent_pipe, report))


async def _serve(
    dependencies: Dependencies, listener: socket.socket, parent_pipe: int, report: Report
) -> None:
    edge = open_http_edge(dependencies)
    await edge.start()
    log = RequestLog()
    figures = RequestMetrics(dependencies.clock_watch, dependencies.invalidation.without_database)
    observe = _observer(log, figures, dependencies.clock)
    tracing = open_tracing(dependencies, "worker")
    if tracing is not None:
        observe = tracing.observing(observe)
    app = instrumented(application(edge), observe)
    if tracing is not None:
        app = tracing.traced(app)
    prompt = instrumented_fast_path(build_fast_path(edge.http), observe)
    watch = LoopWatch(monotonic, thread_time, random)
    limits = ConnectionLimits(proxies=dependencies.settings.proxies)
    server = StoppingServer(
        uvicorn.Config(
            app,
            http=fast_path_protocol(
                limits, dependencies.clock, prompt, lambda: edge.node.stopping, watch.arrived
            ),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # server_protocol/client_address.py decides whom to believe
            timeout_graceful_shutdown=_GRACE_S,
            timeout_keep_alive=int(limits.idle_s),
        ),
        report,
        edge.node,
        dependencies.settings.pause_s,
    )
    on_parent_exit(parent_pipe, server.stop)
    pulsing = asyncio.create_task(pulse(server, report.beat, log, figures, watch), name="pulse")
    giving_back = asyncio.create_task(give_back_regularly(), name="give-back")
    set_aside_what_is_loaded()
    try:
        await server.serve(sockets=[listener])
    finally:
        pulsing.cancel()
        giving_back.cancel()
        log.flush()
        figures.flush()
        watch.flush()
        try:
            await edge.stop()
        finally:
            if tracing is not None:
                tracing.close()


def _observer(log: RequestLog, figures: RequestMetrics, clock: Clock) -> ObserveRequest:
    def observe(  # the shape of http/server/instrumentation.py
        method: str,
        path: str,
        route: str,
        status: int,
        seconds: float,
        address: str,
        txn_id: str,
    ) -> None:
        known = method if method in _METHODS else "(other)"
        figures.note(route or "(none)", known, status, seconds)
        log.note(
            RequestLine(
                clock(),
                level_of(path, status),
                "request",
                method,
                shown_path(path),
                status,
                round(seconds * 1000, 2),
                address,
                txn_id,
            )
        )

    return observe
