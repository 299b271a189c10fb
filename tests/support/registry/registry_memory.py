"""The registry's storage in memory: the same promises as the database's, for one process."""

import datetime as dt
from collections.abc import Sequence

from msgspec.structs import replace

from mudra.registry.directory.directory import Change, Directory
from mudra.registry.lifecycle.actor import Actor
from mudra.registry.lifecycle.decision import (
    HANDLE_STAYS_AFTER,
    Decision,
    Facts,
    RegistryAction,
    TokenEffect,
)
from mudra.registry.lifecycle.grants import Grant
from mudra.registry.lifecycle.history import MAX_HISTORY
from mudra.registry.lifecycle.record import Record, Version
from mudra.registry.lifecycle.refusal import RegistryRefusal
from mudra.registry.payload.entry import Entry
from mudra.registry.payload.fields.certificate import KeyFacts
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import PENDING, EntityStatus, VersionStatus

START = dt.datetime(2026, 1, 15, 9, 30, tzinfo=dt.UTC)


class MemoryRegistry:
    """Implements `Registry` and `DirectoryLog`; time moves by hand."""

    def __init__(self) -> None:
        self.now = START
        self.one_operator = True
        self.given: list[Grant] = []
        self.lost: set[tuple[str, str]] = set()
        self.records: dict[str, Record] = {}
        self._holding: dict[str, list[Version]] = {}
        self.onboarded: dict[str, EntityType] = {}
        self.log: list[Change] = []
        self.token_effects: list[tuple[str, TokenEffect]] = []
        self.kept: list[Decision] = []
        self.refusals: list[tuple[str, str, str, RegistryRefusal]] = []
        self.marker = 0
        self._directory = Directory()

    async def lock(self) -> dt.datetime:
        return self.now

    async def has_right_now(self, actor: Actor, entity_id: str) -> bool:
        return (actor.name, entity_id) not in self.lost

    async def record(
        self, entity_id: str, *, version: int = 0, entry: Entry | None = None
    ) -> Record | None:
        whole = self.records.get(entity_id)
        if whole is None:
            return None
        equal = [one.number for one in whole.versions if entry is not None and one.entry == entry]
        return _with_numbers(whole, {version, whole.next_number - 1, *equal[:1], *equal[-1:]})

    async def history(self, entity_id: str) -> Record | None:
        whole = self.records.get(entity_id)
        if whole is None:
            return None
        return _with_numbers(whole, {one.number for one in whole.versions[-MAX_HISTORY:]})

    async def live_count(self) -> int:
        return len((await self.current()).listed)

    async def live_entries(self) -> Sequence[bytes]:
        listed = (await self.current()).listed.values()
        return [
            one.body for one in sorted(listed, key=lambda one: (one.entity_type, one.entity_id))
        ]

    async def facts(self, entry: Entry, key: KeyFacts, now: dt.datetime) -> Facts:
        own = entry.entityinfo.id
        return Facts(
            onboarded_as=self.onboarded.get(own),
            handle_holder=self._handle_holder(own, entry.entityinfo.entityhandle.lower(), now),
            kid_holder=self._holder(own, lambda one: one.key.kid == key.kid),
            modulus_holder=self._holder(own, lambda one: one.key.modulus_hash == key.modulus_hash),
        )

    def _holder(self, own: str, same) -> str:
        for entity_id, versions in self._holding.items():
            if entity_id != own and any(map(same, versions)):
                return entity_id
        return ""

    def _handle_holder(self, own: str, handle: str, now: dt.datetime) -> str:
        held = {
            entity_id: [
                one for one in versions if handle == one.entry.entityinfo.entityhandle.lower()
            ]
            for entity_id, versions in sorted(self._holding.items())
            if handle and entity_id != own
        }
        has = [one for one, versions in held.items() if any(map(_is_held_now, versions))]
        live = self.records[own].live if own in self.records else None
        if live and live.entry.entityinfo.entityhandle.lower() == handle:
            return next(iter(has), "")
        stays = [
            one for one, versions in held.items() if versions and self._stays(one, versions, now)
        ]
        return next(iter(has + stays), "")

    def _stays(self, entity_id: str, versions: list[Version], now: dt.datetime) -> bool:
        times = [(one.live_until or now) - one.live_from for one in versions if one.live_from]
        retired = self.records[entity_id].status is EntityStatus.RETIRED
        return retired or sum(times, dt.timedelta()) >= HANDLE_STAYS_AFTER

    async def grants(self, entity_id: str, after: dt.datetime) -> Sequence[Grant]:
        return [one for one in self.given if one.at > after and one.entity_id in {"", entity_id}]

    async def due(self, now: dt.datetime) -> Sequence[str]:
        return [
            one.entity_id
            for one in self.records.values()
            if one.pending and one.pending.goes_live_at and one.pending.goes_live_at <= now
        ]

    async def keep(self, decision: Decision) -> None:
        self.kept.append(decision)
        after = decision.after
        # What was decided on may leave versions out.
        whole = self.records.get(after.entity_id, after)
        merged = {one.number: one for one in (*whole.versions, *after.versions)}
        self.records[after.entity_id] = replace(after, versions=tuple(merged.values()))
        self._holding[after.entity_id] = [one for one in merged.values() if _holds(one)]
        if decision.tokens is not TokenEffect.NONE:
            self.token_effects.append((decision.after.entity_id, decision.tokens))
        published = decision.publication
        if published is not None:
            self.log.append(
                Change(
                    len(self.log) + 1,
                    self.now,
                    published.entity_type,
                    published.entity_id,
                    published.body,
                )
            )

    async def keep_refusal(
        self, action: RegistryAction, entity_id: str, actor: Actor, refusal: RegistryRefusal
    ) -> None:
        self.refusals.append((action, entity_id, actor.name, refusal))

    def mark_visibility(self) -> None:
        self.log.append(Change(len(self.log) + 1, self.now, None, "", None))
        self.marker = len(self.log)

    async def current(self) -> Directory:
        self._directory = self._directory.after(self.log[self._directory.sequence :])
        return self._directory

    async def following(self, since: int, most: int) -> Sequence[Change]:
        return self.log[since : since + most]

    async def last_until(self, moment: dt.datetime) -> Sequence[Change]:
        last = {one.entity_id: one for one in self.log if one.at <= moment}
        return sorted(last.values(), key=lambda one: one.sequence)

    async def epoch(self) -> int:
        """Returns the epoch of a registry that was never restored."""
        return 0

    async def opened_at(self) -> int:
        return self.marker


def _with_numbers(whole: Record, numbers: set[int]) -> Record:
    always = {VersionStatus.LIVE, *PENDING}
    kept = [one for one in whole.versions if one.number in numbers or one.status in always]
    return replace(whole, versions=tuple(kept))


def _holds(version: Version) -> bool:
    return version.was_live or version.status is VersionStatus.APPROVED


def _is_held_now(version: Version) -> bool:
    return version.status in {VersionStatus.LIVE, VersionStatus.APPROVED}
