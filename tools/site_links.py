"""Links of the documentation's site: those to files outside docs/ become plain text.

In the repository they lead to the file; the site has no such page, and the service that serves
it may have no repository next to it.
"""

import re
from pathlib import PurePosixPath
from typing import Final, Protocol

_LINK: Final = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<to>[^)#\s]+)(?P<anchor>#[^)]*)?\)")


class _File(Protocol):
    src_uri: str


class _Page(Protocol):
    """What is read of a page of MkDocs, which only its own environment has."""

    file: _File


def on_page_markdown(markdown: str, page: _Page, **_: object) -> str:
    """Return the page with links that stay inside the site (a hook of MkDocs)."""
    folder = PurePosixPath(page.file.src_uri).parent
    return _LINK.sub(lambda link: _inside(link, folder), markdown)


def _inside(link: re.Match[str], folder: PurePosixPath) -> str:
    to = link["to"]
    if ":" in to or to.startswith("/"):
        return link[0]
    depth = 0
    for part in (*folder.parts, *PurePosixPath(to).parts):
        depth += -1 if part == ".." else 1
        if depth < 0:
            return f"{link['text']} (`{PurePosixPath(to).name}` in the source)"
    if not PurePosixPath(to).suffix:
        return link["text"]  # a folder, which is no page
    return link[0]
