"""An approver sees what differs, and every address whole."""

from tests.support.registry.registry_actions import checked
from tests.support.registry.registry_payloads import fip, jwk

from mudra.console.pages.operator.comparison import Compared, compared
from mudra.registry.lifecycle.difference import difference

PADDING = "x" * 150


def differing(before: dict[str, object], after: dict[str, object]) -> list[Compared]:
    return compared(difference(checked(before).entry, checked(after).entry))


def test_two_long_values_with_equal_ends_differ() -> None:
    before, after = (f"v2:https://fip.example/{PADDING}/{one}/{PADDING}" for one in "ab")

    (one,) = differing(fip(baseurl=before), fip(baseurl=after))

    assert (one.removed, one.added, one.unchanged) == ((before,), (after,), ())


def test_the_host_of_a_long_address_is_in_sight() -> None:
    long = f"v2:https://{'fip.' * 40}evil.example/{PADDING}"

    (one,) = differing(fip(), fip(baseurl=long))

    assert one.added == (long,)


def test_a_long_key_is_shortened() -> None:
    changes = differing(fip(), fip(certificate=jwk(1)))

    (key,) = (one for one in changes if one.field == "certificate: key (modulus n)")
    assert [len(line) < 80 for line in key.added] == [True]
