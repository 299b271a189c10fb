"""Lets long names in tables of the site break between their parts, so that all columns are seen.

`MUDRA_BACKUP_DIR` may break after each `_`, `rows[].apis[].type` after each dot. Nothing is added
to the text: who copies or searches for a name gets it whole. The files of docs/ stay as they are.
"""

import re
from html import escape
from typing import Final

_FENCE: Final = re.compile(r" *(```|~~~)")
_ROW: Final = re.compile(r" *\|.*\|\s*$")
_LONG: Final = 14
"""Characters that a column has on a telephone, where there are three."""
_PIECE: Final = re.compile(
    r"(?<!`)`(?P<code>[^`\n]+)`(?!`)|\]\([^)]*\)|<[^>]*>"
    rf"|(?P<word>[^\s|`<>\[\]()*&\\]{{{_LONG},}})"
)
"""Code, where a link leads, a tag, a long word."""
_WORD: Final = re.compile(rf"\S{{{_LONG},}}")
_PART: Final = re.compile(
    r"(?<=[a-z0-9\]])(?=[A-Z])|(?<=[\w\]][_./,:=+@&?\]-])(?=[^_./,:=+@&?\]\[-])"
)
"""Between two parts: after a sign that joins them, or where a capital letter begins the next."""


def breakable(markdown: str) -> str:
    """Returns a page whose long words in tables, of code and others, break between their parts."""
    lines, fenced = [], False
    for line in markdown.splitlines(keepends=True):
        fenced ^= _FENCE.match(line) is not None
        lines.append(line if fenced or not _ROW.match(line) else _PIECE.sub(_broken, line))
    return "".join(lines)


def _broken(piece: re.Match[str]) -> str:
    if piece["word"]:
        return _PART.sub("<wbr>", piece["word"])
    if not piece["code"] or not _WORD.search(piece["code"]):
        return piece[0]
    words = piece["code"].replace("\\|", "|")
    parts = _WORD.sub(lambda word: _PART.sub("\0", word[0]), words)
    shown = escape(parts, quote=False).replace("|", "&#124;").replace("\0", "<wbr>")
    return f"<code>{shown}</code>"
