"""What changes of an entry affect, in one line."""

from mudra.registry.lifecycle.difference import Risk, in_one_line


def test_risks_are_one_sentence() -> None:
    assert in_one_line([Risk.KEY, Risk.TRAFFIC, Risk.FIREWALL]) == (
        "Signatures are verified with another key; calls go to another address;"
        " members must allow new IP addresses"
    )
    assert in_one_line([]) == ""
