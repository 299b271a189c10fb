"""A network of untidy members, as real ones are: for the drill of tasks and looks at pages.

40 AAs, 300 FIPs and 160 FIUs with long names, other scripts, emojis and IDs of 64 characters; two
hours of reports, in which the FI fetch of one bank fails since an hour.
"""

import asyncio
import random
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from tests.support.cheap_hashes import cheap_hashes
from tests.support.registry.registry_payloads import fip
from tests.support.service import PASSWORD

from bench.history import checked, make_sums, partitions, put_windows, windows_until
from bench.sizes import sized
from bench.support import data_directory, say
from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.bootstrap.node.serve import open_store
from mudra.demo.activation import activate, hash_once
from mudra.demo.traffic import Disruption, Traffic
from mudra.identity.memberships.onboard import NewMember, Onboarded, onboard_member
from mudra.identity.operators.person_rule import owner
from mudra.metrics.payload.catalogue import WINDOW, RequestType
from mudra.metrics.payload.validation import CheckedReport
from mudra.registry.lifecycle.actor import operator
from mudra.registry.lifecycle.acts.register import submit_entry, update_entry
from mudra.registry.lifecycle.decision import Decision
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.registry.ports import Registry
from mudra.settings.settings import Settings
from mudra.storage.database.embedded.server import embedded_server

AAS, FIPS, FIUS = (int(one) for one in sized((40, 300, 160), (2, 12, 2)))
BROKEN: Final = "BANK-0007"
"""The bank whose FI fetch fails."""
BROKEN_NAME: Final = "Kaveri Bank"
CHANGED: Final = "BANK-0003"
"""The bank whose entry has a change to approve."""
CHANGED_NAME: Final = "Godavari Bank"
ADMINS: Final = ("AA-00", BROKEN, "FIU-000")
BUSIEST: Final = 900
_NAMED: Final = {BROKEN: BROKEN_NAME, CHANGED: CHANGED_NAME}
_WINDOWS, _BAD = sized((7, 4), (4, 3))
_CALLER: Final = "operator:bench"
_LIMIT_S: Final = 600.0
_WORDS: Final = (
    "Cooperative Bank of the Workers of the Districts of Upper and Lower Something Limited",
    "पंजाब एंड सिंध सहकारी बैंक मर्यादित",
    "தமிழ்நாடு கிராம வங்கி",
    '<b>Bank</b> & Sons "Private" Ltd',
    "  Two   Spaces  Bank ",
    "Émile-Zoë Crédit 🏦🌾",
    "BANK",
    "Donaudampfschiffahrtsgesellschaftskapitaensbank",
    "Shri Mahalaxmi Nagari Sahakari Patsanstha Maryadit (formerly Shri Laxmi), Kolhapur",
    "बैंक 7",
)


def name_of(place: int) -> str:
    """A name as members write them: some are long, some are of another script."""
    return f"{_WORDS[place % len(_WORDS)].strip()} {place}"


def id_of(kind: str, place: int) -> str:
    """An ID; every tenth is as long as one may be."""
    plain = {"AA": f"AA-{place:02}", "FIP": f"BANK-{place:04}", "FIU": f"FIU-{place:03}"}[kind]
    is_long = place % 10 == 9  # every tenth
    return plain + "." + "x" * (63 - len(plain)) if is_long else plain


def ids(kind: str, count: int) -> Sequence[str]:
    """The IDs of all members of a type."""
    return [id_of(kind, place) for place in range(count)]


def admin_of(entity_id: str) -> str:
    """The address of a member's admin."""
    return f"{entity_id.lower()[:40]}@member.example"


def load(folder: Path, now: datetime) -> None:
    """Fill a data directory."""
    data_dir = data_directory(str(folder))
    settings = Settings(data_dir=data_dir, registry_one_operator=True)
    with open_store(settings, create=True) as opened:
        asyncio.run(_people(build_dependencies(settings, *opened)))
        say("members onboarded")
    with embedded_server(data_dir) as conninfo:
        asyncio.run(partitions(conninfo, now - timedelta(days=1), now))
        windows = sorted(windows_until(now, _WINDOWS))
        for some, is_bad in ((windows[:-_BAD], False), (windows[-_BAD:], True)):
            reports = list(_reports(now - WINDOW, is_bad=is_bad))
            say(f"{asyncio.run(put_windows(conninfo, reports, some)):,} cells of windows")
        say(f"{asyncio.run(make_sums(conninfo))} sums made")
    with open_store(settings, create=False) as opened:
        asyncio.run(_evaluate(build_dependencies(settings, *opened), windows[0]))


async def _people(dependencies: Dependencies) -> None:
    with cheap_hashes():
        hashed = await hash_once(dependencies, PASSWORD)
    for kind, count in (("AA", AAS), ("FIP", FIPS), ("FIU", FIUS)):
        for place, entity_id in enumerate(ids(kind, count)):
            name = _NAMED.get(entity_id, name_of(place))
            new = NewMember(entity_id, kind, name, admin_of(entity_id), name_of(place + 3)[:60])
            async with dependencies.transaction() as tx:
                done = await onboard_member(tx, new, owner(Caller(_CALLER)))
            assert isinstance(done, Onboarded), done
            if entity_id in {*ADMINS, CHANGED} or place % 3:
                await activate(dependencies, done.admin, hashed)
    await _entry(dependencies)
    await dependencies.invalidation.stop()
    await dependencies.close()


async def _entry(dependencies: Dependencies) -> None:
    """Register one entry, and submit a change of its address that waits for approval."""
    for address, take in (("api", submit_entry), ("new", update_entry)):
        baseurl = f"v2:https://{address}.bank.example/v2"
        made = fip(3, id=CHANGED, baseurl=baseurl) | {"txnid": str(uuid.uuid4())}
        made["requester"]["id"] = CHANGED
        valid = check_payload(made, AddressPolicy(), shipped_vocabulary())
        assert isinstance(valid, CheckedPayload), valid
        async with dependencies.transaction() as tx:
            done = await take(
                tx.service(Registry), valid, operator(_CALLER), approved=take is submit_entry
            )
        assert isinstance(done, Decision), done


async def _evaluate(dependencies: Dependencies, since: datetime) -> None:
    async with dependencies.metrics_maintenance(within_s=_LIMIT_S) as work:
        await work.detection.evaluate_past(since, work.now)
    await dependencies.invalidation.stop()
    await dependencies.close()


def _reports(window: datetime, *, is_bad: bool) -> Iterator[CheckedReport]:
    """Both payloads of each AA of one window."""
    fails = Disruption(BROKEN, RequestType.FI_FETCH, window, window + WINDOW)
    traffic = Traffic(ids("FIP", FIPS), BUSIEST, (fails,) if is_bad else ())
    dice = random.Random(1)
    for aa_id in ids("AA", AAS):
        for make in (traffic.requests, traffic.notifications):
            yield checked(make(aa_id, window, str(uuid.uuid4()), dice), window + 2 * WINDOW)
