"""A finding: one thing wrong, or worth a note, in a document from outside.

Shared by the areas that check whole documents (registry, metrics), which must
not import each other.
"""

import enum

import msgspec


class Severity(enum.StrEnum):
    """The weight of a finding."""

    ERROR = "error"
    """The document is refused."""
    NOTE = "note"
    """The document is taken; the sender should know."""


class Finding(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A finding about a payload, as the API sends it.

    `path` is a JSON path from the root, such as `$.fips[3].metrics[0].counts[6]`.
    `problem` says what is wrong, `allowed` what would be right, `nearest` the
    valid value closest to what was sent, when there is one. None of them ever
    repeats a value that may be secret.
    """

    path: str
    problem: str
    allowed: str = ""
    nearest: str = ""
    severity: Severity = Severity.ERROR

    def sentence(self) -> str:
        """One sentence for an error body or a terminal."""
        text = f"{self.path} {self.problem}"
        if self.allowed:
            text += f"; allowed: {self.allowed}"
        if self.nearest:
            text += f"; did you mean {self.nearest}?"
        return text
