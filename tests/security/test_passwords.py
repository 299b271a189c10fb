"""Which passwords an account can have, asked over HTTP."""

import unicodedata

import pytest
from tests.support.error_body import assert_error
from tests.support.mailbox import latest_link
from tests.support.members import onboard, set_password
from tests.support.service import Service

GENERATE = "/v1/user/token/generate"
SET = "/v1/user/password/set"


def test_each_bad_password_is_refused_with_its_reason_and_leaves_the_link_good(
    service: Service,
) -> None:
    """A9, A10: length, the lists, plain patterns, and each name that belongs to the account."""
    entity_id, email = onboard(service, name="Tungabhadra Bank")
    link, client = latest_link(service, email), service.client()
    bad = {
        "fourteen chars": "at least 15",
        "\N{OCTOPUS}" * 14: "at least 15",
        "granite  cafe\u0301s": "at least 15",  # 15 typed, 14 in NFC
        "granite otter " * 19: "at most 256",
        "MetricConverter": "common",
        "111222333444555": "common",
        "passwordpassword": "repeated",
        "qwertyuiopasdfgh": "keyboard",
        "abcdefghijklmnopq": "alphabet",
        "1234567890123456": "the numbers",
        f"{email.partition('@')[0]} lamp velvet": "your name",  # which its first part is
        "tungabhadra granite otter": "entity's name",
        f"{entity_id} granite otter": "ID",
        "asha rao granite otter": "your name",
        "accountaggregatornetwork": "the network's",
        "mudra granite otter": "product's name",
    }

    for password, reason in bad.items():
        refused = set_password(client, link, password)
        assert refused.status_code == 400, password
        assert reason in refused.json()["errorMsg"], (password, refused.text)
        assert password not in refused.json()["errorMsg"]

    megabyte = client.post(SET, json={"token": link.rpartition("/")[2], "password": "x" * 2**20})
    assert_error(megabyte, 413, "PayloadTooLarge")
    assert set_password(client, link).status_code == 200


@pytest.mark.parametrize(
    "password",
    [
        "granite otter v",
        "".join(chr(0x1F400 + n * n % 251) for n in range(256)),
        "café orbit lantern",
    ],
    ids=["fifteen", "256 code points", "an accent"],
)
def test_a_password_is_kept_whole_in_any_characters(service: Service, password: str) -> None:
    """A9: 15 to 256 code points, no composition rule, never cut off, both normal forms."""
    _, email = onboard(service)
    client = service.client()
    assert set_password(client, latest_link(service, email), password).status_code == 200

    def tried(text: str) -> int:
        return client.post(GENERATE, data={"username": email, "password": text}).status_code

    assert tried(unicodedata.normalize("NFD", password)) == 200
    assert tried(password[:-1]) == 401
    assert tried(password + "x") == 401
