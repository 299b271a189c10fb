"""Where a message may go, also when a name lies."""

import asyncio
import ipaddress
import socket
import threading

import pytest
from tests.support.until import PATIENCE_S
from tests.support.webhook_sink import webhook_sink

from mudra.audit.event import Caller
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.probe.challenge import Challenge
from mudra.registry.probe.probe import WaitingProbe
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.webhook.probe import probe
from mudra.webhook.reach import Reach
from mudra.webhook.send import Terms, post

PUBLIC = Reach(AddressPolicy())
SANDBOX = Reach(AddressPolicy(allow_http=True, allow_private=True))
OPENED = Reach(AddressPolicy(allow_http=True), (ipaddress.ip_network("127.0.0.0/8"),))


def sent(url, reach):
    return asyncio.run(post(url, b"{}", {"webhook-id": "one"}, reach))


def names(monkeypatch, *addresses):
    """Let every name lead to these addresses, as a resolver that somebody else runs may."""

    def look_up(host, port, *_, **__):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1", "0.0.0.0"),
        *("::1", "fe80::1%eth0", "::ffff:10.0.0.1", "64:ff9b::a00:1", "fd00::1"),
    ],
)
def test_a_public_name_that_leads_inside_is_not_called(monkeypatch, address):
    names(monkeypatch, "93.184.215.14", address)

    outcome = sent("https://alarms.network.example/x", PUBLIC)

    assert outcome.startswith("the host is the address")


@pytest.mark.parametrize(
    "url", ["https://x.example:8443/", "https://x.example:22/a", "https://10.1.2.3/"]
)
def test_the_public_reaches_the_web_alone_and_no_opened_network(url):
    public = Reach(AddressPolicy(), ports=frozenset({443}))

    assert public.url_fault("https://x.example/a") is None
    assert public.url_fault("https://x.example:443/a") is None
    assert public.url_fault(url)


def test_members_reach_443_and_the_ports_that_the_operator_allows():
    allowed = Reach(AddressPolicy(), ports=frozenset({443, 8443}))

    assert allowed.url_fault("https://x.example/a") is None
    assert allowed.url_fault("https://x.example:8443/a") is None
    for port in (22, 25, 80, 6379, 8444):
        assert "it must be 443 or 8443" in (allowed.url_fault(f"https://x.example:{port}/") or "")


@pytest.mark.parametrize("host", ["10.0.0.1", "127.0.0.1", "[::1]", "192.88.99.1"])
def test_an_address_in_a_url_is_asked_when_it_is_added(host):
    """And again at each call: a name may lead elsewhere by then."""
    assert "a public address" in (PUBLIC.url_fault(f"https://{host}/hook") or "")
    network = (ipaddress.ip_network("10.0.0.0/8"),)
    opened = Reach(AddressPolicy(), network).url_fault(f"https://{host}/hook")
    assert (opened is None) == (host == "10.0.0.1")


def test_one_ip_address_is_called_so_often_whatever_its_names(monkeypatch):
    with webhook_sink() as sink:
        port = sink.url.split(":")[2].split("/")[0]
        names(monkeypatch, "127.0.0.1", "127.0.0.1")
        calls = KeyedRateLimit(0.001, 3, lambda: 0.0)
        terms = Terms(lambda key: not calls.wait_s(key))

        outcomes = [
            asyncio.run(post(f"http://{n}.example:{port}/", b"{}", {}, OPENED, terms))
            for n in range(5)
        ]

    assert len(sink.posted) == 3
    assert outcomes[3:] == ["too many calls to this host"] * 2


def test_the_call_goes_to_the_judged_address_under_the_name(monkeypatch):
    with webhook_sink() as sink:
        port = sink.url.split(":")[2].split("/")[0]
        names(monkeypatch, "127.0.0.1")

        outcome = sent(f"http://alarms.network.example:{port}/x?a=1", OPENED)

        assert outcome == ""
        assert sink.posted[0].path == "/x?a=1"
        assert sink.posted[0].headers["host"] == f"alarms.network.example:{port}"


def called(_):
    return post("https://alarms.network.example/x", b"{}", {}, PUBLIC)


def probed(_):
    url = "https://fip.example.org/aa"
    waiting = WaitingProbe("p", "KAVERI-FIP", 1, url, {}, Caller("operator:tests"))
    challenge = Challenge(url, "https://iam.example.org/iam", "n" * 43, b"{}")
    return probe(waiting, challenge, "signature", PUBLIC)


@pytest.mark.parametrize("call", [called, probed])
def test_servers_of_names_that_never_answer_take_no_threads_of_others(monkeypatch, call):
    answers = threading.Event()

    def look_up(*_, **__):
        answers.wait()
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    async def judged_meanwhile():
        calls = asyncio.gather(*map(call, range(40)))
        await asyncio.sleep(0)
        try:
            return await asyncio.wait_for(asyncio.to_thread(threading.active_count), PATIENCE_S)
        finally:
            answers.set()
            await calls

    assert asyncio.run(judged_meanwhile())


@pytest.mark.parametrize("status", [200, 301, 307, 400, 410, 500])
def test_only_success_is_success(status):
    with webhook_sink() as sink:
        sink.answers, sink.location = [status], sink.url + "/further"

        outcome = sent(sink.url, SANDBOX)

        assert outcome == ("" if status == 200 else f"the receiver answered {status}")
        assert len(sink.posted) == 1


def test_no_one_there_is_reported_without_an_address():
    outcome = sent("http://127.0.0.1:9/", SANDBOX)

    assert outcome == "no connection: no program listens there, or a firewall refuses it"


def test_a_network_that_the_operator_opens_is_reached_and_no_other():
    assert OPENED.url_fault("http://127.0.0.1:9/") is None
    assert "private" in (OPENED.url_fault("http://10.0.0.1/") or "")
    assert "scheme http" in (PUBLIC.url_fault("http://alarms.network.example/") or "")
    assert PUBLIC.url_fault("https://alarms.network.example/x?key=1") is None


def test_a_host_that_idna_forbids_is_a_name_like_others(monkeypatch):
    names(monkeypatch, "10.0.0.1")

    outcome = sent("https://xn--ls8h.example/hook", PUBLIC)

    assert outcome.startswith("the host is the address")


def test_a_redirect_to_a_host_that_idna_forbids_is_a_failed_attempt_and_no_fault_of_the_job():
    with webhook_sink() as sink:
        sink.answers, sink.location = [302], "https://xn--ls8h.ab--cd.example/"

        assert "IDNA 2008" in sent(sink.url, SANDBOX)
