"""Samples that are no commands: programs with the client library, answers as a page shows them."""

import asyncio
import base64
import contextlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import httpx2
import pytest
import yaml
from joserfc.jwk import ECKey, RSAKey
from tests.support.documents.blocks import ROOT, blocks_of, filled_in
from tests.support.http_clients import NO_TLS
from tests.support.members import Member
from tests.support.programs import program
from tests.support.service import Service
from tests.support.webhook_sink import webhook_sink

from mudra.client import AsyncTokenVerifier, BodySigner, ProofUse, TokenVerifier
from mudra.client.web.wsgi import EntityTokenMiddleware
from mudra.demo.network import DEMO_PASSWORD

LIBRARY = "docs/how-to/use-the-client-library.md"
API = "docs/reference/client.md"
REGISTRY = "docs/reference/registry.md"


@pytest.fixture
def aa(sandbox: Service) -> Member:
    """An AA of the demonstration network."""
    email = "meera@saarthi-aa.example"
    return Member(sandbox, "SAARTHI-AA", email, DEMO_PASSWORD, sandbox.client())


def sample(document: str, first: str, **filled_in: str) -> str:
    """A sample, with what its reader fills in."""
    (text,) = (block.body for block in blocks_of(document) if block.first == first)
    for written, ours in filled_in.items():
        assert written in text, written
        text = text.replace(written, ours)
    return text


def ran(text: str, **names: Any) -> dict[str, Any]:
    """Run a sample with what the page takes as there; gives all its names."""
    exec(text, names)
    return names


def test_the_samples_of_the_client_library_work(
    aa: Member, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("signing-key.pem").write_bytes(RSAKey.generate_key(2048).as_pem(private=True))
    issuer = aa.service.issuer
    with webhook_sink() as peer:
        here = peer.url.removesuffix("/alarms")
        sending = sample(LIBRARY, "from pathlib import Path", **{
            "https://iam.example.org/iam": issuer, "https://fip.example": here,
            "/run/secrets/entity-secret": "entity-secret",
        })  # fmt: skip
        Path("entity-secret").write_text(f"{aa.secret()}\n")
        sent = ran(sending)
        bound = sample(
            LIBRARY, "from mudra.client import DpopKey, EntityTokenAuth, EntityTokenSource",
            **{"https://iam.example.org/iam": issuer, "HDFC-FIP": aa.entity_id},
        )  # fmt: skip
        client = ran(bound, read_secret=aa.secret, httpx2=httpx2)["client"]
        client.post(f"{here}/v2/Consent", json={"ver": "2.0.0"})
        with contextlib.closing(client), contextlib.closing(sent["client"]):
            plain, proven = peer.posted

    verifier = TokenVerifier(issuer, audience="account-aggregator-network")
    assert verifier.verify(plain.headers["aa_api_key"]).entity_id == aa.entity_id
    assert "x-jws-signature" in plain.headers
    assert "dpop" in proven.headers
    assert plain.path == "/v2/Consent"


def test_the_samples_of_the_twins_give_the_address_of_a_caller(aa: Member) -> None:
    class App:
        def get(self, _: str) -> Callable[[Any], Any]:
            return lambda handler: handler

    async def asked() -> str:
        text = sample(
            LIBRARY,
            "from mudra.client import AsyncDirectory, AsyncEntityTokenSource",
            **{
                "https://iam.example.org/iam": aa.service.issuer,
                "https://iam.example.org": aa.service.root,
                "HDFC-FIP": aa.entity_id,
            },
        )
        secret = aa.secret()
        verifier = AsyncTokenVerifier(aa.service.issuer, audience="account-aggregator-network")
        names = ran(text, app=App(), Request=object, verifier=verifier, read_secret=lambda: secret)
        caller = SimpleNamespace(
            state=SimpleNamespace(mudra_entity=SimpleNamespace(entity_id="KAVERI-FIP"))
        )
        return str(await names["address_of_caller"](caller))

    assert asyncio.run(asked()).startswith("v2:https://")


def test_the_samples_that_accept_callers_work(aa: Member) -> None:
    def app(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [])
        return [b"the app"]

    verifier = TokenVerifier(aa.service.issuer, audience="account-aggregator-network")
    text = sample(
        LIBRARY, 'EntityTokenMiddleware(app, verifier, origins=["https://fip.example.org"])'
    )
    guarded = eval(
        text, {"EntityTokenMiddleware": EntityTokenMiddleware, "app": app, "verifier": verifier}
    )
    transport = httpx2.WSGITransport(app=guarded)
    token = aa.entity_token(aa.secret()).json()["accessToken"]
    with httpx2.Client(transport=transport, base_url="https://fip.example.org") as client:
        answers = [client.get("/", headers=one) for one in ({"client_api_key": token}, {})]

    assert [one.status_code for one in answers] == [200, 401]


def test_the_sample_of_a_shared_place_takes_each_proof_once() -> None:
    class Redis:
        """What `SET key value NX EXAT` answers (https://redis.io/docs/latest/commands/set)."""

        kept: ClassVar[dict[str, tuple[str, int]]] = {}

        def set(self, key: str, value: str, *, nx: bool, exat: int) -> bool | None:
            if nx and key in self.kept:
                return None
            self.kept[key] = (value, exat)
            return True

    names = ran(sample(LIBRARY, "import math"), redis=Redis())
    use = ProofUse("SAARTHI-AA", b"a hash", datetime(2026, 11, 23, 9, 30, tzinfo=UTC))

    assert [names["use_once"](use) for _ in range(2)] == [True, False]
    assert Redis.kept == {f"proof:{b'a hash'.hex()}": ("SAARTHI-AA", 1795426200)}


def test_the_sample_that_proves_a_key_passes_all_else_on(sandbox: Service) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError

    names = ran(
        sample(
            LIBRARY,
            "from mudra.client import KeyProof",
            **{"https://iam.example.org/iam": sandbox.issuer},
        ),
        app=app,
        verifier=AsyncTokenVerifier(sandbox.issuer, audience="account-aggregator-network"),
        signer=BodySigner(RSAKey.generate_key(2048).as_pem(private=True), "ours"),
    )

    assert type(names["app"]).__name__ == "KeyProofMiddleware"


def test_the_sample_that_reads_the_registry_finds_a_peer(
    aa: Member, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("secret").write_text(aa.secret())
    text = sample(REGISTRY, "from pathlib import Path", **{
        "KAVERI-FIU": aa.entity_id, "ACME-FIP": "KAVERI-FIP",
        "https://registry.example.org": aa.service.root,
        "https://iam.example.org/iam": aa.service.issuer,
        "/run/secrets/entity-secret": "secret",
    })  # fmt: skip
    found = ran(text)

    assert found["peer"].entity_id == "KAVERI-FIP"
    assert Path("copy.json").exists()


def test_the_sample_of_the_api_verifies_a_token(
    aa: Member, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("entity-secret").write_text(f"{aa.secret()}\n")
    text = sample(API, "from pathlib import Path", **{
        "https://iam.example.org/iam": aa.service.issuer, "HDFC-FIP": aa.entity_id,
    })  # fmt: skip
    names = ran(text)

    with contextlib.closing(names["client"]):
        assert names["caller_of"](names["tokens"].token()) == (200, aa.entity_id)
        assert names["caller_of"]("no token")[0] == 401


def test_the_samples_at_the_classes_of_the_api_work(
    aa: Member, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("entity-secret").write_text(aa.secret())
    Path("signing-key.pem").write_bytes(RSAKey.generate_key(2048).as_pem(private=True))
    Path("dpop-key.pem").write_bytes(ECKey.generate_key("P-256").as_pem(private=True))
    written = {
        "https://iam.example.org/iam": aa.service.issuer,
        "https://iam.example.org": aa.service.root,
        "HDFC-FIP": aa.entity_id,
        "SAARTHI-AA": "KAVERI-FIP",
    }
    samples = [block.body for block in blocks_of(API) if block.kind == "python"]
    names = ran(filled_in("\n".join(samples), written))

    with contextlib.closing(names["client"]), contextlib.closing(names["peers"]):
        assert names["verifier"].verify(names["tokens"].token()).bound_to == ""
        bound = names["bound"].token()
        assert (
            names["key"].thumbprint in base64.urlsafe_b64decode(bound.split(".")[1] + "==").decode()
        )
        assert names["peer"].entity_id == "KAVERI-FIP"
        assert "KAVERI-FIP" in names["fips"]
        called = "https://fip.example.org/v2/Consent"
        proof = names["key"].proof("POST", called, bound)
        assert names["caller_with_proof"](bound, [proof]) == aa.entity_id
        assert names["caller_with_proof"](names["tokens"].token(), []) == aa.entity_id
        assert names["is_by_registered"](b"{}", "no.signature.") is False
        assert names["is_from"]("KAVERI-FIP", b"{}", "no.signature.") is False
        assert names["headers"]["x-jws-signature"].count("..") == 1
        assert names["answer_to"](b"{}", "no.signature.")[0] == 400


@pytest.mark.parametrize("page", ["docs/reference/errors.md", "docs/reference/token-service.md"])
def test_the_error_of_the_reference_is_what_a_service_answers(aa: Member, page: str) -> None:
    blocks = [block.body for block in blocks_of(page) if block.kind == "json"]
    shown = json.loads(next(body for body in blocks if '"errorCode"' in body))

    answered = aa.reset(secretExpiryDays=365).json()

    assert answered.keys() == shown.keys()
    changing = ("timestamp", "txnId")
    assert {**answered, **dict.fromkeys(changing)} == {**shown, **dict.fromkeys(changing)}


def test_the_claims_of_the_reference_are_those_of_a_token(aa: Member) -> None:
    (shown,) = (
        json.loads(block.body)
        for block in blocks_of("docs/reference/token-service.md")
        if block.first.startswith('{"iss"')
    )

    token = aa.entity_token(aa.secret()).json()["accessToken"]

    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert {name: type(value) for name, value in claims.items()} == {
        name: type(value) for name, value in shown.items()
    }


def test_the_list_of_revoked_tokens_looks_as_shown(sandbox: Service) -> None:
    (shown,) = (
        json.loads(block.body)
        for block in blocks_of("docs/reference/token-service.md")
        if '"validUntil"' in block.body
    )

    answered = httpx2.get(f"{sandbox.issuer}/revocations", verify=NO_TLS).json()

    assert answered.keys() == shown.keys()
    assert {name: type(value) for name, value in answered.items()} == {
        name: type(value) for name, value in shown.items()
    }


def test_the_scrape_of_the_page_is_one_of_prometheus(tmp_path: Path) -> None:
    (text,) = (
        block.body for block in blocks_of("docs/operations/running.md") if block.kind == "yaml"
    )
    (settings,) = (
        block.body for block in blocks_of("docs/operations/running.md") if block.kind == "env"
    )
    host, port = re.findall(r"^MUDRA_TELEMETRY_(?:HOST|PORT)=(\S+)$", settings, re.MULTILINE)
    # A node listens where Prometheus of the page asks, which it does not by default.
    assert f'"{host}:{port}"' in text
    (tmp_path / "prometheus.yml").write_text(text)
    (rules,) = yaml.safe_load(text)["rule_files"]
    shutil.copy(ROOT / "deploy" / "prometheus" / rules, tmp_path)

    done = subprocess.run(
        [program("promtool"), "check", "config", "prometheus.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
