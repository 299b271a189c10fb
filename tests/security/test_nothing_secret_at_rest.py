"""A stolen dump, the logs and other users' files hold nothing that opens anything."""

import base64
import binascii
import contextlib
import functools
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.support.mailbox import latest_link
from tests.support.members import link_for_who_forgot, new_member, set_password
from tests.support.people.console import reader
from tests.support.people.second_factor import enroll, enter_code
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.until import PATIENCE_S

from mudra.storage.database.embedded.programs import programs
from mudra.storage.database.embedded.server import embedded_server

PG_DUMP = programs() / "pg_dump"
NEW_PASSWORD = "another-canary-password/with+signs=%"


@functools.cache
def forms_of(secret: str) -> dict[str, bytes]:
    """The ways in which a text may be written down; pieces of Base64 at every alignment."""
    raw = secret.encode()
    forms = {
        "raw": raw,
        "reversed": raw[::-1],
        "hex": raw.hex().encode(),
        "HEX": raw.hex().upper().encode(),
        "url": quote(secret, safe="").encode(),
        "utf-16": secret.encode("utf-16-le"),
    }
    for shift in range(3):
        piece = base64.b64encode(b"\0" * shift + raw)[4 if shift else 0 : -4]
        forms[f"base64 at {shift}"] = piece
        forms[f"base64url at {shift}"] = piece.translate(bytes.maketrans(b"+/", b"-_"))
    with_padding = secret + "=" * (-len(secret) % 4)
    try:
        decoded = base64.urlsafe_b64decode(with_padding)
    except (binascii.Error, ValueError):
        decoded = b""
    if len(decoded) >= 16:  # the bytes that the text means
        forms["decoded"] = decoded
        forms["decoded hex"] = decoded.hex().encode()
    return {name: form for name, form in forms.items() if len(form) >= 12}


def found(canaries: dict[str, str], where: bytes) -> list[str]:
    return [
        f"{what}: {form}"
        for what, secret in canaries.items()
        for form, written in forms_of(secret).items()
        if written in where
    ]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, dict[str, str]]]:
    """A service after a whole story, and every secret that was handed out in it."""
    data_dir = tmp_path_factory.mktemp("canary") / "data"
    data_dir.mkdir()
    data_dir.chmod(0o755)
    with contextlib.ExitStack() as started:
        before = os.umask(0)
        try:
            service = started.enter_context(
                running_service(data_dir, keeps_store=True, MUDRA_LOG_LEVEL="debug")
            )
        finally:
            os.umask(before)
        yield service, handed_out(service)


def handed_out(service: Service) -> dict[str, str]:
    """Every secret of the story, by what it is."""
    member = new_member(service)
    client = member.client
    canaries = {
        "password": member.password,
        "link": latest_link(service, member.email).rpartition("/")[2],
        "user token": member.user_token(),
        "first secret": member.secret(),
    }
    headers = {"Authorization": f"Bearer {canaries['user token']}"}
    canaries["entity token"] = member.entity_token(canaries["first secret"]).json()["accessToken"]
    canaries["second secret"] = member.reset(headers, oldSecretValidity=7).json()["secret"]
    canaries["old secret's token"] = member.entity_token(canaries["first secret"]).json()[
        "accessToken"
    ]
    standard = client.post(
        "/oauth2/token",
        data={"grant_type": "client_credentials"},
        auth=(member.entity_id, canaries["second secret"]),
    )
    canaries["standard client's token"] = standard.json()["access_token"]
    service.introspected(canaries["entity token"], member.entity_id, canaries["second secret"])
    # What is refused may be written down as well.
    canaries["wrong password"] = "a-canary-password-that-is-wrong"
    canaries["wrong secret"] = "a-canary-secret-that-is-wrong-0123456789abc"
    client.post(
        "/v1/user/token/generate",
        data={"username": member.email, "password": canaries["wrong password"]},
    )
    member.entity_token(canaries["wrong secret"])
    client.post("/v1/entity/token/generate", content=f"id=x&secret={canaries['wrong secret']}")
    client.post("/v1/entity/secret/read", content=b"{" + canaries["wrong secret"].encode())
    client.get(f"/activate/{canaries['link']}")
    client.get(f"/nowhere?secret={canaries['wrong secret']}", headers=headers)
    link = link_for_who_forgot(member)
    canaries["new link"] = link.rpartition("/")[2]
    canaries["new password"] = NEW_PASSWORD
    set_password(client, link, NEW_PASSWORD)
    client.post("/oauth2/revoke", data={"token": canaries["user token"]})
    browser = reader(service)
    browser.sign_in(member.email, NEW_PASSWORD)
    app, codes = enroll(browser, service)
    canaries |= {"key of the app": app.secret, "recovery code": codes[0].replace("-", "")}
    again = reader(service)
    again.sign_in(member.email, NEW_PASSWORD)
    enter_code(again, codes[0])
    canaries["used recovery code"] = codes[0]
    service.advance("PT6M")
    return canaries


def test_a_dump_of_the_database_holds_no_secret_in_any_form(
    story: tuple[Service, dict[str, str]],
) -> None:
    service, canaries = story
    with embedded_server(service.data_dir) as conninfo:
        dumps = [
            subprocess.run(
                [PG_DUMP, f"--dbname={conninfo}", *options],
                capture_output=True,
                check=True,
                timeout=PATIENCE_S,
            ).stdout
            for options in ([], ["--inserts"], ["--format=custom", "--compress=0"])
        ]

    sealed = b"\n".join(
        binascii.unhexlify(piece)
        for dump in dumps[:1]
        for word in dump.replace(b"\\\\x", b"\\x").split(b"\\x")[1:]
        if (piece := _hex_head(word))
    )
    assert canaries["first secret"] != canaries["second secret"]
    assert b"entity_secret" in dumps[0]
    assert len(sealed) > 200  # the columns of bytes were read as bytes
    for dump in (*dumps, sealed):
        assert found(canaries, dump) == []


def test_the_files_of_the_database_hold_no_secret_either(
    story: tuple[Service, dict[str, str]],
) -> None:
    service, canaries = story

    files = [p for p in (service.data_dir / "postgres").rglob("*") if p.is_file()]
    assert len(files) > 100
    began = (service.data_dir / "master.key").stat().st_mtime_ns
    # What no checkpoint has written to the tables yet is in the write-ahead log.
    written = {file: bytes_of(file, began) for file in files}
    assert any(b"entity:secret:create" in content for content in written.values())
    for file, content in written.items():
        assert found(canaries, content) == [], file


def bytes_of(file: Path, began: int) -> bytes:
    """What a file of a running server holds: some, such as caches of catalogs, come and go.

    Nothing for those that no one has written to since the service began: they are of the database
    that was copied for it, and older than all secrets.
    """
    try:
        return file.read_bytes().rstrip(b"\0") if file.stat().st_mtime_ns >= began else b""
    except FileNotFoundError:
        return b""


def test_no_file_of_the_data_directory_can_be_read_by_others(
    story: tuple[Service, dict[str, str]],
) -> None:
    """K5: whatever the umask, and also in a directory that was open before."""
    data_dir = story[0].data_dir
    modes = {
        path: stat.S_IMODE(path.lstat().st_mode)
        for path in (data_dir, *data_dir.rglob("*"))
        if not path.is_symlink() and path.exists()
    }

    passable = 0o011 if os.geteuid() == 0 else 0  # for PostgreSQL, which root runs as another
    assert modes[data_dir] & ~passable == 0o700
    readable = {
        str(path.relative_to(data_dir)): oct(mode)
        for path, mode in modes.items()
        if mode & 0o077 and path != data_dir and path.exists() and not path.is_socket()
    }
    assert len(modes) > 100
    assert readable == {}


def test_the_log_and_the_terminal_hold_no_secret_in_any_form(
    story: tuple[Service, dict[str, str]],
) -> None:
    service, canaries = story
    log = service.data_dir / "mudra.log"
    service.wait_until(lambda: b"/nowhere" in log.read_bytes())
    assert service.process.stdout is not None
    os.set_blocking(service.process.stdout.fileno(), False)
    try:
        shown = os.read(service.process.stdout.fileno(), 1 << 20)
    except BlockingIOError:
        shown = b""

    assert found(canaries, log.read_bytes()) == []
    assert found(canaries, shown) == []


def test_the_search_finds_what_is_there() -> None:
    secret = "a-canary-secret-that-is-wrong-0123456789abc"

    for form, written in forms_of(secret).items():
        assert f"it: {form}" in found({"it": secret}, b"before" + written + b"after")


def _hex_head(word: bytes) -> bytes:
    head = word[: next((n for n, c in enumerate(word) if c not in b"0123456789abcdef"), len(word))]
    return head[: len(head) // 2 * 2]
