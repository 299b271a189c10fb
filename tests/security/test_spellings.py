"""An address has one spelling: what a proxy in front could read otherwise is 404."""

import socket
from urllib.parse import urlsplit

import pytest
from tests.support.service import Service
from tests.support.until import PATIENCE_S

PATHS = (
    "//iam/.well-known/jwks.json",
    "/iam//.well-known/jwks.json",
    "/iam/.well-known/jwks.json//",
    "/iam%2F.well-known/jwks.json",
    "/iam%2f.well-known/jwks.json",
    "/%2Fiam/.well-known/jwks.json",
    "/iam%5C.well-known/jwks.json",
    "/iam\\.well-known/jwks.json",
    "/iam/./.well-known/jwks.json",
    "/operator/../iam/.well-known/jwks.json",
    "/operator/%2e%2e/iam/.well-known/jwks.json",
    "/iam/.well-known/jwks.json%00",
    "//operator/v1/members",
    "/operator%2Fv1%2Fmembers",
    "/iam//v1/entity/token/generate",
    "/iam/v1/entity%2Ftoken/generate",
    "/cr/v2//entityInfo/FIP",
    "/cr/v2/entityInfo%2FFIP",
    "//livez",
    "//console/sign-in",
)


def status_of(service: Service, method: str, path: str) -> int:
    """Ask in these very bytes, which an HTTP library would tidy up."""
    root = urlsplit(service.issuer)
    with socket.create_connection(
        (root.hostname or "", root.port or 80), timeout=PATIENCE_S
    ) as connection:
        connection.sendall(
            f"{method} {path} HTTP/1.1\r\nHost: {root.netloc}\r\nContent-Length: 0\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        return int(connection.makefile("rb").readline().split()[1])


@pytest.mark.parametrize("path", PATHS)
def test_another_spelling_of_an_address_is_404(service: Service, path: str) -> None:
    assert [status_of(service, method, path) for method in ("GET", "POST")] == [404, 404]


def test_the_one_spelling_answers(service: Service) -> None:
    assert status_of(service, "GET", "/iam/.well-known/jwks.json") == 200
    assert status_of(service, "GET", "/iam/%2Ewell-known/jwks.json") == 200
    assert status_of(service, "GET", "/livez") == 200
