"""Acts on a registry in memory, each in one line."""

import asyncio
import datetime as dt

from tests.support.registry.registry_memory import START
from tests.support.registry.registry_payloads import fip

from mudra.registry.lifecycle.actor import DECIDE, SUBMIT, Actor, ActorKind
from mudra.registry.lifecycle.acts.register import Command, decide, submit_entry, update_entry
from mudra.registry.lifecycle.decision import RegistryAction
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary

OPERATOR = Actor(ActorKind.OPERATOR, "olga", scopes=frozenset({SUBMIT, DECIDE}))
READER = Actor(ActorKind.OPERATOR, "rita")
ADMIN = Actor(ActorKind.MEMBER_ADMIN, "asha@fip.example", frozenset({"FIP-0"}))
ENTITY = Actor(ActorKind.ENTITY, "FIP-0", frozenset({"FIP-0"}))
STRANGER = Actor(ActorKind.ENTITY, "FIP-9", frozenset({"FIP-9"}))
LATER = START + dt.timedelta(days=3)


def checked(raw) -> CheckedPayload:
    result = check_payload(raw, AddressPolicy(), shipped_vocabulary())
    assert isinstance(result, CheckedPayload), result
    return result


def submit(registry, raw, actor=OPERATOR, **options):
    return asyncio.run(submit_entry(registry, checked(raw), actor, **options))


def update(registry, raw, actor=OPERATOR, **options):
    return asyncio.run(update_entry(registry, checked(raw), actor, **options))


def order(registry, act, entity_id="FIP-0", actor=OPERATOR, **options):
    """Decide; an approval is of what is pending, unless a version is named."""
    record = registry.records.get(entity_id)
    if act is RegistryAction.APPROVE and record is not None and record.pending is not None:
        options.setdefault("version", record.pending.number)
    return asyncio.run(decide(registry, Command(act, entity_id, actor, **options)))


def live(registry, raw=None):
    return submit(registry, raw or fip(), approved=True)


def status(registry, entity_id="FIP-0"):
    return registry.records[entity_id].status


def shown(registry):
    return {one.entity_id for one in asyncio.run(registry.current()).listed.values()}
