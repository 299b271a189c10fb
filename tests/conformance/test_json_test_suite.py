"""All of JSONTestSuite through our reader of bodies, each file with its fixed verdict."""

import time
import zipfile
from pathlib import Path
from typing import Final

from mudra.http.request.body.strict_json import JsonRefused, parse_json

SUITE: Final = Path(__file__).with_name("vectors") / "json-test-suite.zip"
DUPLICATES: Final = ("object_duplicated_key", "object_duplicated_key_and_value")
NULS: Final = ("object_escaped_null_in_key", "string_null_escape")
MARKED: Final = ("structure_UTF-8_BOM_empty_object",)  # RFC 8259 8.1
NUMBERS: Final = (
    "number_double_huge_neg_exp", "number_huge_exp", "number_neg_int_huge_exp",
    "number_pos_double_huge_exp", "number_real_neg_overflow", "number_real_pos_overflow",
    "number_real_underflow", "number_too_big_neg_int", "number_too_big_pos_int",
    "number_very_big_negative_int",
)  # fmt: skip  # a field says which numbers it takes; one that no one reads takes any
TAKEN_BY_DECISION: Final = {f"i_{name}.json" for name in (*MARKED, *NUMBERS)}
REFUSED_BY_DECISION: Final = {f"y_{name}.json" for name in (*DUPLICATES, *NULS)}
MOST_S: Final = 0.05


def files() -> dict[str, bytes]:
    with zipfile.ZipFile(SUITE) as suite:
        return {name: suite.read(name) for name in suite.namelist() if name.endswith(".json")}


FILES: Final = files()


def accepted(body: bytes) -> bool:
    try:
        parse_json(body)
    except JsonRefused:
        return False
    return True


def test_each_file_has_its_verdict() -> None:
    """I3: what is left to parsers is refused, but for marks, numbers; so are repeated members, NUL."""
    counts = {kind: sum(name.startswith(kind) for name in FILES) for kind in "yni"}
    assert counts == {"y": 95, "n": 188, "i": 35}
    assert FILES.keys() >= REFUSED_BY_DECISION | TAKEN_BY_DECISION

    wrong, slow = [], []
    for name, body in sorted(FILES.items()):
        began = time.process_time()
        taken = name in TAKEN_BY_DECISION or (
            name.startswith("y_") and name not in REFUSED_BY_DECISION
        )
        if accepted(body) != taken:
            wrong.append(name)
        if time.process_time() - began > MOST_S:
            slow.append(name)

    assert (wrong, slow) == ([], [])
