"""Gives templates the current language: `_()`, `{% trans %}`, numbers, days and instants.

What comes out of a catalogue is text: it is escaped wherever the template escapes.
"""

from datetime import date
from typing import Final

import jinja2
from jinja2.nodes import EvalContext
from markupsafe import escape

from mudra.localization.duration import span_text
from mudra.localization.language import current

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
        "month": _month,
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


def _month(name: str) -> str:
    """Write a month such as 2026-03 with its name."""
    return current().month(date.fromisoformat(f"{name}-01"))


def _day(day: date) -> str:
    return current().day(day)
