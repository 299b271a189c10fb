"""Libraries from npm: `jose` and `jsonwebtoken` verify tokens, `openid-client` gets them."""

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

from tests.support.members import Member
from tests.support.programs import needs
from tests.support.service import Service
from tests.support.until import PATIENCE_S

HERE = Path(__file__).parent / "node"
NODE = Path(sys.executable).with_name("node")

pytestmark = needs("node-packages")
DAY_S = 86400


def verified(
    service: Service, token: str, now: int, issuer: str = ""
) -> dict[str, dict[str, object]]:
    done = subprocess.run(
        [NODE, HERE / "verify.mjs"],
        input=json.dumps(
            {
                "token": token,
                "jwksUri": f"{service.issuer}/protocol/openid-connect/certs",
                "issuer": issuer or service.issuer,
                "audience": "account-aggregator-network",
                "now": now,
            }
        ),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


def token_and_time(member: Member) -> tuple[str, int]:
    answer = member.entity_token(member.secret()).json()
    return answer["accessToken"], int(datetime.fromisoformat(answer["timestamp"]).timestamp())


def test_both_verify_an_entity_token_and_read_its_claims(member: Member) -> None:
    token, now = token_and_time(member)

    seen = verified(member.service, token, now)

    for library in ("jose", "jsonwebtoken"):
        claims = seen[library]["claims"]
        assert claims["sub"] == claims["clientId"] == member.entity_id
        assert claims["roles"] == "FIP"


def test_both_refuse_an_altered_an_ended_and_a_foreign_token(member: Member) -> None:
    token, now = token_and_time(member)
    head, body, signature = token.split(".")
    swapped = "B" if signature[9] != "B" else "C"
    altered = f"{head}.{body}.{signature[:9]}{swapped}{signature[10:]}"

    for seen in (
        verified(member.service, altered, now),
        verified(member.service, token, now + DAY_S),
        verified(member.service, token, now, issuer="https://elsewhere.example/iam"),
    ):
        assert set(seen["jose"]) == set(seen["jsonwebtoken"]) == {"refused"}


def test_an_oauth_client_discovers_gets_introspects_and_revokes(member: Member) -> None:
    """By the metadata of RFC 8414; secrets by Basic and in the form."""
    asked = {
        "issuer": member.service.issuer,
        "id": member.entity_id,
        "secret": member.secret(),
    }

    done = subprocess.run(
        [NODE, HERE / "oauth.mjs"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    granted = {"type": "bearer", "expiresIn": DAY_S, "before": True, "after": False}
    assert seen["basic"] == seen["post"] == granted | {"sub": member.entity_id}
    # RFC 9110 15.5.2: a 401 has its challenge, which this client reports before the error.
    assert {seen["wrongBasic"], seen["wrongPost"]} == {"OAUTH_WWW_AUTHENTICATE_CHALLENGE"}
