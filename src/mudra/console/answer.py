"""What a page's use case gives back, before it is framed as HTTP."""

from collections.abc import Mapping

from msgspec import Struct, field


class Shown(Struct, frozen=True):
    """A page: its template and what that shows. `status` is of HTTP."""

    template: str
    facts: Mapping[str, object] = field(default_factory=dict)
    status: int = 200


class GoTo(Struct, frozen=True):
    """Go to another page of the console (303), so that a reload repeats nothing."""

    path: str


class Download(Struct, frozen=True):
    """A file."""

    name: str
    media_type: str
    body: bytes


Outcome = Shown | GoTo | Download | object
"""Anything else is a refusal of the table in http/errors.py, told on a page of its own."""
