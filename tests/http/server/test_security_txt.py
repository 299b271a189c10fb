"""security.txt: where a vulnerability of an installation is reported (RFC 9116)."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.support.process import running_service
from tests.support.service import Service

from mudra.bootstrap.config import ConfigError, load_settings

PATH = "/.well-known/security.txt"


def test_without_a_contact_there_is_none(service: Service) -> None:
    answer = service.client().get(service.root + PATH)

    assert (answer.status_code, answer.json()["errorCode"]) == (404, "NotFound")


def test_it_names_the_contacts_in_the_form_of_the_rfc(tmp_path: Path) -> None:
    contacts = "security@network.example, https://network.example/report"
    with running_service(tmp_path, MUDRA_SECURITY_CONTACT=contacts) as service:
        answer = service.client().get(service.root + PATH)
        now = service.wall()

    lines = [line.partition(": ") for line in answer.text.splitlines()]
    assert [(name, text) for name, _, text in lines if name != "Expires"] == [
        ("Contact", "mailto:security@network.example"),
        ("Contact", "https://network.example/report"),
        ("Preferred-Languages", "en"),
        ("Canonical", f"{service.root}{PATH}"),
    ]
    (expires,) = [text for name, _, text in lines if name == "Expires"]
    left = datetime.fromisoformat(expires).timestamp() - now
    assert timedelta(days=30).total_seconds() < left < timedelta(days=365).total_seconds()
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    "wrong",
    ["security", "http://network.example", "a@b.example\nContact: x", "mailto:", "javascript:x"],
)
def test_what_is_no_contact_is_refused(wrong: str) -> None:
    with pytest.raises(
        ConfigError, match="MUDRA_SECURITY_CONTACT must be email addresses, or URIs"
    ):
        load_settings({"MUDRA_SECURITY_CONTACT": wrong})
