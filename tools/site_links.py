"""Copies docs/ for the site: links to files outside docs/ become plain text.

In the repository they lead to the file; the site has no such page, and the service that serves
it may have no repository next to it. The copy is made before the build and not by a hook of
MkDocs, so that any builder that reads mkdocs.yml can build it.
"""

import re
import shutil
from pathlib import Path, PurePosixPath
from typing import Final

from tools.site_tables import breakable

_ROOT: Final = Path(__file__).parents[1]
_DOCS: Final = _ROOT / "docs"
_COPY: Final = _ROOT / ".build" / "site-docs"
"""Named in mkdocs.yml too."""
_LINK: Final = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<to>[^)#\s]+)(?P<anchor>#[^)]*)?\)")


def copy_docs(docs: Path = _DOCS, copy: Path = _COPY) -> None:
    """Replaces the copy by all files of docs/, with links that stay inside the site."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(docs, copy)
    for page in copy.rglob("*.md"):
        folder = PurePosixPath(page.relative_to(copy)).parent
        page.write_text(breakable(inside_links(page.read_text(), folder)))


def inside_links(markdown: str, folder: PurePosixPath) -> str:
    """Returns a page of this folder of docs/ with links that stay inside the site."""
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


if __name__ == "__main__":
    copy_docs()
