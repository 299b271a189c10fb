"""For whom passkeys are made, and which signatures count."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from mudra.identity.passkeys.assertion_rule import PasskeyFault, counter_is_higher, judge
from mudra.identity.passkeys.manage_passkeys import passkey_name
from mudra.identity.passkeys.passkey import Assertion, Passkey
from mudra.identity.passkeys.relying_party import RelyingParty, relying_party
from mudra.shared.refusal import ValueRefused

OWNER, OTHER = str(UUID(int=1)), str(UUID(int=2))
HANDLE = UUID(int=1).bytes
STORED = Passkey("p", OWNER, "Phone", b"id", b"key", 5, datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("base_url", "party"),
    [
        ("https://iam.example.org/iam", ("iam.example.org", "https://iam.example.org")),
        ("https://iam.example.org:443", ("iam.example.org", "https://iam.example.org")),
        ("https://iam.example.org:8443", ("iam.example.org", "https://iam.example.org:8443")),
        ("https://iam.example.org./iam", ("iam.example.org", "https://iam.example.org")),
        ("https:///iam", None),
        ("http://localhost:8080/iam", ("localhost", "http://localhost:8080")),
        ("http://localhost:80/iam", ("localhost", "http://localhost")),
        ("http://iam.example.org/iam", None),
        ("https://192.0.2.1/iam", None),
        ("http://127.0.0.1:8080/iam", None),
        ("https://[2001:db8::1]/iam", None),
        ("http://[::1]:8080/iam", None),
    ],
)
def test_passkeys_belong_to_a_host_name(base_url: str, party: tuple[str, str] | None) -> None:
    assert relying_party(base_url) == (RelyingParty(*party) if party else None)


@pytest.mark.parametrize(
    ("stored", "sent", "counts"),
    [(0, 0, True), (0, 1, True), (5, 6, True), (5, 5, False), (5, 4, False), (1, 0, False)],
)
def test_a_counter_goes_on_or_never_counts(stored: int, sent: int, counts: bool) -> None:
    assert counter_is_higher(stored, sent) is counts


@pytest.mark.parametrize(
    ("asked", "handle", "count", "fault"),
    [
        (OWNER, HANDLE, 6, None),
        (OWNER, None, 6, None),
        (None, HANDLE, 6, None),
        (None, None, 6, PasskeyFault.OTHER_PERSON),
        (OTHER, HANDLE, 6, PasskeyFault.OTHER_PERSON),
        (OWNER, UUID(int=2).bytes, 6, PasskeyFault.OTHER_PERSON),
        (None, UUID(int=2).bytes, 6, PasskeyFault.OTHER_PERSON),
        (OWNER, HANDLE, 5, PasskeyFault.COUNTER),
        (None, HANDLE, 5, PasskeyFault.COUNTER),
    ],
)
def test_a_signature_counts_for_its_own_person(
    asked: str | None, handle: bytes | None, count: int, fault: PasskeyFault | None
) -> None:
    assert judge(STORED, Assertion(count, handle), asked) is fault


@pytest.mark.parametrize("typed", ["", " ", "a" * 41, "\u202e", "a\x00b"])
def test_a_name_is_short_and_printable(typed: str) -> None:
    assert isinstance(passkey_name(typed), ValueRefused)
    assert passkey_name(f"  My{' '}  phone ") == "My phone"
    assert passkey_name("a" * 40) == "a" * 40
