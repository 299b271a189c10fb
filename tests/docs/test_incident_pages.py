"""The guides say after how many good windows an incident closes as the reference does."""

import re

from tests.support.documents.blocks import text_of

WORDS = {"1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six"}


def test_the_guides_close_an_incident_after_as_many_good_windows_as_the_reference() -> None:
    """The reference is made from metrics/attribution/causes/closing.py; the guides are written."""
    said = set(re.findall(r"most often (\d) good windows", text_of("docs/reference/webhooks.md")))
    monitor, fault = map(
        text_of, ("docs/how-to/monitor-the-network.md", "docs/explanation/whose-fault.md")
    )

    assert len(said) == 1
    wanted = [WORDS[said.pop()]]
    assert re.findall(r"(\w+) good windows", monitor) == wanted * 2
    assert re.findall(r"It ends with (\w+) good windows", fault) == wanted
