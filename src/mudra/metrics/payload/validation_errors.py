"""Collects the errors of one payload, with the checks that every level needs."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Final

from mudra.metrics.payload.catalogue import MAX_COUNT
from mudra.metrics.payload.plain_json import JsonObject, kind_of, member
from mudra.shared.finding import Finding

MAX_FINDINGS: Final = 200
MAX_COUNTED: Final = 1_000
_MANY_VALUES: Final = 1000
_MAX_NAME: Final = 64


class Absent(Enum):
    """The value of a missing member; the error is added with its object."""

    ABSENT = 0


ABSENT: Final = Absent.ABSENT


class ValidationErrors:
    """The first errors in document order, and the number of all, up to 1,000 or some more."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.total = 0

    @property
    def full(self) -> bool:
        """True when more errors would help no one and delay all other requests."""
        return self.total >= MAX_COUNTED

    def add(self, path: str, problem: str, allowed: str = "", nearest: str = "") -> None:
        """Adds one error; after the first 200, errors are only counted."""
        self.total += 1
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(Finding(path, problem, allowed, nearest))

    def object_at(
        self, path: str, value: object, required: Sequence[str], optional: Sequence[str]
    ) -> JsonObject | None:
        """Returns the object (None if it is none); adds unknown, repeated and missing members."""
        if not isinstance(value, JsonObject):
            self.add(path, f"must be an object, not {kind_of(value)}")
            return None
        known = (*required, *optional)
        for name in value:
            if self.full:
                break
            if name not in known:
                # A missing name is more likely meant than one that is present already.
                free = [other for other in known if other not in value] or known
                place = member(path, name)
                self.add(place, "is not a member of this object", nearest=self.nearest(name, free))
        for name in value.repeated:
            self.add(member(path, name), "is present more than once", "each member once")
        for name in required:
            if name not in value:
                self.add(f"{path}.{name}", "is missing")
        return value

    def array_at(self, path: str, value: object, what: str) -> list[object] | None:
        """Returns the array, or None and adds an error unless it is absent."""
        if value is ABSENT:
            return None
        if not isinstance(value, list):
            self.add(path, f"must be an array of {what}, not {kind_of(value)}")
            return None
        return value

    def text_at(self, path: str, value: object, form: re.Pattern[str], allowed: str) -> str | None:
        """Returns the text if it has this form, else None and adds an error unless it is absent."""
        if value is ABSENT:
            return None
        if not isinstance(value, str):
            self.add(path, f"must be a string, not {kind_of(value)}", allowed)
            return None
        if form.match(value) is None:
            self.add(path, "is empty" if not value else "has another form than allowed", allowed)
            return None
        return value

    def numbers_at(self, path: str, value: object, names: Sequence[str]) -> list[int] | None:
        """Returns the whole numbers of a positional array, or None and adds its errors."""
        numbers = self.array_at(path, value, f"{len(names)} whole numbers")
        if numbers is None:
            return None
        if len(numbers) != len(names):
            self.add(
                path,
                f"has {len(numbers)} values",
                f"exactly {len(names)}, in the order {', '.join(names)}",
            )
        valid: list[int] = []
        for place, number in enumerate(numbers[:_MANY_VALUES]):
            name = names[place] if place < len(names) else "beyond the last position"
            if type(number) is not int:  # true is an int to Python
                self.add(
                    f"{path}[{place}]", f"({name}) must be a whole number, not {kind_of(number)}"
                )
            elif not 0 <= number <= MAX_COUNT:
                self.add(
                    f"{path}[{place}]", f"({name}) is {kind_of(number)}", "0 to 9007199254740991"
                )
            else:
                valid.append(number)
        return valid if len(valid) == len(numbers) == len(names) else None

    def nearest(self, name: str, known: Sequence[str]) -> str:
        """Returns the known name that was probably meant, or nothing; letter case is ignored.

        Also nothing when no more findings are collected: the search is slow, and a hostile
        payload contains a million names.
        """
        if len(self.findings) >= MAX_FINDINGS:
            return ""
        lowered = {other.lower(): other for other in known}
        close = get_close_matches(name[:_MAX_NAME].lower(), lowered, n=1, cutoff=0.6)
        return lowered[close[0]] if close else ""
