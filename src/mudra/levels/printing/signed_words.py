"""The sentences of a signed report in the reader's language.

What is signed is English, whatever language it was made in. Its sentences are known here by their
messages; what people wrote, as the reason of a maintenance or a decision, stays as they wrote it.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from mudra.levels.evidence import Fate
from mudra.levels.printing.labels import fate_text
from mudra.localization.language import ENGLISH, gettext, translatable, written_in
from mudra.metrics.health.api_names import api_name
from mudra.metrics.payload.catalogue import TYPE_OF_API

_AND: Final = translatable(" and ")
_CAUSES: Final = (
    translatable("The whole network"),
    translatable("Path between %(aa)s and %(fip)s"),
    translatable("%(aa)s, calls to FIPs"),
    translatable("%(aa)s, missing reports"),
    translatable("maintenance of %(member)s"),
    translatable("maintenance beyond the rule"),
    translatable("maintenance announced too late"),
)
_REASONS: Final = (
    translatable("reports: %(before)s were received before, %(after)s now"),
    translatable("replaced reports or other targets"),
    translatable("now %(fate)s: %(cause)s (%(reference)s)"),
    translatable("no longer %(fate)s: %(cause)s (%(reference)s)"),
)
_OF_APIS: Final = re.compile(r"((?:FIP|AA) \S+), (.+)")
_VALUE: Final = re.compile(r"%\\\((\w+)\\\)s")


def cause_words(cause: str) -> str:
    """Returns the cause of a span."""
    found = _known(_CAUSES, cause, lambda _, text: text)
    if found is not None:
        return found
    apis = _OF_APIS.fullmatch(cause)
    codes = [_codes().get(one) for one in apis[2].split(_AND)] if apis else []
    if apis is None or None in codes:
        return cause
    return f"{apis[1]}, {gettext(_AND).join(api_name(code) for code in codes if code)}"


def reason_words(reason: str) -> str:
    """Returns why a version differs from the one before."""
    found = _known(_REASONS, reason, _part)
    return reason if found is None else found


def _part(name: str, text: str) -> str:
    if name == "cause":
        return cause_words(text)
    return fate_text(Fate(text)) if name == "fate" and text in {*Fate} else text


def _known(messages: tuple[str, ...], text: str, part: Callable[[str, str], str]) -> str | None:
    """Returns a text of one of these messages in the current language; None for another text."""
    for message in messages:
        found = _pattern(message).fullmatch(text)
        if found:
            values: Mapping[str, str] = found.groupdict()
            return gettext(message, **{name: part(name, one) for name, one in values.items()})
    return None


@cache
def _pattern(message: str) -> re.Pattern[str]:
    return re.compile(_VALUE.sub(r"(?P<\1>.+)", re.escape(message)))


@cache
def _codes() -> Mapping[str, str]:
    """Returns the codes of APIs by their English names."""
    with written_in(ENGLISH):
        return {api_name(code): code for code in TYPE_OF_API}
