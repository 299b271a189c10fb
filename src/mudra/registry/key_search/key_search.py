"""Searches the RSA keys of entries for what makes them worthless, one step at a time.

A step tries one part of the primes with every key that is not done, and the next step the next
part, round and round: a key begins where the search is, and is done after one round. So keys that
are registered meanwhile keep none waiting.
"""

from collections import defaultdict

import structlog

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.registry.key_search.key_search_store import KeySearches
from mudra.registry.key_search.weak_key import Found, KeyInUse, Search, Step, Weakness
from mudra.storage.database.transaction import OpenTransaction, Transaction

_log = structlog.get_logger()


async def search_next(open_transaction: OpenTransaction, search: Search) -> int:
    """Take the next step, if there is one; return how many keys in use are known to be weak."""
    async with open_transaction() as tx:
        step = await KeySearches(tx).next_step()
    found = Found() if step is None else await search(step)
    async with open_transaction() as tx:
        if step is not None and found is not None:
            await KeySearches(tx).keep_step(step)
            await _keep_findings(tx, step, found)
        return await KeySearches(tx).weak_count()


async def _keep_findings(tx: Transaction, step: Step, found: Found) -> None:
    partners: dict[int, set[int]] = defaultdict(set)
    for one, other in found.sharing:
        partners[one].add(other)
        partners[other].add(one)
    for place in found.divisible:
        await _keep_finding(tx, step.every[place], Weakness.SMALL_FACTOR, [])
    for place, others in partners.items():
        sharers = [step.every[other].entity_id for other in sorted(others)]
        await _keep_finding(tx, step.every[place], Weakness.SHARED_PRIME, sharers)


async def _keep_finding(
    tx: Transaction, key: KeyInUse, weakness: Weakness, sharers: list[str]
) -> None:
    """Keep the first finding about a key, with its audit row: one is enough to replace it."""
    if not await KeySearches(tx).keep_weakness(key.modulus_hash, weakness):
        return
    detail = {"kid": key.kid, "weakness": weakness.value}
    if sharers:
        detail["sharedWith"] = ", ".join(sharers[:10])
    entry = AuditEntry(
        EventName.REGISTRY_KEY_FACTOR, Caller("system"), key.entity_id, detail=detail
    )
    await AuditLog(tx).append(entry)
    _log.error(
        "a registered key can be factored",
        entity_id=key.entity_id,
        **detail,
        remedy="have the member register a new key; until then suspend its entry",
    )
