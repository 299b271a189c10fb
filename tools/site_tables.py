"""Lets long names in tables of the site break between their parts, so that all columns are seen.

`MUDRA_BACKUP_DIR` may break after each `_`, `rows[].apis[].type` after each dot. Nothing is added
to the text: who copies or searches for a name gets it whole. The files of docs/ stay as they are.
"""

import re
from html import escape
from typing import Final

_FENCE: Final = re.compile(r" *(```|~~~)")
_ROW: Final = re.compile(r" *\|.*\|\s*$")
_CODE: Final = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_WORD: Final = re.compile(r"\S{14,}")
"""A word that is longer than what a column of three has on a telephone."""
_PART: Final = re.compile(
    r"(?<=[a-z0-9\]])(?=[A-Z])|(?<=[\w\]][_./,:=+@&?\]-])(?=[^_./,:=+@&?\]\[-])"
)
"""Between two parts: after a sign that joins them, or where a capital letter begins the next."""


def breakable(markdown: str) -> str:
    """Returns a page whose code in tables may break between the parts of a long word."""
    lines, fenced = [], False
    for line in markdown.splitlines(keepends=True):
        fenced ^= _FENCE.match(line) is not None
        lines.append(line if fenced or not _ROW.match(line) else _CODE.sub(_broken, line))
    return "".join(lines)


def _broken(code: re.Match[str]) -> str:
    words = code[1].replace("\\|", "|")
    if not _WORD.search(words):
        return code[0]
    parts = _WORD.sub(lambda word: _PART.sub("\0", word[0]), words)
    shown = escape(parts, quote=False).replace("|", "&#124;").replace("\0", "<wbr>")
    return f"<code>{shown}</code>"
