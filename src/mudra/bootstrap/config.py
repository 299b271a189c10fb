"""Builds the settings: every value is checked at start.

A setting comes from the command line, else from the environment, else from its
default. `REFERENCE` lists them all; the reference page and `mudra config` are
made from it.
"""

import difflib
from collections.abc import Mapping
from dataclasses import fields
from typing import Final, cast
from urllib.parse import urlsplit

from mudra.overview.administration import SettingDetails, Source
from mudra.settings.setting import Setting
from mudra.settings.settings import Settings
from mudra.settings.sign_in import sign_in_fault
from mudra.settings.storage import storage_fault
from mudra.settings.tracing import tracing_fault
from mudra.shared.network_address import is_loopback
from mudra.shared.secret_text import SecretFileFault, secret_variable, twin
from mudra.storage.database.embedded.programs import SETTING as POSTGRES_BIN


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


def shown_settings(settings: Settings) -> tuple[SettingDetails, ...]:
    """Give every setting in force with where it came from, in the order of the reference."""
    return tuple(
        SettingDetails(
            setting.env,
            _shown(getattr(settings, name), secret=setting.secret),
            settings.sources.get(name, Source.DEFAULT),
            setting.meaning,
            setting.allowed,
        )
        for name, setting in REFERENCE.items()
    )


def _shown(value: object, *, secret: bool) -> str:
    if value is None or value == "":
        return ""
    if secret:
        return "set"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


OTHER_VARIABLES: Final = frozenset(
    {
        *("MUDRA_MASTER_KEY", "MUDRA_MASTER_KEY_COMMAND", "MUDRA_PASSWORD"),
        *(twin("MUDRA_MASTER_KEY"), twin("MUDRA_PASSWORD")),
        *(twin(setting.env) for setting in REFERENCE.values() if setting.secret),
        *("MUDRA_CONFIG_DIR", "MUDRA_PROFILE"),
        POSTGRES_BIN,
    }
)
"""Variables that other files read: key material never enters the settings object."""


def unknown_names(environment: Mapping[str, str]) -> list[str]:
    """Sentences about `MUDRA_…` variables that no setting reads: most likely typing errors."""
    known = {setting.env for setting in REFERENCE.values()} | OTHER_VARIABLES
    sentences = []
    for name in sorted(environment):
        if name.startswith("MUDRA_") and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            sentences.append(f"{name} is not a setting of Mudra{hint}")
    return sentences
