"""A request answered in the turn that read it gets what one gets that had to wait for its body."""

import base64
import json
import os
import re
import signal
import socket
import time
from urllib.parse import urlencode, urlsplit

import pytest
from tests.support.mailbox import mails
from tests.support.members import Member, new_member
from tests.support.processes import forked_by
from tests.support.service import Service
from tests.support.until import until

TRANSACTION_S = 3.0

PATH = "/iam/v1/entity/token/generate"
FORM = "application/x-www-form-urlencoded"
JSON = {"content-type": "application/json"}
_CHANGING = re.compile(
    rb'(?<=date: )[^\r]+|(?<="timestamp":")[^"]+|(?<="accessToken":")[^"]+', re.IGNORECASE
)
Fields = dict[str, str] | list[tuple[str, str]]


def in_one_piece(service: Service, head: bytes, body: bytes) -> bytes:
    """The answer when all is there at once, which memory can give."""
    return spoken(service, [head + body])


def in_two_pieces(service: Service, head: bytes, body: bytes) -> bytes:
    """The answer when the body comes later, which the application gives."""
    return spoken(service, [head, body])


def spoken(service: Service, pieces: list[bytes]) -> bytes:
    """What the service says to these pieces, sent apart from each other, until it closes."""
    port = urlsplit(service.issuer).port
    with socket.create_connection(("127.0.0.1", port), 30) as talk:
        talk.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for place, piece in enumerate(pieces):
            if place:
                time.sleep(0.05)  # so that the pieces are read apart; together proves as much
            talk.sendall(piece)
        said = b""
        while more := talk.recv(65536):
            said += more
    return said


def a_request(fields: Fields, *, media: str = FORM, more: str = "") -> tuple[bytes, bytes]:
    body = urlencode(fields).encode()
    head = (
        f"POST {PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: {media}\r\n{more}"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode(), body


@pytest.fixture(scope="module")
def member(service: Service) -> Member:
    one = new_member(service)
    until(lambda: one.entity_token(one.secret()).status_code == 200)
    return one


def test_both_roads_say_the_same(service: Service, member: Member) -> None:
    secret, entity_id = member.secret(), member.entity_id
    known = {"txnId": "the-same-one"}
    asked = {
        "good": a_request({"id": entity_id, "secret": secret, **known}),
        "wrong secret": a_request({"id": entity_id, "secret": "w" * 43, **known}),
        "no such entity": a_request({"id": "NOBODY-FIP", "secret": "w" * 43, **known}),
        "no secret": a_request({"id": entity_id, **known}),
        "another method of packing": a_request(
            {"id": entity_id, "secret": secret, **known}, more="content-encoding: identity\r\n"
        ),
    }
    for name, (head, body) in asked.items():
        answers = [say(service, head, body) for say in (in_one_piece, in_two_pieces, in_one_piece)]

        expected = (
            b"HTTP/1.1 200" if name in {"good", "another method of packing"} else b"HTTP/1.1 4"
        )
        assert answers[0].startswith(expected), name
        plain = {_CHANGING.sub(b"*", answer) for answer in answers}
        assert len(plain) == 1, name


def test_what_only_the_application_refuses_is_refused_alike(
    service: Service, member: Member
) -> None:
    fields = {"id": member.entity_id, "secret": member.secret()}
    for (head, body), status in (
        (a_request(fields, media="text/plain"), b"415"),
        (a_request([*fields.items(), ("id", "again")]), b"400"),
        (a_request({**fields, "more": "m" * 9000}), b"413"),
    ):
        for say in (in_one_piece, in_two_pieces):
            assert say(service, head, body)[9:12] == status


def test_pipelined_requests_are_answered_in_order(service: Service, member: Member) -> None:
    fields = {"id": member.entity_id, "secret": member.secret()}
    row = b"".join(
        b"".join(a_request({**fields, "txnId": f"row-{place}"})).replace(
            b"connection: close\r\n", b"" if place < 4 else b"connection: close\r\n"
        )
        for place in range(5)
    )

    said = spoken(service, [row])

    assert re.findall(rb'"txnId":"([^"]+)"', said) == [b"row-%d" % place for place in range(5)]
    assert said.count(b"HTTP/1.1 200 OK\r\n") == 5


OFFER = (
    "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n"
)


def test_an_offer_of_another_protocol_costs_no_body_and_no_connection(
    service: Service, member: Member
) -> None:
    """As Java's client makes it with its first request over plain HTTP (RFC 9110 7.8)."""
    good = {"id": member.entity_id, "secret": member.secret()}
    head, body = a_request(good, more=OFFER)
    stays = head.replace(b"connection: close\r\n", b"")
    chunked = re.sub(rb"content-length: \d+", b"transfer-encoding: chunked", stays)
    parts = b"%x\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (5, body[:5], len(body) - 5, body[5:])
    get = b"GET /livez HTTP/1.1\r\nhost: x\r\n" + OFFER.encode() + b"\r\n"
    row = [stays + body, stays, body, stays + body[:9], body[9:] + get, chunked + parts, chunked]
    row += [parts, stays + body + get + head, body]

    for pieces in (row, [b"".join(row)]):
        said = spoken(service, pieces)

        assert said.count(b"HTTP/1.1 200 OK\r\n") == said.count(b"HTTP/1.1 ") == 9
        assert said.count(b'"accessToken"') == 7


def test_a_body_behind_an_offer_is_never_taken_for_a_request(service: Service) -> None:
    inner = b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    head = (
        f"POST {PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: {FORM}\r\n{OFFER}"
        f"content-length: {len(inner)}\r\n\r\n"
    ).encode()
    for pieces in ([head + inner], [head, inner], [head[:-3], head[-3:], inner]):
        said = spoken(service, [*pieces, inner])

        assert re.findall(rb"HTTP/1.1 (\d+)", said) == [b"400", b"200"]


def test_each_connection_of_a_batch_gets_its_own_response(service: Service, member: Member) -> None:
    other = new_member(service)
    others_secret = other.secret()
    asked = {
        "one": {"id": member.entity_id, "secret": member.secret()},
        "other": {"id": other.entity_id, "secret": others_secret},
        "wrong": {"id": member.entity_id, "secret": "w" * 43},
    }
    port = urlsplit(service.issuer).port
    talks = [
        (name, place, socket.create_connection(("127.0.0.1", port), 30))
        for place in range(7)
        for name in asked
    ]
    processes = forked_by(service.process.pid).values()
    for pid in processes:  # so that all requests wait when the worker reads
        os.kill(pid, signal.SIGSTOP)
    for name, place, talk in talks:
        talk.sendall(b"".join(a_request({**asked[name], "txnId": f"{name}-{place}"})))
    for pid in processes:
        os.kill(pid, signal.SIGCONT)

    for name, place, talk in talks:
        said = b"".join(iter(lambda talk=talk: talk.recv(65536), b""))
        talk.close()
        head, _, body = said.partition(b"\r\n\r\n")
        shown = json.loads(body)
        assert shown["txnId"] == f"{name}-{place}"
        assert head.startswith(b"HTTP/1.1 401" if name == "wrong" else b"HTTP/1.1 200")
        if name != "wrong":
            claims = shown["accessToken"].split(".")[1]
            payload = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
            assert payload["sub"] == asked[name]["id"]


@pytest.mark.parametrize("road", ["fast", "slow", "both at once"])
def test_a_client_that_ends_its_side_still_gets_the_response(
    service: Service, member: Member, road: str
) -> None:
    port = urlsplit(service.issuer).port
    head, body = a_request({"id": member.entity_id, "secret": member.secret()})
    sign_in = urlencode({"username": member.email, "password": member.password}).encode()
    slow = (
        f"POST /iam/v1/user/token/generate HTTP/1.1\r\nhost: x\r\ncontent-length: {len(sign_in)}\r\n"
        "content-type: application/x-www-form-urlencoded\r\n\r\n"
    ).encode() + sign_in
    asked = {"fast": head + body, "slow": slow, "both at once": slow + head + body}[road]
    with socket.create_connection(("127.0.0.1", port), 30) as talk:
        talk.sendall(asked)
        talk.shutdown(socket.SHUT_WR)
        said = b"".join(iter(lambda: talk.recv(65536), b""))

    assert said.count(b"HTTP/1.1 200") == asked.count(b"POST ")


def test_a_connection_goes_on_after_either_road(service: Service, member: Member) -> None:
    good = {"id": member.entity_id, "secret": member.secret()}
    keeps, closes = (
        b"".join(a_request(good)).replace(b"connection: close\r\n", b""),
        b"".join(a_request(good)),
    )
    head, _, body = keeps.partition(b"\r\n\r\n")

    said = spoken(service, [keeps, head + b"\r\n\r\n", body, keeps, b"\r\n", closes])

    assert said.count(b"HTTP/1.1 200 OK\r\n") == 4


def test_nothing_after_a_last_request_is_processed(service: Service, member: Member) -> None:
    last = b"".join(a_request({"id": member.entity_id, "secret": member.secret()}))
    body = json.dumps({"username": member.email}).encode()
    behind = (
        b"POST /iam/v1/user/password/forgot HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        b"content-length: %d\r\n\r\n" % len(body)
    ) + body

    def emails() -> int:
        return len(mails(service, member.email))

    before = emails()
    assert spoken(service, [last + behind]).count(b"HTTP/1.1 ") == 1
    assert spoken(service, [last]).startswith(b"HTTP/1.1 200")
    assert emails() == before
    assert member.client.post("/v1/user/password/forgot", content=body, headers=JSON).is_success
    service.wait_until(lambda: emails() == before + 1)
