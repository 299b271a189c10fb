"""One function for each parser: it may raise what the parser declares, and nothing else.

Each also holds the parser to what it promises: what it accepts is what another reader reads too.
"""

import base64
import contextlib
import csv
import gzip
import io
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from mudra.agent.sources.body import packets_in, parse_time, read_notification, session_in, txnid_in
from mudra.bootstrap.observability.logging import _ascii
from mudra.client.errors import TokenMalformed
from mudra.client.verification.compact import read_header, read_json, split
from mudra.http.auth.bearer import _BARE_OR_BEARER, _BEARER
from mudra.http.request.body.request_body import FormRefused, parse_form
from mudra.http.request.body.strict_json import JsonRefused, parse_json
from mudra.identity.accounts.email_address import display_name, normalize_email
from mudra.metrics.payload.report import encode_report
from mudra.metrics.payload.validation import CheckedReport, check_at_once, check_report
from mudra.registry.payload.fields.url_rules import AddressPolicy, baseurl_faults
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.server_protocol.body_reader import media_type
from mudra.server_protocol.decompression import BadlyPacked, Gzip, UnpackedTooLarge, Zstd
from mudra.shared.text.csv_file import csv_text

NOW: Final = datetime(2026, 3, 4, 10, 31, tzinfo=UTC)
_LIMIT: Final = 4096
_VOCABULARY: Final = shipped_vocabulary()


def strict_json(data: bytes) -> None:
    """The strict reader accepts no more than the standard one, and reads the same."""
    problem = ""
    try:
        value = parse_json(data)
    except JsonRefused as refused:
        problem = refused.sentence()
    assert problem.isprintable(), problem
    if not problem:
        assert value == json.loads(data)
        assert json.loads(json.dumps(value)) == value


def form(data: bytes) -> None:
    """A form: fields once, texts that UTF-8 can carry."""
    with contextlib.suppress(FormRefused):
        for name, value in parse_form(data).items():
            (name + value).encode()


def unpacking(data: bytes) -> None:
    """No more comes out than the limit, in whatever pieces the body arrives."""
    for unpacker in (Gzip(_LIMIT), Zstd(_LIMIT)):
        with contextlib.suppress(BadlyPacked, UnpackedTooLarge):
            half = len(data) // 2
            unpacker.take(data[:half])
            unpacker.take(data[half:])
            whole = unpacker.whole()
            assert len(whole) <= _LIMIT
            if isinstance(unpacker, Gzip):
                assert gzip.decompress(data) == whole


def headers(data: bytes) -> None:
    """`Content-Type` and `Authorization`."""
    text = data.decode("latin-1")
    media = media_type(text)
    assert media.name == media.name.lower()
    for pattern in (_BEARER, _BARE_OR_BEARER):
        found = pattern.fullmatch(text.strip())
        assert found is None or (found["token"].isascii() and " " not in found["token"])


def token(data: bytes) -> None:
    """A token has one spelling: what is split joins to the same."""
    text = data.decode("latin-1")
    with contextlib.suppress(TokenMalformed):
        parts = split(text)
        assert f"{parts.signed}.{parts.signature.decode()}" == text
        for part in (parts.header, parts.payload):
            raw = base64.urlsafe_b64decode(part + "==")
            assert base64.urlsafe_b64encode(raw).decode().rstrip("=") == part
        read_header(parts.header)
    with contextlib.suppress(TokenMalformed):
        read_json(base64.urlsafe_b64encode(data).decode().rstrip("="), "content")


def report(data: bytes) -> None:
    """The fast and the slow reader of a push agree; what is accepted is read so again."""
    checked = check_report(data, NOW)
    at_once = check_at_once(data, NOW)
    if not isinstance(checked, CheckedReport):
        assert at_once is None
        assert checked.findings
        return
    assert at_once is None or at_once.content_hash == checked.content_hash
    again = check_report(encode_report(checked.report), NOW)
    assert isinstance(again, CheckedReport)
    assert again.content_hash == checked.content_hash


def registration(data: bytes) -> None:
    """A member's entry with its JWK."""
    try:
        value = parse_json(data)
    except JsonRefused:
        return
    checked = check_payload(value, AddressPolicy(), _VOCABULARY)
    assert isinstance(checked, CheckedPayload) or checked


def addresses(data: bytes) -> None:
    """`baseurl`, email addresses and names: refused, or safe in a header."""
    text = data.decode("utf-8", "replace")
    if not baseurl_faults(text, AddressPolicy()):
        assert text.isascii()
        assert text.isprintable()
    for read in (normalize_email, display_name):
        taken = read(text)
        if isinstance(taken, str):
            assert "=?" not in taken
            assert taken.isprintable()
            assert read(taken) == taken


def written(data: bytes) -> None:
    """A line of the log is one line; a cell of a CSV begins no formula."""
    text = data.decode("utf-8", "replace")
    line = _ascii(json.dumps({"path": text}, ensure_ascii=False))
    assert line.isascii()
    assert "\n" not in line
    assert json.loads(line) == {"path": text}
    _, (cell,) = csv.reader(io.StringIO(csv_text(["a"], [[text]]), newline=""))
    assert cell in {text, f"'{text}"}
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def traffic(data: bytes) -> None:
    """What the agent reads of an AA's calls."""
    read_notification(data)
    session_in(data)
    txnid_in(data)
    assert packets_in(data) >= 0
    parse_time(data.decode("utf-8", "replace"))


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    one.__name__: one
    for one in (
        strict_json, form, unpacking, headers, token, report, registration, addresses, written,
        traffic,
    )
}  # fmt: skip  # a list of names

if __name__ == "__main__":
    sys.stdout.write("\n".join([*TARGETS, ""]))
