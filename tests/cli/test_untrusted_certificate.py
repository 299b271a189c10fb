"""A service whose certificate is by no authority of this machine: each caller says so."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.forked_command import run_mudra
from tests.support.tls_server import tls_server
from typer.testing import CliRunner

from mudra.bootstrap.command_line import app
from mudra.client import EntityTokenSource, ServiceUnavailable

SAID = "its certificate is not trusted: self-signed certificate"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with tls_server(tmp_path_factory.mktemp("tls"), days=9) as port:
        yield f"https://127.0.0.1:{port}/iam"


def test_a_command_names_the_certificate_and_what_to_do(issuer: str, tmp_path: Path) -> None:
    words = ("login", "x@y.example", "--password-stdin", "--base-url", issuer)
    done = CliRunner().invoke(
        app, words, input="pw\n", env={**os.environ, "MUDRA_CONFIG_DIR": str(tmp_path)}
    )

    assert done.exit_code == 5
    assert SAID in done.stderr
    assert "SSL_CERT_FILE" in done.stderr
    assert "is the service running" not in done.stderr


def test_the_conformance_suite_names_it(issuer: str) -> None:
    done = run_mudra("conformance", "run", "--base-url", issuer, "--only", "4.4", "--json")

    assert SAID in done.stdout + done.stderr


def test_the_client_library_names_it(issuer: str) -> None:
    with pytest.raises(ServiceUnavailable, match=SAID):
        EntityTokenSource(issuer, "KAVERI-FIP", lambda: "a secret").token()
