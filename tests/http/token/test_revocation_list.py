"""The revocation list: signed, seconds old, and complete from the commit of each change."""

import json
import uuid
from datetime import timedelta

import httpx2
import pytest
import sqlalchemy as sa
from joserfc import jws
from joserfc.jwk import KeySet
from tests.support.members import Member, new_member
from tests.support.service import Service

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.memberships.member import MemberStatus
from mudra.identity.memberships.member_status import set_member_status
from mudra.identity.operators.person_rule import owner
from mudra.storage.tables.tokens import revoked_entity_token

MAX_OF_ENTITY = 1_000


def fetched(service: Service) -> httpx2.Response:
    answer = service.client().get("/revocations")
    assert answer.status_code == 200
    return answer


def claims_of(token: str) -> dict[str, object]:
    payload = jws.extract_compact(token.encode()).payload
    found = json.loads(payload)
    assert isinstance(found, dict)
    return found


def token_of(member: Member, secret: str) -> str:
    token = member.entity_token(secret).json()["accessToken"]
    assert isinstance(token, str)
    return token


def is_active(member: Member, token: str, by: Member, secret: str) -> bool:
    return bool(member.service.introspected(token, by.entity_id, secret)["active"])


def set_status(member: Member, status: MemberStatus, after: timedelta = timedelta()) -> None:
    async def change(dependencies: Dependencies) -> None:
        dependencies.clock.offset += after
        async with dependencies.transaction() as tx:
            outcome = await set_member_status(
                tx, member.entity_id, status, "a test", owner(Caller("operator:tests"))
            )
        assert outcome is status

    member.service.in_own_store(change)


def test_the_list_is_signed_by_a_published_key_and_valid_for_a_minute(service: Service) -> None:
    answer = fetched(service)

    keys = KeySet.import_key_set(service.client().get("/.well-known/jwks.json").json())
    signature = answer.headers["x-jws-signature"]
    assert jws.deserialize_compact(signature, keys, payload=answer.content)
    body = answer.json()
    assert (body["ver"], body["issuer"]) == ("1.0.0", service.issuer)
    assert body["validUntil"] - body["issuedAt"] == 60
    metadata = service.client().get("/.well-known/openid-configuration").json()
    assert metadata["revocations_uri"] == f"{service.issuer}/revocations"


def test_who_has_the_current_list_is_answered_so(service: Service) -> None:
    client = service.client()
    tags = [client.get("/revocations").headers["ETag"] for _ in range(3)]

    # It is made again every ten seconds: one of three requests in a row has the last one's.
    statuses = [
        client.get("/revocations", headers={"If-None-Match": tag}).status_code for tag in tags
    ]

    assert 304 in statuses


def test_a_revoked_token_is_in_the_next_list(member: Member) -> None:
    secret = member.secret()
    token, other = token_of(member, secret), token_of(member, secret)
    before = fetched(member.service).json()["revoked"]

    done = member.client.post(
        "/oauth2/revoke", data={"token": token}, auth=(member.entity_id, secret)
    )
    after = fetched(member.service).json()["revoked"]

    assert done.status_code == 200
    assert claims_of(token)["jti"] not in before
    assert claims_of(token)["jti"] in after
    assert claims_of(other)["jti"] not in after


def test_a_suspension_ends_tokens_for_good_and_is_in_the_next_list(service: Service) -> None:
    member, reader = new_member(service, "FIP"), new_member(service, "FIU")
    secret, read_secret = member.secret(), reader.secret()
    token = token_of(member, secret)
    issued_at = claims_of(token)["iat"]
    assert is_active(member, token, reader, read_secret)

    set_status(member, MemberStatus.SUSPENDED)
    suspended = fetched(service).json()["notBefore"]
    refused = is_active(member, token, reader, read_secret)
    set_status(member, MemberStatus.ACTIVE, after=timedelta(minutes=5))
    restored = fetched(service).json()["notBefore"]

    assert isinstance(issued_at, int)
    assert suspended[member.entity_id] > issued_at
    assert restored[member.entity_id] == suspended[member.entity_id]
    assert not refused
    assert not is_active(member, token, reader, read_secret)


@pytest.mark.parametrize("entity_type", ["FIP", "AA"])
def test_a_token_that_is_issued_after_a_short_suspension_is_valid(
    service: Service, entity_type: str
) -> None:
    member = new_member(service, entity_type)
    secret = member.secret()

    set_status(member, MemberStatus.SUSPENDED)
    set_status(member, MemberStatus.ACTIVE)
    token = token_of(member, secret)

    issued_at = claims_of(token)["iat"]
    assert isinstance(issued_at, int)
    assert fetched(service).json()["notBefore"][member.entity_id] <= issued_at
    assert is_active(member, token, member, secret)


def test_an_entity_that_filled_its_room_revokes_no_more_and_others_do(service: Service) -> None:
    full, other = new_member(service), new_member(service)
    secret, others = full.secret(), other.secret()
    service.in_own_store(lambda dependencies: fill(dependencies, full.entity_id))

    refused = revoke(full, token_of(full, secret), secret)
    by_other = revoke(other, token_of(other, others), others)
    set_status(full, MemberStatus.SUSPENDED)

    assert (refused.status_code, refused.json()["error"]) == (429, "temporarily_unavailable")
    assert "use one token for its 24 hours" in refused.json()["error_description"]
    assert 3500 < int(refused.headers["Retry-After"]) <= 3600
    assert by_other.status_code == 200
    assert full.entity_id in fetched(service).json()["notBefore"]


def revoke(member: Member, token: str, secret: str) -> httpx2.Response:
    return member.client.post(
        "/oauth2/revoke", data={"token": token}, auth=(member.entity_id, secret)
    )


async def fill(dependencies: Dependencies, entity_id: str) -> None:
    """Revoke as many tokens of the entity, of an hour, as it may."""
    async with dependencies.database.transaction() as transaction:
        now = await transaction.now()
        rows = [
            {
                "jti": str(uuid.uuid4()),
                "entity_id": entity_id,
                "revoked_at": now,
                "expires_at": now + timedelta(hours=1),
            }
            for _ in range(MAX_OF_ENTITY)
        ]
        await transaction.connection.execute(sa.insert(revoked_entity_token), rows)
