"""Secrets in files: a variable and its _FILE twin are one setting, and errors show no content."""

from pathlib import Path

import pytest

from mudra.bootstrap.config import REFERENCE, ConfigError, load_settings, unknown_names
from mudra.shared.secret_text import SecretFileFault, secret_variable
from mudra.storage.crypto.master_key import MasterKeyError, load_master_keys

URL = "smtp://tokens:word@mail.example:587"


def test_every_secret_setting_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("postgresql://a:b@c/d\n")
    named = {one.env: one for one in REFERENCE.values() if one.secret}
    for name in set(named) - {"MUDRA_AUDIT_EXPORT_SECRET"}:
        field = next(key for key, one in REFERENCE.items() if one.env == name)
        loaded = load_settings({f"{name}_FILE": str(file)})
        assert getattr(loaded, field).reveal() == "postgresql://a:b@c/d", name
    assert len(named) >= 7
    assert unknown_names({f"{name}_FILE": "x" for name in [*named, "MUDRA_MASTER_KEY"]}) == []
    assert unknown_names({"MUDRA_WORKERS_FILE": "2"}) != []


def test_the_line_end_of_the_file_is_no_part_of_the_secret(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b" word \r\n")

    assert secret_variable({"A_FILE": str(tmp_path / "one")}, "A") == " word "
    assert secret_variable({"A": "word"}, "A") == "word"
    assert secret_variable({"A": "", "A_FILE": ""}, "A") == ""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"\xff\xfe", "must be UTF-8"),
        (b"s" * 70_000, "more than 65536 bytes"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_without_its_content(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ConfigError, match=said) as caught:
        load_settings({"MUDRA_SMTP_URL_FILE": str(file)})

    assert str(caught.value).startswith(f"MUDRA_SMTP_URL_FILE: {file} ")
    assert "sss" not in str(caught.value)


def test_a_wrong_value_in_a_file_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("no-url-but-a-password")

    with pytest.raises(ConfigError, match="MUDRA_SMTP_URL must be smtp") as caught:
        load_settings({"MUDRA_SMTP_URL_FILE": str(tmp_path / "secret")})

    assert "no-url" not in str(caught.value)


def test_both_are_refused(tmp_path: Path) -> None:
    both = {"MUDRA_SMTP_URL": URL, "MUDRA_SMTP_URL_FILE": str(tmp_path)}

    with pytest.raises(ConfigError, match="MUDRA_SMTP_URL and MUDRA_SMTP_URL_FILE are both set"):
        load_settings(both)


def test_the_master_key_may_be_in_a_file_of_any_place(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("1:" + "A" * 43 + "=\n")
    of_file = {"MUDRA_MASTER_KEY_FILE": str(file)}

    found = load_master_keys(of_file, tmp_path, create=True, database_is_sealed=True)

    assert found.keys[1].reveal() == bytes(32)
    file.unlink()
    with pytest.raises(MasterKeyError, match=r"MUDRA_MASTER_KEY_FILE: .* cannot be read"):
        load_master_keys(of_file, tmp_path, create=True, database_is_sealed=False)
    assert [one.name for one in tmp_path.iterdir()] == []


def test_a_file_without_an_end_is_bounded() -> None:
    with pytest.raises(SecretFileFault, match="more than"):
        secret_variable({"A_FILE": "/dev/zero"}, "A")
