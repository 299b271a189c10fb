"""Whatever becomes of a good payload on its way, the registry answers and keeps nothing half.

Members are removed, retyped, nested, lengthened, doubled and moved; an operator posts
the result, so that every example has an entity of its own.
"""

import copy
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.support.people.operators import Operator, new_operator
from tests.support.registry.registry_payloads import aa, fip, fiu
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.registry.lifecycle.record import Record
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.registry.ports import Registry

EXAMPLES = 15
EXAMPLES_BEFORE_A_RELEASE = 5_000
POSTS_OF_ONE = 250
"""An operator may post 300 at once, and two a second from then on."""
LARGEST_BODY = 64 * 1024
GATEWAY = {"id": "g", "name": "G", "ip": "9.9.9.9", "url": "https://g.example"}
STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_#]*)|\[(\d+)\]|\[\"((?:[^\"\\]|\\.)*)\"\]|\['(.*?)'\]")
_numbers = itertools.count(500_000)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
    | st.sampled_from(["", "FIP", "v2:", "https://[", "AQAB", "9.9.9.9/", "=?x", "0x", "::%", "@"])
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "name", "d", "x y", "$", "é"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A good payload after one to three accidents."""
    make = draw(st.sampled_from([fip, fiu, aa]))
    more = {"gsp": GATEWAY} if make is fip and draw(st.booleans()) else {}
    payload = copy.deepcopy(make(next(_numbers), **more))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(list(places(payload))))
        happens(draw, payload, place)
    return payload


def places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place below the root."""
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, one in inner:
        yield (*path, key)
        yield from places(one, (*path, key))


def size(payload: object) -> int:
    """Bytes of it as JSON. Lengthened three times, each within the other, they were 20 GB."""
    return len(json.dumps(payload))


def happens(draw: st.DrawFn, payload: Any, place: tuple[Any, ...]) -> None:
    """Do one accident to what is at a place."""
    target = payload
    for key in place[:-1]:
        target = target[key]
    key, value = place[-1], target[place[-1]]
    match draw(st.sampled_from(["remove", "retype", "nest", "wrap", "lengthen", "misname"])):
        case "remove":
            del target[key]
        case "retype":
            target[key] = draw(anything)
        case "nest":
            target[key] = {"value": value, "entityinfo": copy.deepcopy(value)}
        case "wrap":
            target[key] = [value] * draw(st.integers(1, 3))
        case "lengthen" if size(payload) <= LARGEST_BODY:  # what was made too large is enough
            often = draw(st.sampled_from([2, 70, 400]))
            target[key] = value * often if isinstance(value, str | list) else [value] * often
        case "misname" if isinstance(key, str):
            target[draw(st.sampled_from([key.upper(), key + "s", f"{key} ", "d"]))] = value
            if draw(st.booleans()):
                target.pop(key, None)


@dataclass
class RegistryOperator:
    """Posts payloads as one operator after the other, and remembers which were taken."""

    own: Service
    operator: Operator
    client: httpx2.Client
    taken: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    posts: int = 0

    def post(self, payload: dict[str, Any]) -> httpx2.Response:
        self.posts += 1
        if self.posts % POSTS_OF_ONE == 0:
            self.operator = new_operator(self.own, "registry")
        kind = payload.get("type")
        path = kind if kind in ("FIP", "FIU", "AA") else "FIP"
        return self.client.post(
            f"{self.own.root}/cr/v2/entityInfo/{path}", json=payload, headers=self.operator.headers
        )

    def known(self, entity_id: str) -> bool:
        """Whether anything is kept of an entity."""
        answer = self.operator.get(f"/registry/entries/{entity_id}")
        assert answer.status_code in {200, 404}, answer.text
        return answer.status_code == 200


@pytest.fixture(scope="module")
def staff(own: Service) -> RegistryOperator:
    return RegistryOperator(own, new_operator(own, "registry"), own.client())


def pointed_at(payload: object, path: str) -> bool:
    """Whether a JSON path leads to a value, or to a member missing from a value."""
    steps = list(STEP.finditer(path.removeprefix("$")))
    assert "$" + "".join(step[0] for step in steps) == path, f"no JSON path: {path}"
    value: Any = payload
    for number, step in enumerate(steps):
        name, index, *quoted = step.groups()
        last = number == len(steps) - 1
        if index is not None:
            if not isinstance(value, list) or int(index) >= len(value):
                return False
            value = value[int(index)]
            continue
        word = name or next(one for one in quoted if one is not None)
        if not isinstance(value, dict):
            return False
        if word not in value:
            return last or quoted != [None, None]
        value = value[word]
    return True


def check_submission(staff: RegistryOperator, payload: dict[str, Any]) -> None:
    """Post it; the answer is right, and what is kept agrees with it."""
    answer = staff.post(payload)
    body = answer.json()

    too_large = len(answer.request.content) > LARGEST_BODY
    assert answer.status_code in ({413} if too_large else {200, 400, 409}), answer.text
    if answer.status_code == 200:
        assert (body["status"], body["version"]) == ("submitted", 1)
        staff.taken.append((payload["entityinfo"]["id"], payload))
        return
    if answer.status_code == 400:
        assert body["errorCode"] == "InvalidRequest"
        assert body["findings"][0]["path"] in body["errorMsg"]
        lost = [one for one in body["findings"] if not pointed_at(payload, one["path"])]
        assert not lost, lost
    info = payload.get("entityinfo")
    entity_id = info.get("id") if isinstance(info, dict) else None
    if isinstance(entity_id, str) and re.fullmatch(r"[A-Za-z0-9@_-]{1,64}", entity_id):
        assert answer.status_code == 409 or not staff.known(entity_id)


def all_of_it_is_there(staff: RegistryOperator) -> None:
    """What was taken waits as the whole that was sent."""
    assert staff.taken

    async def records(dependencies: Dependencies) -> dict[str, Record | None]:
        async with dependencies.transaction() as tx:
            return {
                entity_id: await tx.service(Registry).record(entity_id)
                for entity_id, _ in staff.taken
            }

    kept = staff.own.in_store(records)
    for entity_id, payload in staff.taken:
        record = kept[entity_id]
        assert record is not None
        sent = check_payload(
            payload, AddressPolicy(allow_http=True, allow_private=True), shipped_vocabulary()
        )
        assert isinstance(sent, CheckedPayload)
        assert record.pending is not None
        assert record.pending.entry == sent.entry
    staff.taken.clear()


def test_a_damaged_payload_is_refused_by_path_or_waits_whole(staff: RegistryOperator) -> None:
    fuzz(staff, EXAMPLES)


@pytest.mark.slow
def test_thousands_of_damaged_payloads_are_refused_by_path_or_wait_whole(
    staff: RegistryOperator,
) -> None:
    fuzz(staff, EXAMPLES_BEFORE_A_RELEASE)


def fuzz(staff: RegistryOperator, examples: int) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a found example is posted again as it is, under its own ID
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(damaged())
    def each(payload: dict[str, Any]) -> None:
        check_submission(staff, payload)

    each()
    check_submission(staff, fip(next(_numbers)))  # chance may have spared none of the others
    all_of_it_is_there(staff)
