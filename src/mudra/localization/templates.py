"""Gives templates the current language: `_()`, `{% trans %}`, numbers, days and instants.

What comes out of a catalogue is text: it is escaped wherever the template escapes.
"""

from datetime import date, timedelta
from typing import Final

import jinja2
from jinja2.nodes import EvalContext
from markupsafe import escape

from mudra.localization.language import TranslatedLanguage, current, gettext, ngettext
from mudra.shared.time_text import span

EXTENSION: Final = "jinja2.ext.i18n"


def add_translation(environment: jinja2.Environment) -> None:
    """Install functions and filters; the environment has no other `_`."""
    environment.policies["ext.i18n.trimmed"] = True
    environment.add_extension(EXTENSION)
    install = environment.install_gettext_callables  # type: ignore[attr-defined]  # by the extension
    install(_gettext, _ngettext, newstyle=True)
    environment.globals["language"] = current
    environment.filters |= {
        "translated": _translated,
        "number": _number,
        "day": _day,
        "span": span_text,
    }


@jinja2.pass_eval_context
def _gettext(context: EvalContext, message: str) -> str:
    text = current().translate(message)
    return escape(text) if context.autoescape else text


@jinja2.pass_eval_context
def _ngettext(context: EvalContext, one: str, many: str, count: int) -> str:
    text = current().translate_count(one, many, count)
    return escape(text) if context.autoescape else text


def _translated(text: str) -> str:
    """Return a text that the code has marked, in the current language; without values."""
    return current().translate(text)


def _number(value: float, places: int = 0) -> str:
    return current().number(value, places)


def _day(day: date) -> str:
    return current().day(day)


def span_text(length: timedelta) -> str:
    """Return a length of time in its two largest units, in the current language."""
    if not isinstance(current(), TranslatedLanguage):
        return span(length)
    seconds = max(0, int(length.total_seconds()))
    days, hours = divmod(seconds // 3600, 24)
    minutes, rest = divmod(seconds % 3600, 60)
    if days:
        return ngettext("%(num)s day", "%(num)s days", days)
    if hours:
        text = gettext("%(hours)s h", hours=hours)
        return f"{text} {_minutes(minutes)}" if minutes else text
    if minutes:
        return f"{_minutes(minutes)} {_seconds(rest)}" if rest else _minutes(minutes)
    return _seconds(rest)


def _minutes(count: int) -> str:
    return gettext("%(minutes)s min", minutes=count)


def _seconds(count: int) -> str:
    return gettext("%(seconds)s s", seconds=count)
