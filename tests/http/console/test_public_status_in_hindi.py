"""The public pages in the reader's language: by the address, else by the browser."""

import re
from pathlib import Path

import httpx2
import pytest
from tests.http.public_status import open_data
from tests.support.english_left import english_in
from tests.support.http_clients import NO_TLS
from tests.support.members import onboard
from tests.support.metrics.metrics_push import pushing_aa
from tests.support.process import running_service
from tests.support.service import Service

from mudra.localization.languages import TEMPLATE


def get(service: Service, path: str, accept: str = "", **headers: str) -> httpx2.Response:
    sent = headers | ({"Accept-Language": accept} if accept else {})
    return httpx2.get(f"{service.root}{path}", headers=sent, verify=NO_TLS)


def has_its_own_tag(service: Service, path: str) -> bool:
    """Whether who has the Hindi page is asked to keep it, until the next snapshot."""
    tag = get(service, path, "hi").headers["etag"]
    again = get(service, path, "hi", **{"If-None-Match": tag})
    other = get(service, path, "en", **{"If-None-Match": tag})
    return (again.status_code, other.status_code) == (304, 200)


def test_the_public_pages_come_in_the_language_of_address_or_browser(service: Service) -> None:
    aa = pushing_aa(service)
    fip_id, _ = onboard(service, "FIP", name="Narmada Gramin")
    for payload in (aa.requests(), aa.notifications()):
        assert aa.push(payload).status_code == 200
    service.advance("PT10M")
    service.wait_until(lambda: "Narmada Gramin" in get(service, f"/status?q={fip_id}").text)
    named = [one["name"] for one in open_data(service)["fips"]]
    paths = [f"/status?q={fip_id}", f"/status/fip/{fip_id}"]
    for path in paths:
        english, by_browser = get(service, path), get(service, path, "hi-IN,hi;q=0.9,en;q=0.5")
        mark = "&" if "?" in path else "?"
        by_address = get(service, f"{path}{mark}lang=hi", "en-US")

        assert '<html lang="en">' in english.text
        assert '<html lang="hi">' in by_browser.text
        assert english.headers["content-language"] == "en"
        assert by_address.headers["content-language"] == "hi"
        assert by_address.headers["vary"] == "Accept-Encoding, Accept-Language"
        assert english.headers["etag"] != by_browser.headers["etag"]
        # Other institutions may have incidents, which every page of the status shows.
        assert english_in(by_browser.text, *named, "CC BY", "CSV", "Microsoft Teams") == set()
        assert "व्यवधान" in by_address.text
        # Who asked for a language keeps it from page to page.
        links = re.findall(r'href="(/status(?:/fip/[^"]*)?|\?[^"]*)"', by_address.text)
        own = [link for link in links if "/feed." not in link and "lang=en" not in link]
        assert [link for link in own if "lang=hi" not in link] == []
        service.wait_until(lambda path=path: has_its_own_tag(service, path))
    table = get(service, f"/status?q={fip_id}&export=apis", "hi")
    assert table.text.startswith("\ufeffInstitution,API,Status")  # files are the same for all


def test_a_wrong_address_is_explained_in_the_readers_language(service: Service) -> None:
    for path in ("/status/fip/UNKNOWN", "/status/nothing"):
        page = get(service, path, "hi")
        assert page.status_code == 404
        assert "इस पते पर कोई पेज नहीं है" in page.text
        assert english_in(page.text) == set()


def test_the_language_of_an_address_is_never_markup(service: Service) -> None:
    page = get(service, '/status?lang="><script>alert(1)</script>&q="><b>')
    assert page.status_code == 200
    assert '<html lang="en">' in page.text
    assert "<script>alert" not in page.text
    assert "<b>" not in page.text


def test_a_broken_catalogue_stops_the_start_with_its_file_and_line(tmp_path: Path) -> None:
    locales = tmp_path / "locales"
    locales.mkdir()
    (locales / "ta.po").write_text('msgid "a"\nmsgstr "b"\n\nmsgid "Status"\nmsgstr "100 %"\n')
    with (
        pytest.raises(AssertionError, match=r"ta\.po:4"),
        running_service(tmp_path / "data", MUDRA_LOCALES_DIR=str(locales)),
    ):
        pass


def test_a_network_adds_a_language_by_a_file_alone(tmp_path: Path) -> None:
    """As docs/how-to/add-a-language.md has it: what is not translated yet is in English."""
    locales = tmp_path / "locales"
    locales.mkdir()
    words = {"Find an institution": "संस्था शोधा", "Find": "शोधा", "Sign in": "साइन इन करा"}
    template = TEMPLATE.read_text()
    for one, translated in words.items():
        template = template.replace(
            f'msgid "{one}"\nmsgstr ""', f'msgid "{one}"\nmsgstr "{translated}"'
        )
    (locales / "mr.po").write_text(template)
    with running_service(tmp_path / "data", MUDRA_LOCALES_DIR=str(locales)) as service:
        service.wait_until(lambda: "Find an institution" in get(service, "/status").text)
        status = get(service, "/status", "mr-IN,mr;q=0.9")
        sign_in = get(service, "/console/sign-in?lang=mr")
        listed = service.cli("doctor").output

    for page in (status, sign_in):
        assert '<html lang="mr">' in page.text
        assert ">मराठी</a>" in page.text
    assert "संस्था शोधा" in status.text
    assert "साइन इन करा" in sign_in.text
    assert "Password" in sign_in.text
    assert re.search(r"mr \(lacks [\d,]+ messages, shown in English\)", listed)
