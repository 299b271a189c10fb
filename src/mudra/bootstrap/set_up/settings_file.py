"""The file of settings that systemd reads: a NAME=value a line (EnvironmentFile=)."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:@%+,=?&~\-\[\]]*")
_LINE: Final = re.compile(r"\s*([A-Z_][A-Z0-9_]*)=(.*?)\s*")
_ESCAPED: Final = re.compile(r"\\(.)")


def read_settings(file: Path) -> dict[str, str]:
    """Read the settings; none where there is no file."""
    if not file.exists():
        return {}
    found = {}
    for line in file.read_text().splitlines():
        if one := _LINE.fullmatch(line):
            found[one[1]] = _value(one[2])
    return found


def with_settings(text: str, values: Mapping[str, str]) -> str:
    """Return the text with these values: a line is replaced where it differs, others are kept."""
    left = dict(values)
    lines = []
    for line in text.splitlines():
        one = _LINE.fullmatch(line)
        if one and one[1] in left:
            value = left.pop(one[1])
            lines.append(line if _value(one[2]) == value else f"{one[1]}={_quoted(value)}")
        else:
            lines.append(line)
    lines += [f"{name}={_quoted(value)}" for name, value in left.items()]
    return "\n".join(lines) + "\n"


def _value(text: str) -> str:
    if text[:1] == text[-1:] == '"' and len(text) > 1:
        return _ESCAPED.sub(r"\1", text[1:-1])
    if text[:1] == text[-1:] == "'" and len(text) > 1:
        return text[1:-1]
    return text


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`") + '"'
