"""Findings of the registry's validation in the language of their reader (decision 0059).

Their texts are those of the API, in English. One that the registry's rules write is found again by
its form, and written in the reader's language with the same values.
"""

import re
from typing import Final

from msgspec import Struct

from mudra.localization.language import current, gettext
from mudra.registry.payload.finding_texts import FORMS

_VALUE: Final = re.compile(r"%\((\w+)\)s")
_LONGEST_FIRST: Final = sorted(FORMS, key=lambda form: -len(_VALUE.sub("", form)))


class Said(Struct, frozen=True):
    """A text of a finding; `lang` is "en" where it is English on a page of another language."""

    text: str
    lang: str = ""


def said(text: str) -> Said:
    """Return a text of a finding as its reader reads it."""
    if not text or current().tag.startswith("en"):
        return Said(text)
    whole = gettext(text)
    if whole != text:
        return Said(whole)
    for form, pattern in _PATTERNS:
        found = pattern.fullmatch(text)
        if found is not None and (translation := gettext(form)) != form:
            values = {name: gettext(value) for name, value in found.groupdict().items()}
            return Said(translation % values)
    return Said(text, "en")


def _pattern(form: str) -> re.Pattern[str]:
    """Return what texts of a form look like, with its values as groups."""
    parts = _VALUE.split(form)  # text, name, text, name, …
    pieces = [f"(?P<{one}>.+)" if at % 2 else re.escape(one) for at, one in enumerate(parts)]
    return re.compile("".join(pieces), re.DOTALL)


_PATTERNS: Final = tuple((form, _pattern(form)) for form in _LONGEST_FIRST)
