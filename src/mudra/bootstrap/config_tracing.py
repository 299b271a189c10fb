"""Settings of traces."""

from dataclasses import dataclass
from importlib.util import find_spec

from mudra import DISTRIBUTION
from mudra.bootstrap.config_sign_in import SignInSettings
from mudra.bootstrap.setting import setting as _setting
from mudra.bootstrap.setting_parsers import share as _share
from mudra.bootstrap.setting_parsers import url as _url


@dataclass(frozen=True, slots=True, kw_only=True)
class TracingSettings(SignInSettings):
    """What a node's traces read; `Settings` adds the rest."""

    otlp_url: str = _setting(
        "OTLP_URL", "", _url, "an http or https URL",
        "OpenTelemetry collector that takes traces (OTLP over HTTP); /v1/traces is added. None are "
        "made when not set",
    )  # fmt: skip
    trace_share: float = _setting(
        "TRACE_SHARE", 1.0, _share, "0 to 1", "share of requests and jobs that are traced"
    )


def tracing_fault(settings: TracingSettings) -> str:
    """Return why no traces can be made although they are asked for; empty when they can."""
    if settings.otlp_url and find_spec("opentelemetry.sdk") is None:
        return f"MUDRA_OTLP_URL needs more packages: pip install '{DISTRIBUTION}[server,tracing]'"
    return ""
