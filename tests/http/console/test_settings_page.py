"""Settings are on their page by area, and found by words of their names and meanings."""

from tests.support.people.console import reader
from tests.support.people.operators import new_operator
from tests.support.service import Service

from mudra.console.framework.navigation import operator_path

PAGE = operator_path("settings")


def test_settings_are_listed_by_area_and_found_by_words(service: Service) -> None:
    browser = reader(service)
    browser.sign_in(new_operator(service, "audit").email)

    everything = browser.get(f"{PAGE}?all=yes").text
    found = browser.get(f"{PAGE}?settings.q=mail server").text
    chosen = browser.get(PAGE).text
    none = browser.get(f"{PAGE}?settings.q=no-such-setting").text

    assert everything.index("Address, proxy and processes") < everything.index("SMTP_<wbr>URL")
    assert "SMTP_<wbr>URL" in found
    assert "SIGNING_<wbr>KEY" not in found
    assert "SANDBOX" in chosen, "the service was started with it"
    assert "SMTP_<wbr>URL" not in chosen
    assert "No setting contains “no-such-setting”." in none
