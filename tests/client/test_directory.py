"""A member's copy of the registry, against the service and its database."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.support.cheap_keys import rsa_key
from tests.support.issuer import Hands
from tests.support.members import Member, new_member
from tests.support.registry.registry_members import Registry, approve, live_entry, payload_of
from tests.support.service import Service

from mudra.client import (
    AsyncDirectory,
    AsyncEntityTokenSource,
    AsyncTokenVerifier,
    BodySigner,
    Directory,
    DirectoryUnavailable,
    EntityTokenSource,
    SignatureRefused,
    TokenVerifier,
)


class Wire(httpx2.BaseTransport):
    """Passes requests on to the service, or lets a test change an answer or cut the line."""

    def __init__(self) -> None:
        self.inner = httpx2.HTTPTransport()
        self.asked: list[str] = []
        self.cut = False
        self.change = lambda body: body
        self.kept: list[httpx2.Response] = []
        """Every answer that came."""
        self.repeated: httpx2.Response | None = None
        """An earlier answer that is given to every question."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request.url.raw_path.decode())
        if self.cut:
            raise httpx2.ConnectError("cut", request=request)
        if self.repeated is not None:
            old = self.repeated
            return httpx2.Response(old.status_code, headers=old.headers, content=old.content)
        answer = self.inner.handle_request(request)
        body = self.change(answer.read())
        headers = {k: v for k, v in answer.headers.items() if k != "content-length"}
        self.kept.append(httpx2.Response(answer.status_code, headers=headers, content=body))
        return httpx2.Response(answer.status_code, headers=headers, content=body)


class Program:
    """A FIU's program with a copy of the registry."""

    def __init__(self, member: Member, secret: str, file: Path) -> None:
        self.service, self.file = member.service, file
        self.member, self.secret = member, secret
        self.steady, self.wire = Hands(0), Wire()
        self.directory = self.started()

    def started(self) -> Directory:
        """The program's directory after a start of the program."""
        service = self.service
        tokens = EntityTokenSource(service.issuer, self.member.entity_id, lambda: self.secret)
        verifier = TokenVerifier(service.issuer, wall=service.wall)
        http = httpx2.Client(transport=self.wire)
        return Directory(
            f"{service.root}/cr/v2",
            tokens,
            verifier,
            file=self.file,
            http=http,
            steady=self.steady,
            wall=service.wall,
        )


@pytest.fixture(scope="module")
def fiu(service: Service) -> tuple[Member, str]:
    """A member, and its secret."""
    member = new_member(service, "FIU")
    return member, member.secret()


@pytest.fixture
def program(fiu: tuple[Member, str], tmp_path: Path) -> Iterator[Program]:
    one = Program(*fiu, tmp_path / "copy.json")
    yield one
    one.directory.close()


@pytest.fixture(scope="module")
def fip(service: Service) -> tuple[Registry, dict]:
    """An entry that stays as it is."""
    return live_entry(service)


@pytest.fixture
def changing(service: Service) -> tuple[Registry, dict]:
    """An entry of one test."""
    return live_entry(service)


def test_an_entry_is_found_with_its_address_and_key(program: Program, fip) -> None:
    registry, payload = fip
    entry = program.directory.entry(registry.member.entity_id)

    assert entry is not None
    assert entry.base_url == payload["entityinfo"]["baseurl"]
    assert entry.certificate == payload["entityinfo"]["certificate"]
    assert json.loads(entry.payload)["entityinfo"]["name"] == payload["entityinfo"]["name"]
    assert entry in program.directory.entries("FIP")
    assert entry not in program.directory.entries("AA")
    assert entry in program.directory.entries()


def test_an_id_without_a_live_entry_is_none(program: Program) -> None:
    assert program.directory.entry("NOBODY-FIP") is None


def test_only_changes_are_read_when_the_copy_has_aged(program: Program, changing) -> None:
    registry, payload = changing
    entity_id = registry.member.entity_id
    program.directory.entry(entity_id)
    program.directory.entry(entity_id)
    assert len(program.wire.asked) == 1

    changed = payload | {"txnid": "f1b0a9e4-7b1c-4d1a-9d57-0f1f2b3c4d5e"}
    changed["entityinfo"] = payload["entityinfo"] | {"tags": "Moved Bank"}
    assert registry.update(changed).status_code == 200
    program.steady.now += 61
    entry = program.directory.entry(entity_id)

    assert entry is not None
    assert entry.info["tags"] == "Moved Bank"
    assert len(program.wire.asked) == 2
    assert not program.wire.asked[1].endswith("since=0")


def test_a_suspended_entry_is_gone(program: Program, changing) -> None:
    member = changing[0].member
    assert program.directory.entry(member.entity_id) is not None

    program.service.cli("registry", "suspend", member.entity_id, "--reason", "the key has leaked")
    program.directory.refresh()

    assert program.directory.entry(member.entity_id) is None


def test_a_program_that_starts_without_the_registry_uses_its_file(program: Program, fip) -> None:
    entity_id = fip[0].member.entity_id
    before = program.directory.entry(entity_id)
    program.wire.cut = True

    after = program.started()

    assert after.entry(entity_id) == before
    assert after.age < 60  # since the registry signed it
    after_hours = program.service.advance("PT3H")
    assert after_hours is not None
    assert 3 * 3600 <= after.age < 3 * 3600 + 60
    with pytest.raises(DirectoryUnavailable, match="could not be refreshed: cut"):
        after.refresh()


def test_without_registry_and_file_a_lookup_says_so(program: Program) -> None:
    program.wire.cut = True

    with pytest.raises(DirectoryUnavailable, match="no proven copy"):
        program.directory.entry("KAVERI-FIP")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-10],
        lambda text: text.replace(b'"upto":', b'"upto":1', 1),
        lambda text: text.replace(b'"issued_at":', b'"issued_at":9', 1),
        lambda text: text.replace(b"https://", b"https://evil.", 1),
        lambda text: text.replace(b"/cr/v2", b"/cr/v3", 1),
        lambda text: text.replace(b"/cr/v2", b"/cr/\xff2", 1),
        lambda _: b"",
    ],
    ids=["cut", "number", "time", "address", "registry", "byte", "empty"],
)
def test_a_damaged_file_is_read_again_from_the_registry(program: Program, fip, damage) -> None:
    entity_id = fip[0].member.entity_id
    good = program.directory.entry(entity_id)
    program.file.write_bytes(damage(program.file.read_bytes()))

    assert program.started().entry(entity_id) == good


@pytest.mark.parametrize(
    "forge",
    [
        lambda body: body.replace(b'"hash":"', b'"hash":"0', 1),
        lambda body: body.replace(b'"changes":[', b'"changes": [', 1),
        lambda _: b"{}",
        lambda _: b"x" * 100,
    ],
    ids=["hash", "space", "empty", "text"],
)
def test_an_answer_that_the_registry_did_not_sign_is_never_used(program: Program, fip, forge):
    entity_id = fip[0].member.entity_id
    good = program.directory.entry(entity_id)
    program.wire.change = forge
    program.steady.now += 61

    assert program.directory.entry(entity_id) == good
    with pytest.raises(DirectoryUnavailable, match="not signed by that key"):
        program.directory.refresh()


def renamed(changing: tuple[Registry, dict], name: str) -> None:
    """Change an entry, which is live at once."""
    registry, payload = changing
    payload["entityinfo"]["tags"] = name
    assert registry.update(payload).status_code == 200


def test_a_repeated_answer_does_not_keep_a_copy_as_it_was(program: Program, changing) -> None:
    program.directory.refresh()
    program.directory.refresh()
    program.wire.repeated = program.wire.kept[-1]
    program.service.advance("PT2M")

    program.directory.refresh()
    age = program.directory.age
    renamed(changing, "Replaced after a leak")
    program.service.advance("PT10M")

    assert 120 <= age < 180, "it counts from the signature"
    with pytest.raises(DirectoryUnavailable, match="it is not valid now"):
        program.directory.refresh()
    assert program.directory.age > 700


def test_a_repeated_answer_does_not_set_a_copy_back(program: Program, changing) -> None:
    entity_id = changing[0].member.entity_id
    program.directory.refresh()
    whole = program.wire.kept[-1]
    program.service.advance("PT1S")
    renamed(changing, "Replaced after a leak")
    program.directory.refresh()

    program.wire.repeated = whole
    with pytest.raises(DirectoryUnavailable, match="it was signed before the last one"):
        program.directory.refresh()

    entry = program.directory.entry(entity_id)
    assert entry is not None
    assert entry.info["tags"] == "Replaced after a leak"


def test_an_answer_for_another_reader_is_refused(
    program: Program, service: Service, tmp_path: Path
) -> None:
    member = new_member(service, "AA")
    other = Program(member, member.secret(), tmp_path / "other.json")
    other.directory.refresh()
    program.wire.repeated = other.wire.kept[-1]

    with pytest.raises(DirectoryUnavailable, match="another registry, or for another reader"):
        program.directory.refresh()


def test_a_first_copy_with_a_changed_address_is_never_used(program: Program, fip) -> None:
    program.wire.change = lambda body: body.replace(b"https://", b"https://evil.", 1)

    with pytest.raises(DirectoryUnavailable, match="no proven copy"):
        program.directory.entry(fip[0].member.entity_id)
    assert not program.file.exists()


def test_a_registry_out_of_reach_is_asked_again_after_a_pause(program: Program, fip) -> None:
    entity_id = fip[0].member.entity_id
    program.directory.entry(entity_id)
    program.steady.now += 61
    program.wire.cut = True
    program.directory.entry(entity_id)
    program.directory.entry(entity_id)
    assert len(program.wire.asked) == 2

    program.steady.now += 5
    program.wire.cut = False
    program.directory.entry(entity_id)

    assert len(program.wire.asked) == 3
    assert program.directory.age < 60


def test_a_copy_that_cannot_be_written_is_used_said_and_written_later(
    program: Program, fip, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    program.file = tmp_path / "absent" / "copy.json"
    directory = program.started()

    with pytest.raises(DirectoryUnavailable, match=r"could not be saved: .*No such file"):
        directory.refresh()
    found = directory.entry(fip[0].member.entity_id)
    program.file.parent.mkdir()
    directory.refresh()
    program.wire.cut = True

    assert found is not None
    assert "in use, but not saved" in caplog.text
    assert directory.age < 60
    assert program.started().entry(found.entity_id) == found


def test_a_body_is_checked_by_the_sender_s_registered_key(program: Program, service: Service):
    registry = Registry(new_member(service, "FIP"))
    key = rsa_key()
    payload = payload_of(registry.member)
    payload["entityinfo"]["certificate"] |= {"n": key.as_dict()["n"], "e": key.as_dict()["e"]}
    assert registry.submit(payload).status_code == 200
    approve(registry.member)
    kid = payload["entityinfo"]["certificate"]["kid"]
    signature = BodySigner(key.as_pem(private=True), kid).sign(b'{"ver":"1.0"}')
    entity_id = registry.member.entity_id

    program.directory.check_body(entity_id, b'{"ver":"1.0"}', signature)
    with pytest.raises(SignatureRefused):
        program.directory.check_body(entity_id, b'{"ver":"1.1"}', signature)
    with pytest.raises(SignatureRefused, match="not in the registry"):
        program.directory.check_body("NOBODY-FIP", b'{"ver":"1.0"}', signature)


def test_plain_http_to_another_machine_is_refused(program: Program) -> None:
    with pytest.raises(ValueError, match="https"):
        Directory("http://registry.example/cr/v2", None, None)  # type: ignore[arg-type]


def test_on_an_event_loop_it_does_the_same(program: Program, fip) -> None:
    entity_id = fip[0].member.entity_id

    async def look() -> tuple[object, ...]:
        service = program.service
        tokens = AsyncEntityTokenSource(
            service.issuer, program.member.entity_id, lambda: program.secret
        )
        verifier = AsyncTokenVerifier(service.issuer, wall=service.wall)
        directory = AsyncDirectory(
            f"{service.root}/cr/v2", tokens, verifier, file=program.file, wall=service.wall
        )
        both = await asyncio.gather(directory.entry(entity_id), directory.entry(entity_id))
        await directory.refresh()
        listed = await directory.entries("FIP")
        await directory.aclose()
        await tokens.aclose()
        await verifier.aclose()
        return *both, next(one for one in listed if one.entity_id == entity_id)

    assert asyncio.run(look()) == (program.directory.entry(entity_id),) * 3
