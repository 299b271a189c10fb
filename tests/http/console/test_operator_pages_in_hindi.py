"""Operators' pages in the language that the person chose: whole pages, and what answers a form."""

import re
from collections.abc import Iterator

import pytest
from tests.support.depth import part
from tests.support.english_left import english_in
from tests.support.people.console import Reader, reader
from tests.support.process import running_service
from tests.support.whole_network import Network, a_network

ACCOUNT = "/console/account"
OPERATOR = "/console/operator"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """A service of its own: members of other tests have names in English, which pages list."""
    data_dir = tmp_path_factory.mktemp("hindi") / "data"
    with running_service(data_dir, keeps_store=True) as service:
        yield a_network(service)


@pytest.fixture(scope="module")
def boss(network: Network) -> Reader:
    """A browser in which the operator has chosen Hindi."""
    browser = reader(network.service)
    assert browser.sign_in(network.operator).status_code == 303
    assert browser.act(ACCOUNT, f"{ACCOUNT}/language", language="hi").status_code == 303
    return browser


DATA = (
    "Kaveri Bank", "Asha Rao", "Microsoft Teams", "Standard Webhooks", "A title of an announcement", "Some plain words of it",
    "mudra health volume --fip ID", "mudra report verify", "mudra login", "Entity FIP", "audit health keys members registry",
    "Our gateway answered all calls of this time", "as its log shows", "mudra doctor",
)  # fmt: skip
"""What the tests have written, and commands."""
DEVANAGARI = re.compile("[\u0900-\u097f]")
OF_EMAILS = re.compile("mails|notifications|sandbox$|members/T-")
"""Pages with emails, which are in the language that their readers had chosen."""


def test_no_page_of_operators_has_english_in_it(network: Network, boss: Reader) -> None:
    left = []
    for one in part(network.pages_of_operator, 1):
        page = boss.get(one.path)
        assert page.status_code == 200, one.path
        assert '<html lang="hi">' in page.text, one.path
        if not OF_EMAILS.search(one.path):
            left += [f"{one.path}: {words}" for words in sorted(english_in(page.text, *DATA))]
    assert not left, "\n".join(left)


def test_the_file_of_the_board_is_in_english_for_every_reader(boss: Reader) -> None:
    answer = boss.get(f"{OPERATOR}/board?export=board")

    assert answer.headers["content-type"].startswith("text/csv")
    assert len(answer.text.splitlines()) > 1
    assert DEVANAGARI.search(answer.text) is None


def test_a_refused_form_of_an_incident_is_open_and_says_why(network: Network, boss: Reader) -> None:
    path = f"{OPERATOR}/incidents/{network.incident_id}"

    refused = boss.act(path, f"{path}/acts", act="reopen", text="")

    assert refused.status_code == 400
    form = refused.text.partition('id="reopen-text"')[0].rpartition("<details")[2]
    assert form.startswith(' class="act" open>')
    assert '<p class="problem" role="alert"' in form


def test_a_refusal_that_only_the_api_has_is_marked_as_english(
    network: Network, boss: Reader
) -> None:
    """A voice that reads Hindi pages would speak its letters otherwise."""
    form = {"entityId": network.fip.entity_id, "type": "AA", "name": "Another one"}

    refused = boss.act(
        f"{OPERATOR}/onboard", f"{OPERATOR}/onboard", **form, adminEmail="a@b.example"
    )

    assert refused.status_code == 409
    shown = re.search(r'<p class="problem" role="alert"[^>]*>(.*?)</p>', refused.text)
    assert shown is not None
    assert re.fullmatch(r'<span lang="en">[A-Z].* exists with another type: .*\.</span>', shown[1])
