"""A page that finds no turn says so as a page, in its reader's language (decision 0010)."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from tests.support.database.template_database import prepare
from tests.support.english_left import english_in
from tests.support.in_process import InProcess, in_process

from mudra.bootstrap.node.serve import open_store
from mudra.settings.settings import Settings
from mudra.shared.waiting.fair_queue import Queue

HINDI = {"Accept-Language": "hi-IN,hi;q=0.9,en;q=0.5"}
PAGES = (
    "/status",
    "/status/fip/KAVERI-FIP",
    "/console/sign-in",
    "/console/entity/KAVERI-FIP",
    "/console/operator/board",
)
SAYS = {"": "This node is too busy; try again.", "hi": "यह सर्वर अभी बहुत व्यस्त है; दोबारा कोशिश करें।"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """A worker without a turn for any page, which lets no one wait."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("busy") / "data", sandbox=True)
    prepare(settings.data_dir)
    with (
        open_store(settings, create=True) as opened,
        in_process(settings, *opened, connections=2) as one,
    ):
        http = replace(one.edge.http, page_turns=Queue(0, 0.0))
        yield InProcess(one.loop, replace(one.edge, http=http))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_without_a_turn_is_refused_in_the_readers_language(
    served: InProcess, path: str
) -> None:
    english = served.client().get(path)
    hindi = served.client().get(path, headers=HINDI)

    for answer in (english, hindi):
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.headers["content-type"].startswith("text/html")
        assert "refresh" in answer.headers
    assert SAYS[""] in english.text
    assert SAYS["hi"] in hindi.text
    assert '<html lang="hi">' in hindi.text
    assert english_in(hindi.text) == set()


@pytest.mark.parametrize("path", ["/status/network.json", "/status/badge.svg"])
def test_a_file_without_a_turn_is_refused_as_the_api_does(served: InProcess, path: str) -> None:
    answer = served.client().get(path, headers=HINDI)

    assert (answer.status_code, answer.json()["errorCode"]) == (503, "ServiceUnavailable")
