"""Which URL of an entry is called."""

import pytest

from mudra.registry.payload.fields.url_rules import newest_url


@pytest.mark.parametrize(
    ("baseurl", "url"),
    [
        ("https://fip.example/v2", "https://fip.example/v2"),
        ("v2:https://fip.example/v2", "https://fip.example/v2"),
        ("v2:https://fip.example/v2,v10:https://fip.example/x", "https://fip.example/x"),
        ("v3:https://fip.example/3,v1:https://fip.example/1", "https://fip.example/3"),
    ],
)
def test_the_newest_version_of_a_base_url_is_called(baseurl: str, url: str) -> None:
    assert newest_url(baseurl) == url
