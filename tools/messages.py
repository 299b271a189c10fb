"""Writes the messages of pages and emails for translators, and brings catalogues up to date.

    python -m tools.messages [--check]

Writes `mudra.pot` and adds new messages to each `mudra.po` of the package, without a translation;
what no one uses any more is taken out. With --check it writes nothing, and exits 1 where it would.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po, write_po

SOURCES: Final = Path(__file__).parents[1] / "src" / "mudra"
LOCALES: Final = SOURCES / "localization" / "locales"
_FOLDERS: Final = (
    "console",
    "demo",
    "http",
    "identity",
    "levels",
    "localization",
    "mail",
    "metrics",
    "timeline",
    "overview",
    "registry",
    "tokens",
)
_NO_SOURCES: Final = frozenset({"assets", "site", "static", "__pycache__"})
_METHODS: Final = [("**.py", "python"), ("**.html", "jinja2"), ("**.j2", "jinja2")]
_OPTIONS: Final = {
    "jinja2": {
        "trim_blocks": "true",
        "lstrip_blocks": "true",
        "trimmed": "true",
        "newstyle_gettext": "true",
        "silent": "no",
    }
}
_KEYWORDS: Final = {**DEFAULT_KEYWORDS, "translatable": None}
_NO_DATE: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""A date of its own would change the files with every run."""


def template() -> Catalog:
    """Collect the messages of templates and code."""
    found = Catalog(
        project="Mudra",
        version="1",
        creation_date=_NO_DATE,
        revision_date=_NO_DATE,
        header_comment="# Messages of Mudra's pages and emails. Written by make messages.",
    )
    for folder in _FOLDERS:
        for name, line, message, comments, context in extract_from_dir(
            SOURCES / folder, _METHODS, _options(), _KEYWORDS, directory_filter=_is_source
        ):
            place = f"{folder}/{name}"
            found.add(message, None, [(place, line)], auto_comments=comments, context=context)
    return found


def files() -> Iterator[tuple[Path, bytes]]:
    """Return each file with what it should hold."""
    messages = template()
    yield LOCALES / "mudra.pot", _written(messages)
    for path in sorted(LOCALES.glob("*/LC_MESSAGES/mudra.po")):
        with path.open("rb") as file:
            catalogue = read_po(file, locale=path.parts[-3])
        catalogue.update(messages, no_fuzzy_matching=True)
        catalogue.obsolete.clear()
        catalogue.creation_date = catalogue.revision_date = _NO_DATE
        yield path, _written(catalogue)


def main(arguments: list[str]) -> int:
    """Write or check the files; returns the exit code."""
    stale = [
        (path, body) for path, body in files() if not path.exists() or path.read_bytes() != body
    ]
    for path, body in stale:
        if "--check" in arguments:
            print(f"{path.relative_to(SOURCES)} is not up to date: run make messages")
        else:
            path.write_bytes(body)
            print(f"wrote {path.relative_to(SOURCES)}")
    return 1 if stale and "--check" in arguments else 0


def _is_source(folder: str) -> bool:
    """Return whether a folder has sources: not what is built or installed."""
    return Path(folder).name not in _NO_SOURCES


def _options() -> dict[str, dict[str, object]]:
    jinja: dict[str, object] = dict(_OPTIONS["jinja2"])
    return {"**.html": jinja, "**.j2": jinja}


def _written(catalogue: Catalog) -> bytes:
    body = BytesIO()
    write_po(body, catalogue, width=100, include_lineno=False, sort_by_file=True)
    return body.getvalue()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
