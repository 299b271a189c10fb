"""Traces of a process where they are set; OpenTelemetry is loaded only then."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mudra.bootstrap.observability.logging import name_traces

if TYPE_CHECKING:
    from mudra.bootstrap.dependencies import Dependencies
    from mudra.bootstrap.observability.tracing import Tracing


def open_tracing(dependencies: Dependencies, process: str) -> Tracing | None:
    """Returns the traces of this process, its statements and log included; None without any."""
    settings = dependencies.settings
    if not settings.otlp_url:
        return None
    from mudra.bootstrap.observability.tracing import Tracing  # noqa: PLC0415  # loads OpenTelemetry

    scheme = urlsplit(settings.issuer).scheme
    tracing = Tracing(
        settings.otlp_url, settings.trace_share, process, scheme, dependencies.clock.machine
    )
    name_traces(tracing.ids)
    dependencies.database.watch_statements(tracing)
    return tracing
