"""The client library against the service itself, nothing in between."""

import contextlib
import threading
from datetime import timedelta

import pytest
from tests.support.issuer import Hands
from tests.support.members import Member
from tests.support.until import PATIENCE_S

from mudra.client import (
    EntityTokenSource,
    GraceWarning,
    NotAnEntityToken,
    Role,
    SecretRefused,
    TokenRevoked,
    TokenVerifier,
)


def test_a_token_from_the_source_is_passed_by_the_verifier(member: Member) -> None:
    source = EntityTokenSource(member.service.issuer, member.entity_id, member.secret)
    verifier = TokenVerifier(member.service.issuer, wall=member.service.wall)

    token = verifier.verify(source.token())

    assert (token.entity_id, token.role) == (member.entity_id, Role.FIP)
    assert token.expires_at - token.issued_at == timedelta(hours=24)


def test_a_revoked_token_is_refused_at_the_next_look_at_the_list(member: Member) -> None:
    steady = Hands(0)
    service, secret = member.service, member.secret()
    verifier = TokenVerifier(service.issuer, wall=service.wall, steady=steady)
    token = member.entity_token(secret).json()["accessToken"]
    verifier.verify(token)

    member.client.post("/oauth2/revoke", data={"token": token}, auth=(member.entity_id, secret))
    steady.now += 15
    with contextlib.suppress(TokenRevoked):
        verifier.verify(token)  # has the list read again
    for thread in threading.enumerate():
        if thread.name == "mudra-revocations":
            thread.join(PATIENCE_S)

    with pytest.raises(TokenRevoked):
        verifier.verify(token)


def test_the_metadata_lead_to_the_same_keys(member: Member) -> None:
    verifier = TokenVerifier(member.service.issuer, ask_metadata=True, wall=member.service.wall)

    token = verifier.verify(member.entity_token(member.secret()).json()["accessToken"])

    assert token.entity_id == member.entity_id


def test_the_token_of_a_person_is_no_entity_token(member: Member) -> None:
    verifier = TokenVerifier(member.service.issuer, wall=member.service.wall)

    with pytest.raises(NotAnEntityToken):
        verifier.verify(member.user_token())


def test_a_rotation_in_grace_is_reported_and_needs_no_restart(member: Member) -> None:
    warnings: list[GraceWarning] = []
    place, steady = [member.secret()], Hands(0)
    source = EntityTokenSource(
        member.service.issuer,
        member.entity_id,
        lambda: place[0],
        on_warning=warnings.append,
        steady=steady,
    )
    member.reset(oldSecretValidity=1)

    first = source.token()
    place[0], steady.now = member.secret(), 86_400
    second = source.token()

    assert first != second
    assert len(warnings) == 1
    assert warnings[0].ends is not None


def test_a_reset_without_grace_raises_secret_refused(member: Member) -> None:
    old = member.secret()
    source = EntityTokenSource(member.service.issuer, member.entity_id, lambda: old)
    member.reset()

    with pytest.raises(SecretRefused):
        source.token()
