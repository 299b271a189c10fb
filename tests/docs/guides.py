"""What the reader of each guide fills in, and what other people do meanwhile.

Names are new in each run, so that a guide can be followed again in the same sandbox.
"""

import contextlib
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.docs.follow import Fill
from tests.support.alarm_network import Network
from tests.support.registry.registry_payloads import fip, older
from tests.support.service import Service
from tests.support.webhook_sink import webhook_sink

ROOT: Final = Path(__file__).parents[2]
Begins = Callable[[Service, Path], AbstractContextManager[Fill]]
ISSUER: Final = "https://tokens.network.example/iam"


def own_names() -> dict[str, str]:
    """Names of the guides to those of one run."""
    own = uuid.uuid4().hex[:6]
    return {
        "KAVERI-FIP": f"KAVERI{own.upper()}-FIP",
        "kaveribank.example": f"kaveri{own}.example",
    }


def chosen(document_names: Mapping[str, str], *wanted: str) -> dict[str, str]:
    """Some of the names."""
    return {name: document_names[name] for name in wanted}


def entry(entity_id: str, **changes: object) -> str:
    """The shell's words that write the entry of an entity, with the key of this folder."""
    text = fip(uuid.uuid4().int % 10**9 + 10**6, id=entity_id, **changes)
    text["requester"]["id"] = entity_id
    return f"""python3 - > entry.json <<'ENTRY'
import json, uuid
payload = json.loads('''{json.dumps(text)}''')
payload["entityinfo"]["certificate"] = json.load(open("certificate.json"))
payload["txnid"] = str(uuid.uuid4())
print(json.dumps(payload))
ENTRY
"""


@contextlib.contextmanager
def onboard_a_member(service: Service, folder: Path) -> Iterator[Fill]:
    own = uuid.uuid4().hex[:6]
    names = chosen(own_names(), "KAVERI-FIP", "kaveribank.example") | {
        "TAPI-FIP": f"TAPI{own.upper()}-FIP",
        "staff@": f"staff-{own}@",
        "/var/lib/mudra": str(service.data_dir),
        ISSUER: service.issuer,
    }
    bank = names["kaveribank.example"]
    rows = (
        "entityId,type,name,adminEmail,adminName",
        f"{names['KAVERI-FIP']},FIP,Kaveri Bank,lakshmi@{bank},Lakshmi Iyer",
        f"{names['TAPI-FIP']},FIP,Tapi Bank,nila@tapi{own}.example,Nila Menon",
    )
    yield Fill(
        names,
        {
            "mudra admin add KAVERI-FIP ravi@kaveribank.example --name 'Ravi Rao'": (
                "mudra member restore KAVERI-FIP --reason 'the audit is over'"
            ),
            "BASE_URL=https://tokens.network.example/iam   # the address that the service prints at startup": (
                "activate staff@network.example"
            ),
        },
        {"members.csv": "\n".join(rows) + "\n"},
    )


@contextlib.contextmanager
def manage_your_entity(service: Service, folder: Path) -> Iterator[Fill]:
    names = chosen(own_names(), "KAVERI-FIP", "kaveribank.example") | {
        ISSUER: service.issuer,
        "TOKEN_ID": "$chosen_token",
    }
    begun = f"""onboard KAVERI-FIP lakshmi@kaveribank.example
mudra jwk new --private-key key.pem > certificate.json
{entry("KAVERI-FIP", ips=["127.0.0.1"])}
mudra login lakshmi@kaveribank.example
mudra registry submit entry.json
mudra registry approve KAVERI-FIP --version 1"""
    yield Fill(
        names,
        {
            "BASE_URL=https://tokens.network.example/iam": begun,
            "mudra token list": (
                "mudra login lakshmi@kaveribank.example\n"
                "chosen_token=$(mudra token list --json | of 'it[-1][\"jti\"]')"
            ),
            "mudra entity admins KAVERI-FIP": (
                "mudra login lakshmi@kaveribank.example\n"
                "mudra entity add-admin KAVERI-FIP meera@kaveribank.example"
            ),
        },
    )


@contextlib.contextmanager
def registry(service: Service, folder: Path) -> Iterator[Fill]:
    names = chosen(own_names(), "KAVERI-FIP", "kaveribank.example")
    from_then_on = datetime.now(UTC) + timedelta(days=300)
    directory = [older(fip(uuid.uuid4().int % 10**9 + 10**6))]
    submit = "mudra registry submit entry.json"
    yield Fill(
        names
        | {
            "2026-03-01T00:00:00Z": f"{from_then_on:%Y-%m-%dT%H:%M:%SZ}",
            "--to 3": "--to 1",
        },
        {
            "mudra jwk new --private-key signing-key.pem > certificate.json": (
                "onboard KAVERI-FIP lakshmi@kaveribank.example"
            ),
            "mudra registry lint entry.json": entry("KAVERI-FIP"),
            "mudra registry approve KAVERI-FIP --version 2 --from 2026-03-01T00:00:00Z": (
                f"{entry('KAVERI-FIP', baseurl='v2:https://new.kaveri.example/v2')}{submit}"
            ),
            "mudra registry reject KAVERI-FIP --reason 'the certificate is not yours'": (
                f"{entry('KAVERI-FIP', baseurl='v2:https://third.kaveri.example/v2')}{submit}"
            ),
            "mudra registry rollback KAVERI-FIP --to 3 --reason 'wrong address'": (
                f"{entry('KAVERI-FIP', baseurl='v2:https://fourth.kaveri.example/v2')}{submit}\n"
                "mudra registry approve KAVERI-FIP --version 4"
            ),
            "mudra registry probe KAVERI-FIP": ("mudra login vikram@network.example"),
        },
        {"directory.json": json.dumps(directory)},
    )


@contextlib.contextmanager
def monitor_the_network(network: Network) -> Iterator[Fill]:
    """In a network of its own, whose clock an incident moves."""
    service, own = network.service, uuid.uuid4().hex[:6]
    names = chosen(own_names(), "KAVERI-FIP", "kaveribank.example")
    service.cli(
        "member", "onboard", names["KAVERI-FIP"], "--type", "FIP", "--name", "Kaveri Bank",
        "--admin", f"lakshmi@{names['kaveribank.example']}",
    )  # fmt: skip
    network.report(names["KAVERI-FIP"], 20)
    service.wait_until(lambda: bool(network.open_incidents(names["KAVERI-FIP"])))
    (incident,) = network.open_incidents(names["KAVERI-FIP"])
    tomorrow = datetime.fromtimestamp(service.wall(), UTC) + timedelta(days=1)
    announced = (
        "chosen_announcement=$(mudra announcement list --json | of 'it[0][\"announcementId\"]')"
    )
    latest = "$(mudra health {} --json | of 'it[-1][\"{}\"]')"
    with webhook_sink() as sink:
        yield Fill(
            {
                "https://alarms.network.example/mudra": sink.url,
                "https://alarms.kaveribank.example/mudra": sink.url,
                "https://hooks.slack.com/services/…": f"{sink.url}/slack",
                "https://….webhook.office.com/…": f"{sink.url}/teams",
                "https://tokens.network.example": service.root,
                "WEBHOOK_ID": "$chosen_webhook",
                "SILENCE_ID": "$chosen_silence",
                "ANNOUNCEMENT_ID": "$chosen_announcement",
                "INCIDENT_ID": incident["incidentId"],
                "2026-12-01": f"{tomorrow:%Y-%m-%d}",
                **{f"{who}@": f"{who}-{own}@" for who in ("night", "day", "vikram")},
                **names,
            },
            {
                "mudra health test-webhook WEBHOOK_ID": (
                    f"chosen_webhook={latest.format('webhooks', 'webhookId')}"
                ),
                "mudra health unsilence SILENCE_ID": (
                    f"chosen_silence={latest.format('silences', 'silenceId')}"
                ),
                'mudra announcement change ANNOUNCEMENT_ID --title "Kaveri Bank is done soon" --text "At 05:00 IST."': announced,
                'mudra announcement update ANNOUNCEMENT_ID --text "All requests succeed again." --ends': announced,
                "BASE=https://tokens.network.example": (
                    "activate lakshmi@kaveribank.example\nmudra login lakshmi@kaveribank.example"
                ),
                "mudra alarms set --of-network major --time-zone Asia/Kolkata --quiet 22:00-07:00": (
                    "mudra operator create vikram@network.example --scope health\n"
                    "activate vikram@network.example\nmudra login vikram@network.example"
                ),
                "mudra health acknowledge INCIDENT_ID": (
                    "mudra operator create night@network.example --scope health\n"
                    "activate night@network.example\n"
                    "mudra operator create day@network.example --scope health\n"
                    "activate day@network.example"
                ),
            },
        )


GUIDES: Final[Mapping[str, Begins]] = MappingProxyType(
    {
        "docs/how-to/onboard-a-member.md": onboard_a_member,
        "docs/how-to/manage-your-entity.md": manage_your_entity,
        "docs/how-to/registry.md": registry,
    }
)
