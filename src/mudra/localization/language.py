"""The language of what is being written: its texts, numbers and dates.

English is what the code says; another language is a catalogue of the same messages. Babel is
loaded with the first other language, so that a service without one never pays for it.
"""

import gettext as stdlib_gettext
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Final

_DAY: Final = "dd MMM y"
_MONTH: Final = "MMMM y"
_MINUTE: Final = "dd MMM y, HH:mm"
_LONG_MINUTE: Final = "d MMMM y, HH:mm"


class Language:
    """English, as it is written in code and templates."""

    def __init__(self, tag: str = "en") -> None:
        self.tag = tag
        """The tag of BCP 47, as in `<html lang>`."""

    def translate(self, message: str) -> str:
        """Return the text of a message; one without a translation is returned in English."""
        return message

    def translate_count(self, one: str, many: str, count: int) -> str:
        """Return the text for so many."""
        return one if count == 1 else many

    def number(self, value: float, places: int = 0) -> str:
        """Write a number with so many decimals, its digits in groups."""
        # As decimal digits, like those of a region: 0.855 is no longer 0.8549….
        return f"{Decimal(str(value)):,.{places}f}"

    def day(self, day: date) -> str:
        """Write a day, such as "04 Mar 2026"."""
        return f"{day:%d %b %Y}"

    def month(self, day: date) -> str:
        """Write the month of a day, such as "March 2026"."""
        return f"{day:%B %Y}"

    def minute(self, at: datetime, zone: tzinfo) -> str:
        """Write an instant without naming the zone, such as "04 Mar 2026, 10:00"."""
        return f"{at.astimezone(zone):%d %b %Y, %H:%M}"

    def long_minute(self, at: datetime, zone: tzinfo) -> str:
        """Write an instant with the whole month, such as "4 March 2026, 10:00"."""
        local = at.astimezone(zone)
        return f"{local.day} {local:%B %Y, %H:%M}"


class RegionalEnglish(Language):
    """English with the numbers of a region, such as 12,34,567 in India."""

    def number(self, value: float, places: int = 0) -> str:
        """Write a number by the region's groups."""
        return _number(self.tag, value, places)


class TranslatedLanguage(RegionalEnglish):
    """A language with a catalogue."""

    def __init__(self, tag: str, catalogue: stdlib_gettext.NullTranslations) -> None:
        super().__init__(tag)
        self._catalogue = catalogue

    def translate(self, message: str) -> str:
        """Look a message up."""
        return self._catalogue.gettext(message) if message else ""

    def translate_count(self, one: str, many: str, count: int) -> str:
        """Look a message up by the plural forms of the language."""
        return self._catalogue.ngettext(one, many, count)

    def day(self, day: date) -> str:
        """Write a day with the month's name in this language."""
        from babel.dates import format_date  # noqa: PLC0415  # loaded by the first reader of it

        return format_date(day, _DAY, locale=_locale_name(self.tag))

    def month(self, day: date) -> str:
        """Write the month of a day with its name in this language."""
        from babel.dates import format_date  # noqa: PLC0415  # as above

        return format_date(day, _MONTH, locale=_locale_name(self.tag))

    def minute(self, at: datetime, zone: tzinfo) -> str:
        """Write an instant with the month's name in this language."""
        return self._instant(at.astimezone(zone), _MINUTE)

    def long_minute(self, at: datetime, zone: tzinfo) -> str:
        """Write an instant with the month's whole name in this language."""
        return self._instant(at.astimezone(zone), _LONG_MINUTE)

    def _instant(self, at: datetime, pattern: str) -> str:
        from babel.dates import format_datetime  # noqa: PLC0415  # as above

        return format_datetime(at, pattern, locale=_locale_name(self.tag))


ENGLISH: Final = Language()
_current: ContextVar[Language] = ContextVar("language", default=ENGLISH)


def current() -> Language:
    """Returns the language of the page or email: English unless `use` chose another."""
    return _current.get()


def use(language: Language) -> None:
    """Write in this language until the request, a task of its own, ends."""
    _current.set(language)


@contextmanager
def written_in(language: Language) -> Iterator[None]:
    """Sets the current language inside the block."""
    token = _current.set(language)
    try:
        yield
    finally:
        _current.reset(token)


def translatable(message: str) -> str:
    """Marks a message for the catalogues; it is translated where it is shown."""
    return message


def gettext(message: str, /, **values: object) -> str:
    """Returns a message in the current language, with these values for `%(name)s`."""
    text = current().translate(message)
    return text % values if values else text


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """Returns a message for a number, in the current language; `%(num)s` is the number."""
    text = current().translate_count(one, many, count)
    return text % {"num": current().number(count), **values}


def _number(tag: str, value: float, places: int) -> str:
    from babel import Locale  # noqa: PLC0415  # loaded by the first reader of a region

    locale = Locale.parse(_locale_name(tag))
    pattern = copy(locale.decimal_formats[None])
    pattern.frac_prec = (places, places)
    return str(pattern.apply(Decimal(str(value)), locale))


def _locale_name(tag: str) -> str:
    return tag.replace("-", "_")
