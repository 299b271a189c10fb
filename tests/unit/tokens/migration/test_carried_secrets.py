"""What a move says of each secret of Keycloak, and that none lives longer than there."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.docs.keycloak import Realm, client

from mudra.tokens.migration.carried_secrets import CarriedSecrets, carried_secrets
from mudra.tokens.migration.keycloak_export import Export, ExportUnreadable, read_export
from mudra.tokens.secrets.secret import SecretState

NOW = datetime(2026, 11, 26, 10, 20, 0, 123_456, tzinfo=UTC)
ID = "ROTATED-FIU"
DAY = 86_400


def at(days: float) -> str:
    return str(int(NOW.timestamp() + days * DAY))


def exported(members: dict[str, object], **of_realm: object) -> Export:
    realm = Realm(clients=[client(ID, **members)]).export() | of_realm
    return read_export(json.dumps(realm).encode())


def carried(secret: object = "new-secret-0123456789abcdef", **attributes: object) -> CarriedSecrets:
    names = {
        "expires": "client.secret.expiration.time",
        "rotated": "client.secret.rotated",
        "rotated_expires": "client.secret.rotated.expiration.time",
    }
    held = {names.get(name, name): value for name, value in attributes.items()}
    [one] = exported({"secret": secret, "attributes": held}).clients
    return carried_secrets(one, NOW)


def test_an_expired_secret_never_lives_again() -> None:
    found = carried(expires="1710000000")

    assert found.current is None
    assert found.detail == "gets a new secret: its secret ended on 2024-03-09"


@pytest.mark.parametrize("none", [None, "", "0", 0])
def test_a_secret_without_an_end_gets_the_longest_life(none: object) -> None:
    found = carried(expires=none)

    assert found.stored(ID).secret.expires_at - NOW <= timedelta(days=180)
    assert found.detail == "keeps its secret, until 2027-05-25 (there without an end)"


@pytest.mark.parametrize("value", [at(20), int(at(20)), float(at(20)), f"{at(20)}.0"])
def test_a_secret_ends_here_when_it_ends_there(value: object) -> None:
    found = carried(expires=value)

    assert found.stored(ID).secret.expires_at == datetime(2026, 12, 16, 10, 20, tzinfo=UTC)
    assert found.detail == "keeps its secret, until 2026-12-16"


def test_an_end_beyond_the_longest_life_is_said() -> None:
    assert carried(expires=at(400)).detail == (
        "keeps its secret, until 2027-05-25 (there 2027-12-31)"
    )


@pytest.mark.parametrize(
    "value", ["soon", "nan", "inf", "1764152400000", [at(20)], {"a": 1}, True, "2026-12-16"]
)
def test_an_end_that_is_no_time_keeps_no_secret(value: object) -> None:
    found = carried(expires=value)

    # `true` is the number 1 for the reader, which is long ago.
    assert found.current is None
    assert found.detail.startswith("gets a new secret: ")


@pytest.mark.parametrize(
    ("ends", "until", "said"),
    [
        (at(21), timedelta(days=7), "its rotated secret works until 2026-12-03 (there 2026-12-17)"),
        (at(3), timedelta(days=3), "its rotated secret works until 2026-11-29"),
        (at(0.1), timedelta(days=0.1), "its rotated secret works until 2026-11-26"),
        (
            "0",
            timedelta(days=7),
            "its rotated secret works until 2026-12-03 (there without an end)",
        ),
    ],
)
def test_a_rotated_secret_is_the_old_one_in_grace(ends: str, until: timedelta, said: str) -> None:
    found = carried(rotated="old-secret-0123456789abcdef", rotated_expires=ends)
    stored = found.stored(ID)
    assert stored.replaced_by is not None
    rotation, text = stored.replaced_by

    assert stored.text.reveal() == "old-secret-0123456789abcdef"
    assert text.reveal() == "new-secret-0123456789abcdef"
    assert rotation.previous.state is SecretState.GRACE
    assert rotation.previous.grace_until is not None
    assert abs(rotation.previous.grace_until - NOW - until) < timedelta(seconds=1)
    assert said in found.detail


def test_a_rotated_secret_that_ended_or_is_masked_is_said_to_end() -> None:
    ended = carried(rotated="old-secret-0123456789abcdef", rotated_expires=at(-1))
    masked = carried(rotated="**********", rotated_expires=at(9))
    alone = carried(expires=at(-1), rotated="old-secret-0123456789abcdef", rotated_expires=at(9))

    assert ended.old is masked.old is alone.old is None
    assert ended.detail.endswith("its rotated secret ended on 2026-11-25")
    assert "its rotated secret is masked" in masked.detail
    assert alone.detail.endswith("its rotated secret ends with the move")


def test_a_null_secret_or_a_bad_client_costs_itself() -> None:
    odd = [
        client(ID, secret=None, attributes=None, protocolMappers=None, name=None),
        client("GOOD-FIP"),
        {"clientId": {"secret": "do-not-show"}},
        client("ODD-FIP", enabled="do-not-show"),
        "do-not-show",
    ]
    found = read_export(json.dumps(Realm(clients=odd).export()).encode())

    assert [one.client_id for one in found.clients] == [ID, "GOOD-FIP"]
    assert found.clients[0].why == "the export has no secret"
    assert [name for name, _ in found.unreadable] == [
        "client 6 of the export",
        "ODD-FIP",
        "client 8 of the export",
    ]
    assert "do-not-show" not in str(found.unreadable)


def test_null_lists_are_empty() -> None:
    found = read_export(b'{"realm":"aa","clients":null,"components":null,"users":null}')

    assert (found.clients, found.keys, found.skipped) == ([], [], [])


def test_what_a_move_does_not_take_over_is_said() -> None:
    found = exported(
        {
            "notBefore": 1_764_000_000,
            "attributes": {
                "dpop.bound.access.tokens": "true",
                "tls.client.certificate.bound.access.tokens": "true",
            },
        },
        notBefore=1_763_000_000,
        groups=[{"name": "members"}],
        identityProviders=[{"alias": "google"}],
        users=[{"username": "service-account-x"}, {"username": "asha"}, {"username": None}],
    )
    detail = carried_secrets(found.clients[0], NOW).detail
    skipped = dict(found.skipped)

    assert "issued before 2025-11-24, which are accepted here" in detail
    assert "(DPoP)" in detail
    assert "TLS certificate" in detail
    assert "issued before 2025-11-13" in skipped["realm aa"]
    assert {"users (2)", "groups (1)", "identity providers (1)"} <= skipped.keys()


def test_a_byte_order_mark_is_no_part_of_an_export() -> None:
    realm = json.dumps(Realm(clients=[client(ID)]).export())

    assert len(read_export(realm.encode("utf-8-sig")).clients) == 1
    with pytest.raises(ExportUnreadable, match="UTF-16"):
        read_export(realm.encode("utf-16"))


@given(
    st.one_of(
        st.none(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(),
        st.text(max_size=12),
    ),
    st.one_of(
        st.none(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(),
        st.text(max_size=12),
    ),
)
def test_no_secret_lives_longer_here_than_there(ends: object, rotated_ends: object) -> None:
    found = carried(expires=ends, rotated="old-secret-0123456789", rotated_expires=rotated_ends)
    if found.current is None:
        return
    stored = found.stored(ID)
    new = stored.replaced_by[0].new if stored.replaced_by else stored.secret
    if found.current.ends_at is not None:
        assert new.expires_at <= found.current.ends_at
    assert NOW - timedelta(seconds=1) < new.expires_at <= NOW + timedelta(days=180)
    if stored.replaced_by is not None:
        until = stored.replaced_by[0].previous.grace_until
        assert until is None or until <= NOW + timedelta(days=7)
