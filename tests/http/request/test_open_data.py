"""What a browser may ask of the service for a page of another site (Fetch, "CORS protocol")."""

import pytest
from tests.support.service import Service


@pytest.mark.parametrize(
    "path",
    [
        "/iam/revocations",
        "/iam/protocol/openid-connect/certs",
        "/iam/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server/iam",
        "/status/network.json",
        "/status/network.csv",
        "/status/levels.json",
        "/status/v1/fips.json",
        "/status/fip/KAVERI-FIP/badge.svg",
    ],
)
def test_a_page_of_any_site_may_ask_for_open_data_by_its_tag(service: Service, path: str) -> None:
    asks = {
        "Origin": "https://dashboard.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "if-none-match",
    }
    client = service.client()

    answer = client.options(f"{service.root}{path}", headers=asks)

    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "GET" in answer.headers["access-control-allow-methods"]
    assert "If-None-Match" in answer.headers["access-control-allow-headers"]


def test_no_other_site_may_ask_for_what_is_not_open(service: Service) -> None:
    asks = {"Origin": "https://dashboard.example", "Access-Control-Request-Method": "POST"}

    for path in ("/iam/v1/entity/secret/read", "/operator/v1/members", "/cr/v2/entityInfo/AA"):
        answer = service.client().options(f"{service.root}{path}", headers=asks)

        assert not [one for one in answer.headers if one.startswith("access-control")]
