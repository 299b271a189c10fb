"""JSON as people read it: what fits into a line is in one."""

import json
from typing import Final

_LINE: Final = 100


def written(value: object, *, inside: int = 0) -> str:
    """Returns a value as JSON: an object on several lines at the outside, and where it is long."""
    whole = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value:
        return whole
    if inside and len(whole) + 2 * inside <= _LINE:
        return whole
    before = "  " * (inside + 1)
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(name)}: {written(one, inside=inside + 1)}" for name, one in value.items()
        ]
        return "{\n" + ",\n".join(before + part for part in parts) + f"\n{'  ' * inside}}}"
    parts = [written(one, inside=inside + 1) for one in value]
    return "[\n" + ",\n".join(before + part for part in parts) + f"\n{'  ' * inside}]"
