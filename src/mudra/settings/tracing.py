"""Settings of traces."""

from dataclasses import dataclass
from importlib.util import find_spec

from mudra import DISTRIBUTION
from mudra.settings import parse
from mudra.settings.setting import setting


@dataclass(frozen=True, kw_only=True)
class TracingSettings:
    """Where traces are sent, and how many."""

    # fmt: off
    otlp_url: str = setting("OTLP_URL", "", parse.url, "an http or https URL",
        "OpenTelemetry collector that takes traces (OTLP over HTTP); /v1/traces is added. None "
        "are made when not set")
    trace_share: float = setting("TRACE_SHARE", 1.0, parse.share, "0 to 1",
        "share of requests and jobs that are traced")
    # fmt: on


def tracing_fault(settings: TracingSettings) -> str:
    """Return why no traces can be made although they are asked for; empty when they can."""
    if settings.otlp_url and find_spec("opentelemetry.sdk") is None:
        return f"MUDRA_OTLP_URL needs more packages: pip install '{DISTRIBUTION}[server,tracing]'"
    return ""
