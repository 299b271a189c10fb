"""What holds for any payload and any order of acts on the registry."""

import asyncio
import copy
import datetime as dt
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.depth import DEEP, examples
from tests.support.registry.registry_memory import MemoryRegistry
from tests.support.registry.registry_payloads import aa, fip, fiu, jwk

from mudra.registry.directory.directory import OPERATOR_VISIBILITY, Visibility, visibility_of
from mudra.registry.directory.mirror import Mirror, changes_since
from mudra.registry.lifecycle.actor import DECIDE, SUBMIT, Actor, ActorKind
from mudra.registry.lifecycle.acts.register import (
    Command,
    decide,
    put_live_if_due,
    submit_entry,
    update_entry,
)
from mudra.registry.lifecycle.decision import RegistryAction, TokenEffect, gets_no_token
from mudra.registry.lifecycle.difference import difference
from mudra.registry.payload.entry import canonical
from mudra.registry.payload.fields.network_rules import read_ip, read_port
from mudra.registry.payload.fields.timestamp import read_timestamp
from mudra.registry.payload.fields.url_rules import AddressPolicy, baseurl_faults, url_faults
from mudra.registry.payload.inspection import Inspection
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import PENDING, EntityStatus, VersionStatus
from mudra.shared.finding import Finding, Severity

pytestmark = pytest.mark.deeper

OPERATOR = Actor(ActorKind.OPERATOR, "olga", scopes=frozenset({SUBMIT, DECIDE}))
MAKERS = {"FIP": fip, "FIU": fiu, "AA": aa}

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(
        ["", "443", "FIP", "https://[", "v1:", "xn--", "AQAB", "9.9.9.9/", "=?", "0x", "::%"]
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
texts = st.text(st.characters(), max_size=60) | st.from_regex(
    r"(v[0-9]{0,2}:)?(https?|ftp)?:?/{0,2}([a-z0-9@:%._\[\]-]{0,20})(:[0-9]{0,6})?(/[a-z%.?#]{0,10})?",
    fullmatch=True,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(place for key, one in inner for place in places(one, (*path, key)))]


def replaced(payload: Any, place: tuple[Any, ...], value: object) -> Any:
    if not place:
        return value
    whole = copy.deepcopy(payload)
    target = whole
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    return whole


def check(raw: object, *, older: bool = False) -> CheckedPayload | list[Finding]:
    return check_payload(raw, AddressPolicy(), shipped_vocabulary(), older=older)


def inspect_payload(raw: object, *, older: bool) -> None:
    result = check(raw, older=older)
    shown = result.notes if isinstance(result, CheckedPayload) else result
    msgspec.json.encode([*shown])
    assert all(one.sentence() for one in shown)
    refused = any(one.severity is Severity.ERROR for one in shown)
    assert refused is isinstance(result, list)


@given(anything, st.booleans())
@settings(max_examples=examples(23), deadline=None)
def test_any_json_value_is_judged_and_nothing_raises(raw, older):
    inspect_payload(raw, older=older)


@given(st.data(), st.sampled_from([fip, fiu, aa]), anything, st.booleans())
@settings(max_examples=examples(40), deadline=None)
def test_a_good_payload_with_anything_anywhere_is_judged(data, make, value, older):
    payload = (
        make(gsp={"id": "g", "name": "G", "ip": "9.9.9.9", "url": "https://g.example"})
        if make is fip
        else make()
    )
    place = data.draw(st.sampled_from(places(payload)))

    inspect_payload(replaced(payload, place, value), older=older)


@given(texts)
@settings(max_examples=examples(40), deadline=None)
def test_any_text_is_judged_as_an_address_a_port_or_a_time(text):
    look = Inspection()
    baseurl_faults(text, AddressPolicy())
    url_faults(text, AddressPolicy(allow_http=True, allow_private=True), query=True)
    read_port(look, "$", text)
    read_ip(look, "$", text, AddressPolicy())
    read_timestamp(look, "$", text)

    msgspec.json.encode(look.findings)


@given(st.data(), st.sampled_from([fip, fiu, aa]), anything)
@settings(max_examples=examples(23), deadline=None)
def test_what_was_taken_is_taken_again_unchanged_and_without_notes(data, make, value):
    payload = make()
    result = check(replaced(payload, data.draw(st.sampled_from(places(payload))), value))

    if isinstance(result, CheckedPayload):
        again = check(msgspec.json.decode(canonical(result.entry)))
        assert isinstance(again, CheckedPayload)
        assert (again.entry, again.notes) == (result.entry, ())


infos = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["A", "B", "C"]),
        "tags": st.sampled_from(["", "Sandbox", "Production"]),
        "ips": st.lists(
            st.sampled_from(["9.1.1.1", "9.1.1.2", "9.1.1.3"]), min_size=1, unique=True
        ),
        "fitypes": st.lists(st.sampled_from(["SIP", "CP", "ETF"]), min_size=1, unique=True),
        "certificate": st.integers(0, 3).map(jwk),
        "gsp": st.none()
        | st.just({"id": "g", "name": "G", "ip": "9.9.9.9", "url": "https://g.example"}),
    },
)


@given(infos, infos)
@settings(max_examples=examples(13), deadline=None)
def test_the_difference_turns_one_entry_into_the_other(one, other):
    before, after = check(fip(**one)).entry, check(fip(**other)).entry
    tree = msgspec.json.decode(canonical(before))

    for change in difference(before, after):
        *parents, name = change.path.removeprefix("$.").split(".")
        target = tree
        for parent in parents:
            target = target[parent]
        assert target.get(name) == change.before
        target[name] = change.after

    assert tree == msgspec.json.decode(canonical(after))
    assert (difference(before, after) == ()) is (before == after)


class Network:
    """Random acts of members and operators, and three mirrors that follow them."""

    def __init__(self, seed: int) -> None:
        self.choice = random.Random(seed)
        self.registry = MemoryRegistry()
        self.opened = False
        self.stopped: set[str] = set()
        self.mirrors: dict[tuple[EntityType | None, str], Mirror] = {
            (EntityType.AA, "AA-0"): Mirror(0, {}),
            (EntityType.FIU, "FIU-1"): Mirror(0, {}),
            (EntityType.FIP, "FIP-2"): Mirror(0, {}),
            (None, ""): Mirror(0, {}),
        }

    def sight(self, viewer: tuple[EntityType | None, str]) -> Visibility:
        kind, entity_id = viewer
        return (
            OPERATOR_VISIBILITY
            if kind is None
            else visibility_of(kind, entity_id, opened=self.opened)
        )

    async def act(self) -> None:
        self.registry.now += dt.timedelta(seconds=self.choice.randint(0, 60))
        kind, number = self.choice.choice([*MAKERS]), self.choice.randrange(4)
        entity_id, act = f"{kind}-{number}", self.choice.choice([*RegistryAction])
        if act in {RegistryAction.SUBMIT, RegistryAction.UPDATE}:
            use_case = submit_entry if act is RegistryAction.SUBMIT else update_entry
            await use_case(
                self.registry,
                self.payload(kind, number),
                OPERATOR,
                approved=self.choice.random() < 0.3,
            )
        elif act is RegistryAction.GO_LIVE:
            await put_live_if_due(self.registry, entity_id)
        elif act is not RegistryAction.RETIRE or self.choice.random() < 0.01:
            await decide(self.registry, self.order(act, entity_id))
        if self.choice.random() < 0.01:
            self.opened = not self.opened
            self.registry.mark_visibility()

    def payload(self, kind: str, number: int) -> CheckedPayload:
        key = self.choice.choice([number, number + 4, 1]) + 100 * [*MAKERS].index(kind)
        handle = self.choice.choice([f"@aa{number}", f"@AA{number // 2}"])
        result = check(
            MAKERS[kind](
                number,
                name=f"Name {self.choice.random()}",
                certificate=jwk(key),
                entityhandle=handle if kind == "AA" else "",
            )
        )
        assert isinstance(result, CheckedPayload)
        return result

    def order(self, act: RegistryAction, entity_id: str) -> Command:
        record = self.registry.records.get(entity_id)
        version = self.choice.randrange(1, 6) if act is RegistryAction.ROLL_BACK else 0
        if act is RegistryAction.APPROVE and record is not None and record.pending is not None:
            version = record.pending.number
        later = self.registry.now + dt.timedelta(seconds=self.choice.randint(-60, 600))
        return Command(act, entity_id, OPERATOR, "x", version, self.choice.choice([None, later]))

    async def follow(self, viewer: tuple[EntityType | None, str]) -> None:
        sight, more = self.sight(viewer), True
        while more:
            received = await changes_since(self.registry, sight, self.mirrors[viewer].upto)
            # A restart: the mirror knows what it wrote to its disk, and nothing else.
            stored = self.mirrors[viewer]
            self.mirrors[viewer] = Mirror(stored.upto, dict(stored.bodies)).follow(received)
            more = received.more
        directory = await self.registry.current()
        full = {(one.entity_type, one.entity_id): one.body for one in directory.visible(sight)}
        assert self.mirrors[viewer].bodies == full
        assert self.mirrors[viewer].hash() == received.hash == directory.hash(sight)

    def check_records(self) -> None:
        listed = set()
        for entity_id, record in self.registry.records.items():
            statuses = [one.status for one in record.versions]
            assert [one.number for one in record.versions] == [*range(1, len(statuses) + 1)]
            assert statuses.count(VersionStatus.LIVE) == (
                record.status in {EntityStatus.LIVE, EntityStatus.SUSPENDED}
            )
            assert sum(one in PENDING for one in statuses) <= 1
            assert gets_no_token(record.status) is self.last_word_is_stop(entity_id)
            listed |= {entity_id} if record.status is EntityStatus.LIVE else set()
            for one in record.versions:
                assert not one.equal_to or one.entry == record.versions[one.equal_to - 1].entry
        assert set(asyncio.run(self.registry.current()).listed) == listed
        assert [one.sequence for one in self.registry.log] == [
            *range(1, len(self.registry.log) + 1)
        ]
        self.check_uniqueness()

    def last_word_is_stop(self, entity_id: str) -> bool:
        words = [effect for one, effect in self.registry.token_effects if one == entity_id]
        return bool(words) and words[-1] is TokenEffect.STOP

    def check_uniqueness(self) -> None:
        owners: dict[str, str] = {}
        for entity_id, record in self.registry.records.items():
            for one in record.versions:
                if one.was_live or one.status is VersionStatus.APPROVED:
                    assert owners.setdefault(one.key.modulus_hash, entity_id) == entity_id
                if one.status in {VersionStatus.LIVE, VersionStatus.APPROVED}:
                    handle = one.entry.entityinfo.entityhandle.lower() or entity_id
                    assert owners.setdefault(handle, entity_id) == entity_id


@given(st.integers(0, 2**32))
@settings(max_examples=examples(10), deadline=None)
def test_any_order_of_acts_keeps_the_registry_consistent(seed):
    network = Network(seed)

    async def acts():
        for _ in range(120):
            await network.act()

    asyncio.run(acts())
    network.check_records()


def test_mirrors_that_follow_thousands_of_random_acts_equal_the_full_set_at_every_stop():
    network = Network(20260115)

    async def acts():
        for _ in range(10_000 if DEEP else 3_000):
            await network.act()
            if network.choice.random() < 0.05:
                await network.follow(network.choice.choice([*network.mirrors]))
        for viewer in network.mirrors:
            await network.follow(viewer)

    asyncio.run(acts())
    network.check_records()
    assert len(network.registry.log) > 300
    assert {one.action for one in network.registry.kept} == {*RegistryAction}
