"""What changes of an entry affect, in one line."""

import re
from pathlib import Path

from mudra.registry.lifecycle.difference import NEEDS_APPROVAL, Risk, in_one_line


def test_risks_are_one_sentence() -> None:
    assert in_one_line([Risk.KEY, Risk.TRAFFIC, Risk.FIREWALL]) == (
        "Signatures are verified with another key; calls go to another address;"
        " members must allow new IP addresses"
    )
    assert in_one_line([]) == ""


def test_the_reference_names_each_field_whose_change_needs_approval() -> None:
    reference = Path("docs/reference/registry.md").read_text()
    (named,) = re.findall(r"update; pending until approved when it changes ([^|]*)", reference)

    assert tuple(re.findall(r"`(\w+)`", named)) == NEEDS_APPROVAL
