"""What the operator fills in, who follows the pages of the machine: settings, keys, audit, clients."""

import contextlib
import json
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.docs.follow import Fill
from tests.docs.guides import ROOT, Begins, chosen, entry, own_names
from tests.support.member_server import member_server
from tests.support.people.console import reader
from tests.support.people.operators import active_operator
from tests.support.people.second_factor import enroll
from tests.support.service import Service

from mudra.client import TokenVerifier


@contextlib.contextmanager
def readme(service: Service, folder: Path) -> Iterator[Fill]:
    yield Fill({".venv/bin/": ""})


def signing_kid(service: Service) -> str:
    """The key that signs entity tokens."""
    keys = json.loads(service.cli("keys", "list", "--json").stdout)
    (kid,) = (key["kid"] for key in keys if (key["kind"], key["state"]) == ("entity", "active"))
    return str(kid)


@contextlib.contextmanager
def running(service: Service, folder: Path) -> Iterator[Fill]:
    keys = (
        "mudra backup key backup.key > recipient\n"
        "export MUDRA_BACKUP_DIR=$PWD/backups MUDRA_BACKUP_RECIPIENTS=$(cat recipient)\n"
        "mkdir -p archive\n"
        "mudra backup create"  # else the doctor misses the first one
    )
    yield Fill(
        {
            # The settings are read, and no second service starts.
            "mudra serve --workers 2": "mudra config show",
            "mudra serve": "mudra config show",
            "/mnt/worm/audit": "archive",
            "--key KID": f"--key {signing_kid(service)}",
        },
        {
            "mudra doctor                     # exits 1 and says what to do when something is wrong": keys
        },
    )


@contextlib.contextmanager
def nothing(service: Service, folder: Path) -> Iterator[Fill]:
    """For a guide that leaves nothing to fill in."""
    yield Fill()


@contextlib.contextmanager
def add_a_language(service: Service, folder: Path) -> Iterator[Fill]:
    # The settings are read, and no second service starts.
    yield Fill({"mudra serve": "mudra config show"})


@contextlib.contextmanager
def second_factor(service: Service, folder: Path) -> Iterator[Fill]:
    chief = active_operator(service)
    browser = reader(service)
    browser.sign_in(chief)
    enroll(browser, service)
    yield Fill({"chief@network.example": chief})


@contextlib.contextmanager
def single_sign_on(service: Service, folder: Path) -> Iterator[Fill]:
    yield Fill(
        {"chief@": f"chief-{uuid.uuid4().hex[:6]}@"},
        {
            "mudra operator allow-password chief@network.example --minutes 30": (
                "mudra operator create chief@network.example"
            )
        },
    )


@contextlib.contextmanager
def token_service(service: Service, folder: Path) -> Iterator[Fill]:
    names = chosen(own_names(), "KAVERI-FIP")
    assertion = """python3 - > assertion.jwt <<'END'
import json, time, uuid
from pathlib import Path
from joserfc import jwk, jwt
key = jwk.RSAKey.import_key(Path("key.pem").read_bytes())
base, entity = "http://127.0.0.1:8080/iam", "KAVERI-FIP"
kid = json.load(open("certificate.json"))["kid"]
claims = {"iss": entity, "sub": entity, "aud": base, "exp": int(time.time()) + 200,
          "iat": int(time.time()), "jti": str(uuid.uuid4())}
print(jwt.encode({"alg": "RS256", "kid": kid}, claims, key), end="")
END"""
    yield Fill(
        {},
        {
            "curl -s http://127.0.0.1:8080/iam/v1/entity/token/generate \\": (
                "mudra login asha@finsight.example\n"
                "mudra secret read FINSIGHT-FIU --json | field secret | tr -d '\\n' > secret.txt"
            ),
            "curl -s http://127.0.0.1:8080/iam/oauth2/token -d grant_type=client_credentials \\": (
                f"onboard {names['KAVERI-FIP']} lakshmi@{uuid.uuid4().hex}.example\n"
                "mudra jwk new --private-key key.pem > certificate.json\n"
                f"{entry(names['KAVERI-FIP'])}"
                "mudra registry submit entry.json --as-operator\n"
                f"mudra registry approve {names['KAVERI-FIP']}\n"
                f"{assertion.replace('KAVERI-FIP', names['KAVERI-FIP'])}"
            ),
        },
    )


@contextlib.contextmanager
def check_an_implementation(service: Service, folder: Path) -> Iterator[Fill]:
    names = chosen(own_names(), "KAVERI-FIP")
    bank, admin = names["KAVERI-FIP"], f"lakshmi@{uuid.uuid4().hex}.example"
    verifier = TokenVerifier(service.issuer, wall=service.wall)
    secrets = (
        "mudra login imran@deccanbank.example\n"
        "mudra secret read DECCAN-FIP --json | field secret > secret\n"
        "mudra login meera@saarthi-aa.example\n"
        "mudra secret read SAARTHI-AA --json | field secret > aa-secret\n"
        'echo "$MUDRA_PASSWORD" > password'
    )
    with member_server(verifier) as url:
        member = (
            f"onboard {bank} {admin}\nmudra login {admin}\n"
            "mudra jwk new --private-key key.pem > certificate.json\n"
            f"{entry(bank, baseurl=f'v2:{url}')}"
            "mudra registry submit entry.json\n"
            f"mudra registry approve {bank}\n"
            "mudra login meera@saarthi-aa.example\n"
            "cp aa-secret secret\n"
            "echo eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjF9.AAAA > yesterday.jwt"
        )
        yield Fill(
            {
                "https://iam.example.org/iam": service.issuer,
                "ACME-FIP": "DECCAN-FIP",
                "asha@acme.example": "imran@deccanbank.example",
                "ACME-AA": "SAARTHI-AA",
                **names,
            },
            {
                "mudra conformance run --base-url https://iam.example.org/iam \\": secrets,
                "mudra conformance member KAVERI-FIP --base-url https://iam.example.org/iam \\": member,
            },
        )


def agent_settings(service: Service, folder: Path) -> str:
    """The example of an agent's settings, filled in for this sandbox."""
    settings = (ROOT / "deploy" / "agent.toml").read_text()
    for written, ours in {
        "AA-1": "SAARTHI-AA",
        "/var/lib/mudra-agent": f"{folder}/spool",
        "https://operator.example/metrics": f"{service.root}/metrics",
        "https://operator.example/iam": service.issuer,
        "/etc/mudra/entity-secret": "entity-secret",
        "127.0.0.1:4044": "127.0.0.1:0",
        "/var/log/nginx": str(folder),
    }.items():
        assert written in settings
        settings = settings.replace(written, ours)
    return settings


@contextlib.contextmanager
def run_an_agent(service: Service, folder: Path) -> Iterator[Fill]:
    line = (
        '{"time":"1772443805.123","method":"POST","uri":"/v2/Consent","host":"fip.example",'
        '"status":200,"request_time":"0.4","bytes":120,"upstream_status":"200",'
        '"upstream_header_time":"0.3"}\n'
    )
    yield Fill(
        {
            "sudo -u mudra-agent /opt/mudra/bin/": "",
            "-o mudra-agent /dev/stdin /etc/mudra/entity-secret": (
                '/dev/stdin entity-secret <<< "$SECRET"'
            ),
            "/etc/mudra/agent.toml": "agent.toml",
            "/var/log/nginx/fips.json": "fips.json",
        },
        {
            "install -m 600 -o mudra-agent /dev/stdin /etc/mudra/entity-secret": (
                "mudra login meera@saarthi-aa.example\n"
                "SECRET=$(mudra secret read SAARTHI-AA --json | field secret)"
            )
        },
        {"agent.toml": agent_settings(service, folder), "fips.json": line},
    )


OPERATORS_GUIDES: Final[Mapping[str, Begins]] = MappingProxyType(
    {
        "README.md": readme,
        "docs/operations/running.md": running,
        "docs/how-to/second-factor.md": second_factor,
        "docs/how-to/single-sign-on.md": single_sign_on,
        "docs/how-to/check-an-implementation.md": check_an_implementation,
        "docs/reference/audit-events.md": nothing,
        "docs/how-to/rotate-the-master-key.md": nothing,
        "docs/how-to/add-a-language.md": add_a_language,
        "docs/reference/token-service.md": token_service,
    }
)
