"""What a page's use case gives back, before it is framed as HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Shown:
    """A page: its template and what that shows. `status` is of HTTP."""

    template: str
    facts: Mapping[str, object] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True)
class GoTo:
    """Go to another page of the console (303), so that a reload repeats nothing."""

    path: str


@dataclass(frozen=True, slots=True)
class Download:
    """A file."""

    name: str
    media_type: str
    body: bytes


Outcome = Shown | GoTo | Download | object
"""Anything else is a refusal of the table in http/errors.py, told on a page of its own."""
