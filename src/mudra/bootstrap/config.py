"""Builds the settings: every value is checked at start.

A setting comes from the command line, else from the environment, else from its
default. `REFERENCE` lists them all; the reference page and `mudra config` are
made from it.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Final, cast
from urllib.parse import urlsplit

from mudra.overview.administration import Source
from mudra.settings.setting import Setting
from mudra.settings.settings import Settings
from mudra.settings.sign_in import sign_in_fault
from mudra.settings.storage import storage_fault
from mudra.settings.tracing import tracing_fault
from mudra.shared.network_address import is_loopback
from mudra.shared.secret_text import SecretFileFault, secret_variable


class ConfigError(Exception):
    """A setting is wrong: the text names it, what is allowed and where it came from."""


REFERENCE: Final[Mapping[str, Setting]] = {
    f.name: cast("Setting", f.metadata["setting"]) for f in fields(Settings) if f.metadata
}


def load_settings(
    environment: Mapping[str, str], overrides: Mapping[str, object] | None = None
) -> Settings:
    """Build the settings from the environment, with command-line values on top.

    Raises ConfigError with one clear line for the first wrong value.
    """
    values: dict[str, object] = {}
    for name, setting in REFERENCE.items():
        raw = _given(environment, setting)
        if not raw:
            continue
        try:
            values[name] = setting.parse(raw)
        except (ValueError, KeyError):
            shown = "the value given" if setting.secret else repr(raw[:80])
            raise ConfigError(f"{setting.env} must be {setting.allowed}, not {shown}") from None
    given = {k: v for k, v in (overrides or {}).items() if v is not None}
    sources = dict.fromkeys(values, Source.ENVIRONMENT) | dict.fromkeys(given, Source.COMMAND_LINE)
    values.update(given, sources=sources)
    settings = Settings(**values)  # type: ignore[arg-type]  # each value came from its own parser
    check_together(settings)
    return settings


def _given(environment: Mapping[str, str], setting: Setting) -> str:
    if not setting.secret:
        return environment.get(setting.env, "")
    try:
        return secret_variable(environment, setting.env)
    except SecretFileFault as fault:
        raise ConfigError(str(fault)) from None


def check_together(settings: Settings) -> None:
    """Raise ConfigError for settings that do not fit each other."""
    fault = sign_in_fault(settings) or tracing_fault(settings) or storage_fault(settings)
    if fault:
        raise ConfigError(fault)
    if settings.sandbox and not is_loopback(settings.host):
        raise ConfigError(
            f"MUDRA_HOST must be a loopback address in the sandbox, not {settings.host!r}: "
            "its mailbox and time machine are open to anyone who can reach it"
        )
    public = urlsplit(settings.issuer)
    if (
        public.scheme == "http"
        and not is_loopback(public.hostname or "")
        and not settings.plain_http
    ):
        raise ConfigError(
            f"MUDRA_BASE_URL must be https for other machines, not {settings.issuer}: passwords, "
            "secrets and tokens could be read on the way; set it to the address of the proxy that "
            "ends TLS, or MUDRA_PLAIN_HTTP=true for a test network"
        )
