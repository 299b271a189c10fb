"""On a page an email's addresses of the console are links by name, and lead to no other host."""

from mudra.console.pages.email_text import (
    paragraphs,
    pieces,
    severity_of,
    severity_tone,
    without_greeting,
    without_severity,
)


def test_an_address_of_the_console_is_a_link_that_says_where_it_leads() -> None:
    text = (
        "All steps are here:\n\nhttps://host.example/console/entity/A/disputes/7\n\n"
        "Elsewhere: https://evil.example/other. Or https://evil.example/console/account#alarms."
    )

    found = pieces(text)

    assert "".join(one.text for one in found if not one.path).startswith("All steps are here:\n\n")
    links = {one.text: one.path for one in found if one.path}
    assert links == {
        "Open the dispute": "/console/entity/A/disputes/7",
        "Open your account": "/console/account#alarms",
    }
    assert "https://evil.example/other" in "".join(one.text for one in found)


def test_the_severity_of_a_subject_is_apart_from_it() -> None:
    subject = "[Critical] Kaveri Bank: 60 % of calls fail"

    assert (severity_of(subject), severity_tone(subject)) == ("Critical", "bad")
    assert without_severity(subject) == "Kaveri Bank: 60 % of calls fail"
    assert (severity_of("Plain"), without_severity("Plain")) == ("", "Plain")


def test_a_page_leaves_the_greeting_out_and_has_a_link_alone_as_an_act() -> None:
    text = (
        "Hello a@b.example,\n\nIt is over.\n\nOpen your account here:\n\n"
        "https://host.example/console/account\n"
    )

    found = without_greeting(paragraphs(text))

    assert [[one.text for one in of] for of in found] == [["It is over."], ["Open your account"]]
    assert without_greeting(paragraphs("It is over.")) == paragraphs("It is over.")
