"""Which refusals of a service mean that its caller has to sign in, by exit code 3."""

import asyncio

import httpx2
import pytest

from mudra.cli.client.api import Api
from mudra.cli.local.program import CommandFailed
from mudra.cli.output.output import Exit

ISSUER = "https://identity.example/iam"


@pytest.mark.parametrize(
    ("user", "code", "expected"),
    [
        ("asha@kaveri.example", "TokenExpired", Exit.NOT_SIGNED_IN),
        ("asha@kaveri.example", "TokenRevoked", Exit.NOT_SIGNED_IN),
        ("asha@kaveri.example", "Unauthorized", Exit.FAILED),
        ("", "TokenExpired", Exit.FAILED),  # the token of an entity, not of a sign-in
    ],
)
def test_an_ended_token_of_the_person_is_no_sign_in(user: str, code: str, expected: Exit) -> None:
    refusal = {"errorCode": code, "errorMsg": "the token ended", "txnId": "7"}
    service = httpx2.MockTransport(lambda _: httpx2.Response(401, json=refusal))

    async def call() -> None:
        async with httpx2.AsyncClient(transport=service) as client:
            await Api(client, ISSUER, user=user).get("v1/user/session/list")

    with pytest.raises(CommandFailed) as failed:
        asyncio.run(call())

    assert failed.value.code == expected
    assert ("run mudra login asha@kaveri.example" in str(failed.value)) is (expected == 3)
