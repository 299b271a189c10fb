"""What changes of an entry affect, in one line."""

import re
from pathlib import Path

from mudra.registry.lifecycle.difference import in_one_line
from mudra.registry.payload.entry import EntityInfo
from mudra.registry.payload.fields.field_rules import Risk, fields_of


def test_risks_are_one_sentence() -> None:
    assert in_one_line([Risk.KEY, Risk.TRAFFIC, Risk.FIREWALL]) == (
        "Signatures are verified with another key; calls go to another address;"
        " members must allow new IP addresses"
    )
    assert in_one_line([]) == ""


def test_the_reference_names_each_field_whose_change_needs_approval() -> None:
    reference = Path("docs/reference/registry.md").read_text()
    (named,) = re.findall(r"update; pending until approved when it changes ([^|]*)", reference)

    assert set(re.findall(r"`(\w+)`", named)) == {
        name for name, field in fields_of(EntityInfo).items() if field.needs_approval
    }
