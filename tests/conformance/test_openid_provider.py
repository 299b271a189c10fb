"""Operators sign in by node-oidc-provider, a certified OpenID Connect provider."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from joserfc.jwk import ECKey, KeySet
from tests.support.cheap_keys import rsa_key
from tests.support.people.console import Reader, reader
from tests.support.people.operators import active_operator
from tests.support.process import running_service
from tests.support.programs import needs
from tests.support.service import Service
from tests.support.until import PATIENCE_S

HERE = Path(__file__).parent / "node"
NODE = Path(sys.executable).with_name("node")
CLIENT = {"clientId": "mudra", "clientSecret": "a-secret-of-at-least-32-characters-for-tests"}

pytestmark = needs("node-packages")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def idp() -> str:
    return f"http://127.0.0.1:{_free_port()}"


@pytest.fixture(scope="module")
def served(idp: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(
        tmp_path_factory.mktemp("sso") / "data",
        keeps_store=True,
        MUDRA_SSO_ISSUER=idp,
        MUDRA_SSO_CLIENT_ID=CLIENT["clientId"],
        MUDRA_SSO_CLIENT_SECRET=CLIENT["clientSecret"],
        MUDRA_SSO_REQUEST_SCOPES="openid email profile groups",
        MUDRA_SSO_SCOPE_CLAIM="groups",
        MUDRA_SSO_SCOPE_MAP="noc=health+audit",
        MUDRA_SSO_SECOND_FACTOR="amr=mfa",
    ) as running:
        yield running


@contextlib.contextmanager
def provider(idp: str, service: Service, account: dict[str, object]) -> Iterator[None]:
    """Run it until the end of the block."""
    keys = KeySet([rsa_key(), ECKey.generate_key("P-256")])
    asked = {
        **CLIENT,
        "port": int(idp.rpartition(":")[2]),
        "redirectUri": f"{service.root}/console/sign-in/sso/callback",
        "account": account,
        "algorithm": "ES256",
        "amr": ["pwd", "mfa"],
        "keys": keys.as_dict(private=True)["keys"],
    }
    process = subprocess.Popen(
        [NODE, HERE / "provider.mjs"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # the wheel's node starts the real one as its child
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(asked))
        process.stdin.close()
        lines = iter(process.stdout.readline, "")
        heard = next((line for line in lines if line == "ready\n"), "nothing")
        assert heard == "ready\n"
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_S)
        process.stdout.close()


def follow(browser: Reader, idp: str, path: str) -> httpx2.Response:
    """Go there, and back, as a browser does; the cookies of the provider stay with it."""
    at_provider = httpx2.Client(trust_env=False)
    answer = browser.get(path)
    for _ in range(12):
        target = answer.headers.get("location", "")
        if target.startswith((idp, "/interaction/", "/authorize", "/auth/")):
            answer = at_provider.get(target if target.startswith("http") else idp + target)
        elif target.startswith(f"{browser.root}/console/sign-in/sso/callback"):
            at_provider.close()
            cross = {"Sec-Fetch-Site": "cross-site"}
            return browser.get(target.removeprefix(browser.root), **cross)
        else:
            raise AssertionError((answer.status_code, target, answer.text[:2000]))
    raise AssertionError("too many redirects")


def test_an_operator_signs_in_with_fewer_scopes_than_it_holds(served: Service, idp: str) -> None:
    email, browser = active_operator(served, "health", "keys"), reader(served)
    account = {"email": email, "name": "Chief", "groups": ["noc"]}

    with provider(idp, served, account):
        done = follow(browser, idp, "/console/sign-in/sso?to=/console/operator/health")

    assert done.headers["location"] == "/console/operator/health", done.text
    assert browser.get("/console/operator/health").status_code == 200
    assert browser.get("/console/operator/keys").status_code == 403
