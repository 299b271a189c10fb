import asyncio
import datetime as dt
import hashlib

import msgspec
import pytest
from tests.support.registry.registry_actions import checked, live, order, update
from tests.support.registry.registry_memory import START, MemoryRegistry
from tests.support.registry.registry_payloads import aa, fip, fiu

from mudra.registry.directory.directory import (
    OPERATOR_VISIBILITY,
    Change,
    Directory,
    listing,
    single,
    visibility_of,
)
from mudra.registry.directory.mirror import Mirror, Page, changes_since, directory_at, page
from mudra.registry.lifecycle.decision import RegistryAction
from mudra.registry.payload.entry import canonical
from mudra.shared.entity_type import EntityType

MINUTE = dt.timedelta(minutes=1)
FIP, FIU, AA = EntityType.FIP, EntityType.FIU, EntityType.AA


@pytest.fixture
def registry():
    made = MemoryRegistry()
    for number, payload in enumerate([aa(0), aa(1), fip(0), fip(1), fiu(0), fiu(1)]):
        made.now = START + number * MINUTE
        live(made, payload)
    return made


def seen(directory, entity_type, entity_id, **options):
    sight = visibility_of(entity_type, entity_id, **options)
    return {one.entity_id for one in directory.visible(sight)}


def follow(registry, mirror, sight):
    while True:
        received = asyncio.run(changes_since(registry, sight, mirror.upto))
        mirror = mirror.follow(received)
        if not received.more:
            return mirror, received


def test_each_type_sees_what_the_decisions_say(registry):
    directory = asyncio.run(registry.current())

    assert seen(directory, AA, "AA-0") == {"FIP-0", "FIP-1", "FIU-0", "FIU-1", "AA-0"}
    assert seen(directory, FIU, "FIU-0") == {"AA-0", "AA-1", "FIP-0", "FIP-1", "FIU-0"}
    assert seen(directory, FIP, "FIP-0") == {"AA-0", "AA-1", "FIP-0"}
    assert seen(directory, FIP, "not-registered-yet") == {"AA-0", "AA-1"}
    assert len(seen(directory, FIP, "FIP-0", opened=True)) == 6
    assert len(directory.visible(OPERATOR_VISIBILITY)) == 6


def test_a_listing_holds_whole_payloads_in_order_and_a_tag_of_its_bytes(registry):
    directory = asyncio.run(registry.current())

    answer = listing(directory, visibility_of(AA, "AA-0"), FIP)

    assert answer.body == b"[" + b",".join(canonical(checked(fip(n)).entry) for n in (0, 1)) + b"]"
    assert answer.etag == f'"{hashlib.sha256(answer.body).hexdigest()}"'
    assert answer.last_modified == START + 3 * MINUTE


def test_a_listing_of_nothing_is_an_empty_array():
    assert listing(Directory(), OPERATOR_VISIBILITY, AA).body == b"[]"


def test_one_entry_is_found_by_those_who_may_see_it(registry):
    directory = asyncio.run(registry.current())

    assert single(directory, visibility_of(AA, "AA-0"), FIP, "FIP-0").body.startswith(b"{")
    assert single(directory, visibility_of(FIP, "FIP-1"), FIP, "FIP-0") is None
    assert single(directory, visibility_of(FIP, "FIP-0"), FIP, "FIP-0") is not None
    assert single(directory, visibility_of(AA, "AA-0"), FIU, "FIP-0") is None
    assert single(directory, visibility_of(AA, "AA-0"), FIP, "FIP-9") is None


def test_the_tag_changes_with_every_change_and_only_then(registry):
    sight = visibility_of(AA, "AA-0")
    before = listing(asyncio.run(registry.current()), sight, FIP)
    order(registry, RegistryAction.SUSPEND, "FIU-1", reason="x")
    untouched = listing(asyncio.run(registry.current()), sight, FIP)
    registry.now += MINUTE
    order(registry, RegistryAction.SUSPEND, "FIP-1", reason="x")
    changed = listing(asyncio.run(registry.current()), sight, FIP)
    order(registry, RegistryAction.RESTORE, "FIP-1")
    back = listing(asyncio.run(registry.current()), sight, FIP)

    assert before.etag == untouched.etag == back.etag != changed.etag
    assert changed.last_modified == registry.now


def test_a_new_mirror_gets_the_full_set_and_its_hash(registry):
    sight = visibility_of(FIU, "FIU-0")

    mirror, received = follow(registry, Mirror(0, {}), sight)

    assert received.complete
    assert mirror.hash() == received.hash
    assert mirror.upto == 6
    assert len(mirror.bodies) == 5


def test_changes_come_in_order_and_only_those_the_caller_may_see(registry):
    sight = visibility_of(FIP, "FIP-0")
    update(registry, fip(1, tags="Unseen"))
    update(registry, fip(0, tags="Own"))
    update(registry, aa(0, tags="Seen"))
    order(registry, RegistryAction.SUSPEND, "AA-1", reason="x")

    received = asyncio.run(changes_since(registry, sight, 6))

    assert [(one.sequence, one.op, one.entity_id) for one in received.changes] == [
        (8, "put", "FIP-0"),
        (9, "put", "AA-0"),
        (10, "remove", "AA-1"),
    ]
    assert (received.since, received.upto, received.more, received.complete) == (
        6,
        10,
        False,
        False,
    )


def test_a_page_in_the_wire_form_carries_whole_entries(registry):
    update(registry, aa(0, tags="Seen"))

    received = asyncio.run(changes_since(registry, visibility_of(FIP, "FIP-0"), 6))
    read = msgspec.json.decode(msgspec.json.encode(received))

    change = read["changes"][0]
    assert change["entry"]["entityinfo"]["tags"] == "Seen"
    assert (change["type"], change["id"], change["at"]) == (
        "AA",
        "AA-0",
        "2026-01-15T09:35:00.000Z",
    )
    assert msgspec.json.decode(msgspec.json.encode(received), type=Page).hash == received.hash


def test_a_mirror_that_is_up_to_date_hears_so(registry):
    received = asyncio.run(changes_since(registry, visibility_of(FIP, "FIP-0"), 6))

    assert (received.changes, received.upto, received.complete) == ((), 6, False)
    assert received.hash


def test_a_mirror_ahead_of_a_restored_registry_starts_over(registry):
    stale = Mirror(99, {(AA, "AA-gone"): b"{}"})

    mirror, received = follow(registry, stale, OPERATOR_VISIBILITY)

    assert received.complete
    assert mirror.hash() == received.hash


def test_a_mirror_starts_over_once_when_visibility_changes(registry):
    mirror, _ = follow(registry, Mirror(0, {}), visibility_of(FIP, "FIP-0"))
    registry.mark_visibility()
    opened = visibility_of(FIP, "FIP-0", opened=True)

    mirror, first = follow(registry, mirror, opened)
    _, second = follow(registry, mirror, opened)

    assert (first.complete, second.complete) == (True, False)
    assert len(mirror.bodies) == 6
    assert mirror.hash() == first.hash == second.hash


def test_long_ways_come_in_pages_and_the_last_one_proves_them(registry):
    for number in range(10):
        update(registry, fip(0, tags=f"Name {number}"))
    directory = asyncio.run(registry.current())
    sight = visibility_of(AA, "AA-0")

    mirror, pages = Mirror(0, {}), []
    while not pages or pages[-1].more:
        received = page(directory, registry.log[mirror.upto :], sight, mirror.upto, longest=4)
        mirror = mirror.follow(received)
        pages.append(received)

    assert [one.upto for one in pages] == [4, 8, 12, 16]
    assert [bool(one.hash) for one in pages] == [False, False, False, True]
    assert mirror.hash() == pages[-1].hash


def test_the_registry_is_seen_as_it_was(registry):
    registry.now = START + 10 * MINUTE
    order(registry, RegistryAction.SUSPEND, "AA-1", reason="x")

    early = asyncio.run(directory_at(registry, START + 3 * MINUTE))
    before = asyncio.run(directory_at(registry, START + 10 * MINUTE - dt.timedelta(microseconds=1)))
    now = asyncio.run(directory_at(registry, START + 10 * MINUTE))

    assert set(early.listed) == {"AA-0", "AA-1", "FIP-0", "FIP-1"}
    assert set(before.listed) - set(now.listed) == {"AA-1"}
    assert asyncio.run(directory_at(registry, START - MINUTE)).listed == {}


def test_a_gap_in_the_log_is_never_shown(registry):
    with pytest.raises(ValueError, match="one is missing"):
        Directory().after([*registry.log[:2], registry.log[3]])


def test_the_hash_is_what_its_description_says():
    body = canonical(checked(aa(0)).entry)
    directory = Directory().after([Change(1, START, AA, "AA-0", body)])

    line = f"AA/AA-0 {hashlib.sha256(body).hexdigest()}\n"

    assert directory.hash(OPERATOR_VISIBILITY) == hashlib.sha256(line.encode()).hexdigest()
