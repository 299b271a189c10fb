"""Samples of calls as tabs of a page."""

import textwrap
from collections.abc import Callable
from typing import Final

from tools.pages.samples.call import Call
from tools.pages.samples.programs import go, java
from tools.pages.samples.scripts import curl, node, python

LANGUAGES: Final[tuple[tuple[str, str, Callable[[Call], str]], ...]] = (
    ("curl", "sh", curl),
    ("Python", "python", python),
    ("Node.js", "js", node),
    ("Java", "java", java),
    ("Go", "go", go),
)


def tabs(call: Call) -> str:
    """Returns the samples of a call as tabs."""
    shown = (
        f'=== "{name}"\n\n' + textwrap.indent(f"```{kind}\n{write(call)}```\n", "    ")
        for name, kind, write in LANGUAGES
    )
    return "\n".join(shown)


def regions(calls: tuple[Call, ...]) -> dict[str, str]:
    """Returns the text of the region of each call."""
    return {call.name: tabs(call) for call in calls}
