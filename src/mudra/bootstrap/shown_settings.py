"""The settings in force, as `mudra config` and the console show them."""

from mudra.bootstrap.config import REFERENCE
from mudra.overview.administration import SettingDetails, Source
from mudra.settings.settings import Settings


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
