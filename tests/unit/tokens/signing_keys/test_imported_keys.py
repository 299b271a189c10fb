"""Imported keys take no part in what is planned and signed."""

from datetime import UTC, datetime, timedelta

from mudra.tokens.claims import TokenKind
from mudra.tokens.signing_keys.key_lifecycle import KeyState, SigningKey, plan, published, signing

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
MONTH = timedelta(days=30)


def key(kid: str, *, active_from: datetime | None = None, **more: object) -> SigningKey:
    facts = {"created_at": NOW - MONTH, "active_from": active_from, "retires_at": None} | more
    return SigningKey(kid=kid, kind=TokenKind.ENTITY, public_jwk={}, **facts)  # type: ignore[arg-type]


IMPORTED = key("foreign", issuer="https://old.example", retires_at=NOW + MONTH)
# Even a row that claims to sign since long ago, and has no end, is no key of ours.
CLAIMING = key("claiming", issuer="https://old.example", active_from=NOW - MONTH)
OWN = key("own", active_from=NOW - timedelta(days=3))
NEXT = key("next")


def test_the_plan_is_the_same_with_imported_keys() -> None:
    for own in ([], [OWN], [NEXT], [OWN, NEXT]):
        for rotate_now in (False, True):
            wanted = plan(own, NOW, rotate_after=MONTH, rotate_now=rotate_now)
            seen = plan([IMPORTED, *own, CLAIMING], NOW, rotate_after=MONTH, rotate_now=rotate_now)
            assert seen == wanted


def test_an_imported_key_never_signs() -> None:
    assert signing([IMPORTED, CLAIMING], TokenKind.ENTITY, NOW) is None
    assert signing([IMPORTED, OWN, CLAIMING], TokenKind.ENTITY, NOW) == OWN


def test_it_is_published_until_its_end() -> None:
    assert [one.kid for one in published([IMPORTED, OWN], NOW)] == ["own", "foreign"]
    assert IMPORTED.state(NOW + MONTH - timedelta(seconds=1)) is KeyState.IMPORTED
    assert IMPORTED.state(NOW + MONTH) is KeyState.RETIRED
    assert published([IMPORTED], NOW + MONTH) == []
