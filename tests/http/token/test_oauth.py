"""Standard clients: client credentials, introspection, revocation (RFC 6749, 7662, 7009)."""

from dataclasses import replace

import httpx2
import psycopg
import pytest
from tests.support.members import Member, new_member
from tests.support.service import Service

from mudra.storage.database.embedded.server import embedded_server


@pytest.fixture
def elsewhere(unharmed: Member) -> Member:
    """A member that does nothing but ask, each time from another address."""
    return replace(unharmed, client=unharmed.service.client())


def grant(member: Member, **form: str) -> httpx2.Response:
    return member.client.post("/oauth2/token", data={"grant_type": "client_credentials", **form})


def basic(member: Member, secret: str, **form: str) -> httpx2.Response:
    return member.client.post(
        "/oauth2/token",
        data={"grant_type": "client_credentials", **form},
        auth=(member.entity_id, secret),
    )


def revoke(member: Member, token: str, secret: str) -> httpx2.Response:
    return member.client.post(
        "/oauth2/revoke", data={"token": token}, auth=(member.entity_id, secret)
    )


def test_both_ways_of_client_authentication_give_an_active_token(member: Member) -> None:
    secret = member.secret()

    answers = [
        basic(member, secret),
        grant(member, client_id=member.entity_id, client_secret=secret),
    ]

    for answer in answers:
        assert answer.status_code == 200
        body = answer.json()
        assert set(body) == {"access_token", "token_type", "expires_in", "scope"}
        assert (body["token_type"], body["expires_in"]) == ("Bearer", 86400)
        assert answer.headers["Cache-Control"] == "no-store"
        facts = member.service.introspected(body["access_token"], member.entity_id, secret)
        assert facts["active"] is True
        assert facts["sub"] == facts["client_id"] == member.entity_id


@pytest.mark.parametrize(
    ("form", "status", "error"),
    [
        ({"grant_type": ""}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"client_id": "T-nobody-FIP", "client_secret": "z" * 43}, 401, "invalid_client"),
        ({"client_id": "T-nobody-FIP"}, 401, "invalid_client"),
        ({"client_secret": "z" * 43}, 401, "invalid_client"),
        ({}, 401, "invalid_client"),
    ],
)
def test_a_wrong_grant_is_refused_with_oauth_s_error_codes(
    elsewhere: Member, form: dict[str, str], status: int, error: str
) -> None:
    refused = grant(elsewhere, **form)

    assert (refused.status_code, refused.json()["error"]) == (status, error)
    assert set(refused.json()) == {"error", "error_description"}
    assert ("www-authenticate" in refused.headers) == (status == 401)


def test_a_grant_needs_its_type_one_way_of_authentication_and_a_form(member: Member) -> None:
    secret = member.secret()

    missing = member.client.post("/oauth2/token", data={"client_id": "x"})
    twice = basic(member, secret, client_id=member.entity_id, client_secret=secret)
    as_json = member.client.post("/oauth2/token", json={"grant_type": "client_credentials"})
    repeated = member.client.post(
        "/oauth2/token",
        content="grant_type=client_credentials&grant_type=client_credentials",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )

    for refused in (missing, twice, as_json, repeated):
        assert 400 <= refused.status_code < 500
        assert refused.json()["error"] == "invalid_request"


@pytest.mark.parametrize("header", ["Basic", "Basic !!!", "Basic bm9jb2xvbg==", "Digest x"])
def test_an_unreadable_authorization_is_an_invalid_client(elsewhere: Member, header: str) -> None:
    refused = elsewhere.client.post(
        "/oauth2/token",
        data={"grant_type": "client_credentials"},
        headers={"Authorization": header},
    )

    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")


def test_introspection_calls_everything_but_an_active_entity_token_inactive(
    member: Member,
) -> None:
    service, secret = member.service, member.secret()
    token = member.entity_token(secret).json()["accessToken"]
    head, body, signature = token.split(".")
    for inactive in (
        member.user_token(),
        "garbage",
        f"{head}.{body}.{signature[::-1]}",
        f"{head}.{body}.",
        f"eyJhbGciOiJub25lIn0.{body}.",
    ):
        assert service.introspected(inactive, member.entity_id, secret) == {"active": False}
    assert service.introspected(token, member.entity_id, secret)["active"] is True


def test_the_openapi_document_has_every_field_of_introspection(member: Member) -> None:
    secret = member.secret()
    token = member.entity_token(secret).json()["accessToken"]
    document = member.client.get(f"{member.service.root}/schema/openapi.json").json()

    described = document["components"]["schemas"]["OAuthIntrospection"]["properties"]

    answered = member.service.introspected(token, member.entity_id, secret)
    # `cnf` is of a token that is bound to a key. `clientId` repeats `client_id`, and both in one
    # document make the same name in Java and Go.
    assert set(answered) == set(described) - {"cnf"} | {"clientId"}


def test_introspection_needs_a_client_and_serves_any_member(
    member: Member,
) -> None:
    other = new_member(member.service)
    token = member.entity_token(member.secret()).json()["accessToken"]

    anonymous = member.client.post("/oauth2/introspect", data={"token": token})
    by_other = member.service.introspected(token, other.entity_id, other.secret())
    by_bearer = member.client.post(
        "/oauth2/introspect", data={"token": token}, headers={"Authorization": f"Bearer {token}"}
    )
    nothing = member.client.post(
        "/oauth2/introspect", data={"token": ""}, headers={"Authorization": f"Bearer {token}"}
    )

    assert (anonymous.status_code, anonymous.json()["error"]) == (401, "invalid_client")
    assert by_other["active"] is by_bearer.json()["active"] is True
    assert (nothing.status_code, nothing.json()["error"]) == (400, "invalid_request")


def test_a_revoked_entity_token_is_inactive_on_every_worker_and_revoking_twice_is_no_error(
    each_member: Member,
) -> None:
    service, secret = each_member.service, each_member.secret()
    token, kept = (each_member.entity_token(secret).json()["accessToken"] for _ in range(2))

    answers = [revoke(each_member, token, secret) for _ in range(2)]

    assert [(a.status_code, a.content) for a in answers] == [(200, b""), (200, b"")]
    for _ in range(8):
        assert service.introspected(token, each_member.entity_id, secret) == {"active": False}
    assert service.introspected(kept, each_member.entity_id, secret)["active"] is True


def test_no_client_revokes_the_token_of_another(member: Member) -> None:
    other = new_member(member.service)
    secret = member.secret()
    token = member.entity_token(secret).json()["accessToken"]

    by_other = revoke(other, token, other.secret())
    by_no_one = member.client.post("/oauth2/revoke", data={"token": token})
    unknown = revoke(member, "garbage", secret)

    assert (by_other.status_code, by_other.json()["error"]) == (400, "invalid_grant")
    assert (by_no_one.status_code, unknown.status_code) == (401, 200)
    assert member.service.introspected(token, member.entity_id, secret)["active"] is True


def test_a_revoked_user_token_is_refused(each_member: Member) -> None:
    token = each_member.user_token()
    headers = {"Authorization": f"Bearer {token}"}

    revoked = each_member.client.post("/oauth2/revoke", data={"token": token})

    assert revoked.status_code == 200
    refused = each_member.read(headers)
    assert (refused.status_code, refused.json()["errorCode"]) == (401, "TokenRevoked")
    assert each_member.read().status_code == 200


def test_the_tokens_of_a_suspended_entity_are_inactive_and_it_gets_none(
    service: Service, member: Member
) -> None:
    asker = new_member(service)
    secret, askers = member.secret(), asker.secret()
    token = member.entity_token(secret).json()["accessToken"]

    # Suspension is a use case of the registry; here only its effect on the row, and its notification.
    with embedded_server(service.data_dir) as conninfo, psycopg.connect(conninfo) as connection:
        connection.execute(
            "UPDATE entity SET status = 'suspended' WHERE entity_id = %s", [member.entity_id]
        )
        connection.execute(
            "SELECT pg_notify('mudra_changes', %s)",
            ['{"kind":"changed","key":"entity:%s","sender":"test"}' % member.entity_id],  # noqa: UP031
        )

    assert service.introspected(token, asker.entity_id, askers) == {"active": False}
    refused = member.entity_token(secret)
    assert (refused.status_code, refused.json()["errorCode"]) == (401, "Unauthorized")


@pytest.mark.parametrize("path", ["/oauth2/introspect", "/oauth2/revoke"])
def test_a_wrong_client_secret_is_recorded_in_the_audit(member: Member, path: str) -> None:
    token = member.entity_token(member.secret()).json()["accessToken"]

    refused = member.client.post(
        path, data={"token": token}, auth=(member.entity_id, "wrong-secret")
    )

    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    member.service.wait_until(lambda: "wrong-credentials" in audit_reasons(member))


def audit_reasons(member: Member) -> list[str]:
    with (
        embedded_server(member.service.data_dir) as conninfo,
        psycopg.connect(conninfo) as connection,
    ):
        rows = connection.execute(
            "SELECT reason FROM audit_event WHERE entity_id = %s", [member.entity_id]
        )
        return [row[0] for row in rows]
