"""Lengths of time in the current language."""

from datetime import timedelta

from mudra.localization.language import TranslatedLanguage, current, gettext, ngettext
from mudra.shared.time_text import DAY_S, ROUGH_MINUTES, nearest_days, span


def span_text(length: timedelta) -> str:
    """Return a length of time as one says it in the current language."""
    if not isinstance(current(), TranslatedLanguage):
        return span(length)
    seconds = max(0, int(length.total_seconds()))
    if seconds >= DAY_S:
        return ngettext("%(num)s day", "%(num)s days", nearest_days(seconds))
    hours = seconds // 3600
    minutes, rest = divmod(seconds % 3600, 60)
    if hours:
        text = gettext("%(hours)s h", hours=hours)
        return f"{text} {_minutes(minutes)}" if minutes else text
    if minutes:
        exact = rest and minutes < ROUGH_MINUTES
        return f"{_minutes(minutes)} {_seconds(rest)}" if exact else _minutes(minutes)
    return _seconds(rest)


def _minutes(count: int) -> str:
    return gettext("%(minutes)s min", minutes=count)


def _seconds(count: int) -> str:
    return gettext("%(seconds)s s", seconds=count)
