"""The cookie of a session by the address of the service."""

from litestar import Response

from mudra.console.framework.session.cookie import sessions_are_safe, set_session_cookie
from mudra.settings.settings import Settings
from mudra.shared.secret_text import SecretText


def header(base_url: str) -> str:
    response: Response[str] = Response("")
    set_session_cookie(response, SecretText("abc"), Settings(base_url=base_url))
    return response.cookies[0].to_header(header="")


def test_over_https_it_is_secure_and_of_this_host_only() -> None:
    cookie = header("https://iam.network.example/iam")

    assert cookie.startswith("__Host-mudra=abc")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


def test_on_a_loopback_address_it_is_one_that_a_browser_takes() -> None:
    cookie = header("http://127.0.0.1:8080/iam")

    assert cookie.startswith("mudra=abc")
    assert "Secure" not in cookie


def test_at_any_other_plain_address_no_session_is_kept() -> None:
    assert sessions_are_safe(Settings(base_url="https://iam.network.example/iam"))
    assert sessions_are_safe(Settings(base_url="http://localhost:8080/iam"))
    assert not sessions_are_safe(Settings(base_url="http://iam.network.example/iam"))
