"""What the kills take for a loss, and which worker they take for one that serves."""

import os
import socket

import httpx2
from bench.killed_network import answer_to_secret
from bench.soak_load import Admin, Journal
from tests.support.processes import LISTENING, socket_states

ROOT = "http://127.0.0.1:1"
ESTABLISHED = "01"


def test_a_service_that_cannot_answer_says_nothing_of_a_secret():
    admin = Admin(ROOT, "A-BANK", "asha@member.example", Journal())
    admin.acknowledged.append("the newest secret")
    answers = iter([503, 500, 200])

    with httpx2.Client(
        base_url=ROOT, transport=httpx2.MockTransport(lambda _: httpx2.Response(next(answers)))
    ) as http:
        assert answer_to_secret(http, admin).status_code == 200


def test_a_refused_secret_is_reported_at_once():
    admin = Admin(ROOT, "A-BANK", "asha@member.example", Journal())
    admin.acknowledged.append("a secret that was lost")

    with httpx2.Client(
        base_url=ROOT, transport=httpx2.MockTransport(lambda _: httpx2.Response(401))
    ) as http:
        assert answer_to_secret(http, admin).status_code == 401


def test_a_process_serves_once_it_holds_a_connection():
    own = os.getpid()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            assert socket_states([own], port) == {own: {LISTENING}}
            accepted, _ = server.accept()
            with accepted:
                assert socket_states([own], port) == {own: {LISTENING, ESTABLISHED}}


def test_a_process_that_has_just_ended_holds_nothing():
    pid = os.posix_spawn("/bin/true", ["/bin/true"], {})
    os.waitpid(pid, 0)

    assert socket_states([pid], 1) == {}
