"""The codes of an authenticator app and recovery codes (RFC 6238). Pure."""

from datetime import UTC, datetime

import pyotp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mudra.identity.second_factor.policy import FactorRoles, is_required
from mudra.identity.second_factor.recovery_codes import canonical, new_recovery_codes
from mudra.identity.second_factor.totp import matching_step, new_totp_secret, provisioning_uri
from mudra.shared.secret_text import SecretText

# RFC 6238, appendix B: the seed of the SHA-1 vectors, and the last six digits of its codes.
SEED = SecretText("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
VECTORS = ((59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130"))
SECRETS = st.binary(min_size=20, max_size=20).map(lambda raw: new_totp_secret(lambda _: raw))
TIMES = st.integers(10**9, 4 * 10**9)


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@pytest.mark.parametrize(("seconds", "code"), VECTORS)
def test_the_vectors_of_the_rfc(seconds: int, code: str) -> None:
    assert matching_step(SEED, SecretText(code), at(seconds), -1) == seconds // 30


@pytest.mark.parametrize(
    ("away", "counts"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_a_code_of_the_second_step_from_now_is_refused(away: int, counts: bool) -> None:
    now = 1_111_111_109
    code = SecretText(pyotp.TOTP(SEED.reveal()).generate_otp(now // 30 + away))

    assert (matching_step(SEED, code, at(now), -1) is not None) is counts


@given(SECRETS, TIMES, st.integers(-20, 20))
def test_a_code_counts_one_step_around_now_and_no_further(
    secret: SecretText, seconds: int, away: int
) -> None:
    code = pyotp.TOTP(secret.reveal()).generate_otp(seconds // 30 + away)
    near = {pyotp.TOTP(secret.reveal()).generate_otp(seconds // 30 + n) for n in (-1, 0, 1)}

    found = matching_step(secret, SecretText(code), at(seconds), -1)

    assert (found is not None) == (code in near)


@given(SECRETS, TIMES)
def test_a_step_is_used_once_and_never_an_earlier_one(secret: SecretText, seconds: int) -> None:
    step = seconds // 30
    code = SecretText(pyotp.TOTP(secret.reveal()).generate_otp(step))
    used = matching_step(secret, code, at(seconds), -1)

    assert used is not None
    assert matching_step(secret, code, at(seconds), step + 1) is None


@given(SECRETS, TIMES, st.text(max_size=40))
def test_what_is_no_code_is_refused(secret: SecretText, seconds: int, typed: str) -> None:
    codes = {pyotp.TOTP(secret.reveal()).generate_otp(seconds // 30 + n) for n in (-1, 0, 1)}
    if typed not in codes:
        found = matching_step(secret, SecretText(typed), at(seconds), -1)
        assert found is None or not typed.isascii()


def test_recovery_codes_are_read_however_they_are_typed() -> None:
    numbers = iter(range(1000))
    codes = new_recovery_codes(lambda size: bytes([next(numbers) % 256] * size))

    assert len({code.reveal() for code in codes}) == 10
    for code in codes:
        plain = code.reveal().replace("-", "")
        for typed in (code.reveal(), plain, plain.lower(), " ".join(plain)):
            assert canonical(SecretText(typed)) == SecretText(plain)


@pytest.mark.parametrize(
    "typed", ["", "123456", "A" * 15, "A" * 17, "AAAA-AAAA-AAAA-AAA1", "\uff21" * 16]
)
def test_what_is_no_recovery_code_is_none(typed: str) -> None:
    assert canonical(SecretText(typed)) is None


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (FactorRoles.NONE, (False, False)),
        (FactorRoles.OPERATORS, (True, False)),
        (FactorRoles.MEMBERS, (False, True)),
        (FactorRoles.EVERYONE, (True, True)),
    ],
)
def test_who_needs_a_second_factor(roles: FactorRoles, expected: tuple[bool, bool]) -> None:
    assert (
        is_required(roles, operator=True, admin=False),
        is_required(roles, operator=False, admin=True),
    ) == expected
    assert not is_required(roles, operator=False, admin=False)


def test_the_step_that_was_used_last_does_not_count_again() -> None:
    code, step = SecretText("081804"), 1111111109 // 30

    assert matching_step(SEED, code, at(1111111109), step - 1) == step
    assert matching_step(SEED, code, at(1111111109), step) is None


def test_secrets_and_recovery_codes_have_their_length_and_form() -> None:
    asked: list[int] = []

    def random_bytes(size: int) -> bytes:
        asked.append(size)
        return bytes(range(size))

    assert new_totp_secret(random_bytes).reveal() == "AAAQEAYEAUDAOCAJBIFQYDIOB4IBCEQT"
    assert new_recovery_codes(random_bytes)[0].reveal() == "AAAQ-EAYE-AUDA-OCAJ"
    assert asked == [20] + [10] * 10


def test_the_uri_of_the_qr_code_names_account_and_network() -> None:
    uri = provisioning_uri(SEED, "chief@network.example", "Network").reveal()

    assert uri == (
        "otpauth://totp/Network:chief%40network.example"
        "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Network"
    )
