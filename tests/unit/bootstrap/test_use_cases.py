"""A transaction makes each use case that is asked of it, and no one adds one in vain."""

import re
from pathlib import Path

SOURCE = Path("src/mudra")
ADDED = re.compile(r"\buse_cases\.add\(\s*(\w+)")
ASKED = re.compile(r"\.service\((\w+)\)")


def test_what_is_asked_of_a_transaction_is_what_a_process_adds() -> None:
    added = ADDED.findall((SOURCE / "bootstrap/use_cases.py").read_text(encoding="utf-8"))
    files = SOURCE.rglob("*.py")
    asked = {name for file in files for name in ASKED.findall(file.read_text(encoding="utf-8"))}

    assert asked == set(added)
    assert len(added) == len(set(added))
