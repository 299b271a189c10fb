"""Headers that every answer carries."""

import pytest

from mudra.http.app import safety_headers
from mudra.http.route_settings import RouteSettings
from mudra.settings.settings import Settings


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [("https://iam.network.example/iam", "max-age=31536000"), ("http://127.0.0.1:8080/iam", None)],
)
def test_a_year_of_https_only_is_asked_for_where_the_service_is_reached_by_it(
    base_url: str, expected: str | None
) -> None:
    settings = RouteSettings.of(Settings(base_url=base_url))

    sent = {header.name: header.value for header in safety_headers(settings)}

    assert sent.get("Strict-Transport-Security") == expected
    assert sent["X-Content-Type-Options"] == "nosniff"
