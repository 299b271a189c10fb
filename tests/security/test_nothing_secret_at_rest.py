"""A stolen dump, and the logs, hold nothing that opens anything (quality K7, L1)."""

import base64
import binascii
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.support.people.console import reader
from tests.support.people.second_factor import enroll, enter_code
from tests.support.service import (
    Service,
    latest_link,
    new_member,
    running_service,
    set_password,
)

from mudra.storage.database.embedded import server as embedded
from mudra.storage.database.embedded.server import embedded_server

PG_DUMP = embedded.programs() / "pg_dump"
NEW_PASSWORD = "another-canary-password/with+signs=%"


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
    folder = tmp_path_factory.mktemp("canary")
    with running_service(folder / "data", "--workers", "2", MUDRA_LOG_LEVEL="debug") as service:
        member = new_member(service)
        client = member.client
        canaries = {
            "password": member.password,
            "link": latest_link(service, member.email).rpartition("/")[2],
            "user token": member.user_token(),
            "first secret": member.secret(),
        }
        headers = {"Authorization": f"Bearer {canaries['user token']}"}
        canaries["entity token"] = member.entity_token(canaries["first secret"]).json()[
            "accessToken"
        ]
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
        client.post("/v1/user/password/forgot", json={"username": member.email})
        service.wait_until(
            lambda: latest_link(service, member.email).rpartition("/")[2] != canaries["link"]
        )
        canaries["new link"] = latest_link(service, member.email).rpartition("/")[2]
        canaries["new password"] = NEW_PASSWORD
        set_password(client, latest_link(service, member.email), NEW_PASSWORD)
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
        yield service, canaries


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
                timeout=60,
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
    # What no checkpoint has written to the tables yet is in the write-ahead log.
    assert any(b"entity:secret:create" in bytes_of(file) for file in files)
    for file in files:
        assert found(canaries, bytes_of(file)) == [], file


def bytes_of(file: Path) -> bytes:
    """What a file of a running server holds: some, such as caches of catalogs, come and go."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


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
