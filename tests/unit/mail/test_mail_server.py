from pathlib import Path

import pytest

from mudra.mail.mail_server import MailServer, MailUrlError, mail_server
from mudra.shared.secret_text import SecretText


def read(url: str, sender: str = "mudra@network.example") -> MailServer:
    return mail_server(SecretText(url), sender, "Demo Network")


@pytest.mark.parametrize(
    ("url", "host", "port", "implicit", "start_tls"),
    [
        ("smtp://mail.example", "mail.example", 587, False, True),
        ("smtp://mail.example:25/", "mail.example", 25, False, True),
        ("smtps://mail.example", "mail.example", 465, True, False),
        ("smtp://localhost:25", "localhost", 25, False, False),
        ("smtp://127.0.0.1", "127.0.0.1", 587, False, False),
        ("smtp://[::1]:25", "::1", 25, False, False),
        ("smtp://127.0.0.1?starttls=always", "127.0.0.1", 587, False, True),
        ("smtp://relay.internal:25?starttls=never", "relay.internal", 25, False, False),
    ],
)
def test_the_url_says_how_to_connect(
    url: str, host: str, port: int, implicit: bool, start_tls: bool
):
    server = read(url)

    assert (server.host, server.port) == (host, port)
    assert (server.implicit_tls, server.start_tls) == (implicit, start_tls)


def test_user_and_password_are_decoded_and_never_shown():
    server = read("smtp://us%40er:p%40ss%3Aword%2F1@mail.example")

    assert server.user == "us@er"
    assert server.password is not None
    assert server.password.reveal() == "p@ss:word/1"
    assert "p@ss" not in repr(server)
    assert "word/1" not in repr(server)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "must be smtp://"),
        ("mail.example", "must be smtp://"),
        ("http://u:topsecret@mail.example", "must be smtp://"),
        ("smtp://", "must be smtp://"),
        ("smtp://u:topsecret@mail.example:99999", "must be smtp://"),
        ("smtp://u:topsecret@mail.example:x", "must be smtp://"),
        ("smtp://u:topsecret@[mail.example", "must be smtp://"),
        ("smtp://u:topsecret/1@mail.example", "must be smtp://"),
        ("smtp://u:topsecret@mail.example#x", "%23"),
        ("smtp://u:topsecret@mail.example?tls=1", "starttls=always|never and ca=FILE"),
        ("smtp://u:topsecret@mail.example?starttls=maybe", "always or never"),
        ("smtp://u:topsecret@mail.example?starttls=never", "unencrypted"),
        ("smtps://u:topsecret@mail.example?ca=/nowhere.pem", "/nowhere.pem: No such file"),
    ],
)
def test_a_wrong_url_is_refused_with_what_is_allowed_and_without_its_password(
    url: str, problem: str
):
    with pytest.raises(MailUrlError) as refused:
        read(url)

    assert problem in str(refused.value)
    assert "topsecret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_file_that_holds_no_certificate_is_refused(tmp_path: Path):
    (tmp_path / "own.pem").write_text("nothing")

    with pytest.raises(MailUrlError, match="PEM"):
        read(f"smtps://mail.example?ca={tmp_path}/own.pem")


@pytest.mark.parametrize("sender", ["", "mudra", "Mudra <m@x.example>", "m@x.example\nBcc: e@v.e"])
def test_a_sender_that_is_no_plain_address_is_refused(sender: str):
    with pytest.raises(MailUrlError, match="MUDRA_MAIL_FROM"):
        read("smtp://mail.example", sender)
