"""The blocks of a document: what is between two fences, with its kind and where it is."""

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
DOCUMENTS: Final = tuple(
    path.relative_to(ROOT).as_posix()
    for path in (
        *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "ARCHITECTURE", "SECURITY")),
        *sorted((ROOT / "docs").rglob("*.md")),
    )
)
_FENCED: Final = re.compile(
    r"^(?P<indent> *)```(?P<kind>\w*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One block of a document."""

    document: str
    kind: str
    body: str
    heading: str
    """The heading above it."""

    @property
    def first(self) -> str:
        """Its first line, by which tables name it."""
        return self.body.partition("\n")[0].strip()


def text_of(document: str) -> str:
    """A document's text; its path is that in the repository."""
    return (ROOT / document).read_text(encoding="utf-8")


@cache
def blocks_of(document: str) -> tuple[Block, ...]:
    """All blocks of a document, in its order; it is read once a process."""
    text, blocks, heading, end = text_of(document), list[Block](), "", 0
    for found in _FENCED.finditer(text):
        heading = [heading, *_HEADING.findall(text[end : found.start()])][-1]
        end = found.end()
        blocks.append(Block(document, found["kind"], textwrap.dedent(found["body"]), heading))
    return tuple(blocks)


def filled_in(text: str, names: Mapping[str, str]) -> str:
    """The text with what its reader fills in, all at once: it may read like another of the names.

    Of names that begin at one place the first holds.
    """
    written = re.compile("|".join(map(re.escape, names)))
    return written.sub(lambda found: names[found[0]], text) if names else text


def without_blocks(document: str) -> str:
    """The document's text around its blocks."""
    return _FENCED.sub("", text_of(document))
