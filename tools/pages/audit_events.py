"""docs/reference/audit-events.md: every event, by the docstrings of its enum."""

import ast
import inspect
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

from mudra.audit import event as module
from mudra.audit.acts import RECORDED
from mudra.audit.event import EventName

SOURCE: Final = Path(__file__).resolve().parents[2] / "src"
_INTRO: Final = """# Audit events

Made by `make docs` from `mudra.audit.event`. Each act leaves its event in the transaction of the
act: there is no act without it, and no event without the act. Names never change their meaning.

```sh
mudra audit list --event entity:secret:reset --json
```

| field | what it holds |
|---|---|
| `event` | one of the names below: subject, object, action |
| `outcome` | `success`, `refused` (by a rule) or `failed` (something broke) |
| `at` | the database's time, UTC |
| `actor` | `user:ID`, `entity:ID`, `operator:ID`, `system` or `anonymous` |
| `txn_id` | the `txnId` of the request, also in the answer and in the log |
| `entity_id` | the entity concerned, empty when there is none |
| `address` | the client's IP address, empty for work without a client |
| `reason` | the code of a refusal, or the reason that a person gave |
| `detail` | facts of the event, each a text or a whole number; never a secret, a token or a link |

*Second place*: also written to where the checkpoints go (`MUDRA_AUDIT_CHECKPOINTS`), so that a
restore cannot take it back unseen.
"""


def audit_events_page() -> str:
    """Return the page. Raises KeyError for an event without a docstring."""
    meanings, used = _meanings(), _used()
    parts = [_INTRO]
    subjects: dict[str, list[EventName]] = {}
    for name in EventName:
        subjects.setdefault(name.value.partition(":")[0], []).append(name)
    for subject, names in subjects.items():
        parts += [f"## {subject}", "", "| event | what happened | second place |", "|---|---|---|"]
        for name in names:
            meaning = meanings[name.name] if name in used else f"{meanings[name.name]} *(reserved)*"
            second = "yes" if name in RECORDED else ""
            parts.append(f"| `{name.value}` | {meaning} | {second} |")
        parts.append("")
    return "\n".join(parts)


def _meanings() -> Mapping[str, str]:
    """Return the docstring of each member, which Python itself does not keep."""
    (body,) = [
        node.body
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.ClassDef) and node.name == EventName.__name__
    ]
    found = {}
    for member, text in pairwise(body):
        if isinstance(member, ast.Assign) and isinstance(text, ast.Expr):
            name, value = member.targets[0], text.value
            if isinstance(name, ast.Name) and isinstance(value, ast.Constant):
                found[name.id] = str(value.value)
    return found


def _used() -> frozenset[EventName]:
    """Return the events that some code writes; the others are names that are kept."""
    named: set[str] = set()
    for file in SOURCE.rglob("*.py"):
        if file.name != "event.py":
            named |= set(re.findall(r"EventName\.([A-Z_]+)", file.read_text(encoding="utf-8")))
    return frozenset(EventName[name] for name in named if name in EventName.__members__)
