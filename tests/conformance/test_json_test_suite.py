"""All of JSONTestSuite through our reader of bodies, each file with its fixed verdict."""

import time
import zipfile
from pathlib import Path
from typing import Final

from mudra.http.request.body.strict_json import JsonRefused, parse_json

SUITE: Final = Path(__file__).with_name("vectors") / "json-test-suite.zip"
FLOATS: Final = (
    "number", "number_0e+1", "number_0e1", "number_double_close_to_zero", "number_int_with_exp",
    "number_real_capital_e", "number_real_capital_e_neg_exp", "number_real_capital_e_pos_exp",
    "number_real_exponent", "number_real_fraction_exponent", "number_real_neg_exp",
    "number_real_pos_exponent", "number_simple_real", "object_extreme_numbers",
    "structure_lonely_negative_real",
)  # fmt: skip  # this interface has no floats
DUPLICATES: Final = ("object_duplicated_key", "object_duplicated_key_and_value")
NULS: Final = ("object_escaped_null_in_key", "string_null_escape")
MARKED: Final = {"i_structure_UTF-8_BOM_empty_object.json"}  # RFC 8259 8.1
REFUSED_BY_DECISION: Final = {f"y_{name}.json" for name in (*FLOATS, *DUPLICATES, *NULS)}
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
    """I3: what is left to parsers is refused, but for a mark; so are floats, repeated members and NUL."""
    counts = {kind: sum(name.startswith(kind) for name in FILES) for kind in "yni"}
    assert counts == {"y": 95, "n": 188, "i": 35}
    assert FILES.keys() >= REFUSED_BY_DECISION

    wrong, slow = [], []
    for name, body in sorted(FILES.items()):
        began = time.process_time()
        taken = name in MARKED or (name.startswith("y_") and name not in REFUSED_BY_DECISION)
        if accepted(body) != taken:
            wrong.append(name)
        if time.process_time() - began > MOST_S:
            slow.append(name)

    assert (wrong, slow) == ([], [])
