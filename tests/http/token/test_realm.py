"""Members' settings name the realm of an earlier identity server: keys and tokens are there too."""

from collections.abc import Iterator

import httpx
import pytest
from tests.support.service import NO_TLS, Service, new_member, running_service

REALM = "/auth/realms/network"
BELOW = "/protocol/openid-connect"


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data_dir = tmp_path_factory.mktemp("moved") / "data"
    with running_service(data_dir, MUDRA_REALM_PATHS=f"{REALM},/auth/realms/older") as service:
        yield service


@pytest.mark.parametrize("path", [REALM, "/auth/realms/older"])
def test_keys_and_tokens_are_at_the_addresses_of_the_realm(moved: Service, path: str) -> None:
    member = new_member(moved)
    own = member.client.get(f"{BELOW}/certs")

    keys = httpx.get(f"{moved.root}{path}{BELOW}/certs", verify=NO_TLS)
    token = httpx.post(
        f"{moved.root}{path}{BELOW}/token",
        data={
            "grant_type": "client_credentials",
            "client_id": member.entity_id,
            "client_secret": member.secret(),
        },
        verify=NO_TLS,
    )

    assert keys.content == own.content
    assert token.status_code == 200
    secret = member.secret()
    assert moved.introspected(token.json()["access_token"], member.entity_id, secret)["active"]


def test_without_the_setting_there_is_no_realm(service: Service) -> None:
    answer = httpx.get(f"{service.root}{REALM}{BELOW}/certs", verify=NO_TLS)

    assert answer.status_code == 404
