"""Commands on machines as they are: other encodings, pipes that end, no home, folders of others."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.depth import with_every_change
from tests.support.registry.registry_payloads import fip
from tests.support.until import PATIENCE_S

from mudra.bootstrap.config import ConfigError, load_settings
from mudra.cli.client.tokens_file import SignedIn, TokensFileError, remember

MUDRA = [sys.executable, "-c", "from mudra.bootstrap.entry_point import run; run()"]
HINDI = "कावेरी बैंक 🏦"


def mudra(
    *words: str | Path, stdin: bytes = b"", stdout: object = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a program of its own, with this environment alone."""
    return subprocess.run(
        [*MUDRA, *map(str, words)],
        input=stdin,
        stdout=stdout,  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], **environment},
        check=False,
        timeout=PATIENCE_S,
    )


def sentence(done: subprocess.CompletedProcess[bytes], code: int) -> str:
    """Return what a failed command says: one line of its own, never a traceback."""
    text = done.stderr.decode()
    assert done.returncode == code, text
    assert text.startswith("mudra: ")
    assert "Traceback" not in text
    assert len(text.splitlines()) == 1
    return text


@pytest.fixture
def payload(tmp_path: Path) -> Path:
    """A file of the registry with a finding that repeats a name in Hindi."""
    file = tmp_path / "entry.json"
    file.write_text(json.dumps(fip(fitypes=[HINDI])))
    return file


@pytest.mark.parametrize("encoding", with_every_change(["ascii"], ["ascii", "utf-16"]))
def test_any_encoding_of_a_terminal_shows_what_it_can(payload: Path, encoding: str) -> None:
    done = mudra("registry", "lint", payload, "--json", PYTHONIOENCODING=encoding, LC_ALL="C")

    assert done.stderr == b""
    found = json.loads(done.stdout.decode(encoding))
    assert HINDI in found["findings"][0]["problem"]


def test_a_file_gets_utf_8_whatever_the_locale(payload: Path) -> None:
    done = mudra("registry", "lint", payload, LC_ALL="en_US.ISO-8859-1", PYTHONUTF8="0")

    assert HINDI in done.stdout.decode().replace("\n", "")


def test_an_output_that_is_full_or_closed_is_a_sentence(payload: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = mudra("registry", "lint", payload, "--json", stdout=full)
        text = mudra("--help", stdout=full)
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *MUDRA, "registry", "lint", str(payload)],
        stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"]},
        check=False,
    )

    assert "the output cannot be written: No space left on device" in sentence(done, 1)
    assert "No space left on device" in sentence(text, 1)
    assert closed.stderr == b""


def test_a_reader_that_ends_is_not_the_fault_of_the_log(tmp_path: Path) -> None:
    config, log = tmp_path / "agent.toml", tmp_path / "fips.json"
    config.write_text(
        f'aa_id = "AA-1"\ndirectory = "{tmp_path}/spool"\n'
        '[operator]\ntoken_url = "https://o.example/iam"\npush_url = "https://o.example/push"\n'
        '[credentials]\nid.value = "AA-1"\nsecret.file = "secret"\n'
        '[fips]\n"fip-one.example" = "FIP-ONE"\n'
    )
    line = {
        "time": "2026-11-26T10:20:00Z", "method": "POST", "uri": "/Accounts/discover",
        "host": "fip-one.example", "status": 200, "request_time": "1.004", "bytes": 157,
        "upstream_status": "200", "upstream_header_time": "0.5",
    }  # fmt: skip
    times = (f"2026-11-26T{hour:02}:{minute}0:00Z" for hour in range(24) for minute in range(6))
    log.write_text("".join(json.dumps(line | {"time": time}) + "\n" for time in times))
    command = [*MUDRA, "agent", "replay", str(log), "--config", str(config), "--format", "nginx"]

    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert "fips.json" not in sentence(done, 1)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None
        said = running.stderr.read()

    assert said == b""


@pytest.mark.parametrize(
    "words",
    [["secret", "read", "FINSIGHT-FIU"], ["logout"]],
)
def test_an_account_without_a_home_directory_gets_the_way_out(words: list[str]) -> None:
    if os.getuid() or not all(
        folder.stat().st_mode & 1 for folder in Path(__file__).resolve().parents
    ):
        pytest.skip("only root can be another account, which must be able to read the clone")
    alone = ["setpriv", "--reuid=54321", "--regid=0", "--clear-groups"]
    done = subprocess.run(
        [*alone, *MUDRA, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        # What `~` is when no home is known, as for the UID of a container.
        env={"PATH": os.environ["PATH"], "HOME": "~"},
        check=False,
    )

    assert "set MUDRA_CONFIG_DIR to a folder" in sentence(done, 3)


@pytest.mark.slow
def test_a_byte_order_mark_is_no_part_of_what_is_read(tmp_path: Path) -> None:
    entry, utf_16 = tmp_path / "entry.json", tmp_path / "utf-16.json"
    entry.write_bytes(json.dumps(fip()).encode("utf-8-sig"))
    utf_16.write_bytes(json.dumps(fip()).encode("utf-16"))
    config = tmp_path / "agent.toml"
    config.write_bytes(b"\xef\xbb\xbfaa_id = 1\n")

    assert mudra("registry", "lint", entry).returncode == 0
    assert "it is UTF-16: save it as UTF-8" in sentence(mudra("registry", "lint", utf_16), 2)
    assert b"is not TOML" not in mudra("agent", "check", "--config", config).stderr


def test_a_folder_that_is_not_ours_is_named_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MUDRA_CONFIG_DIR", "/proc/mudra")
    entry = SignedIn(base_url="https://o.example", email="a@o.example", token="x", expires_at=1)

    with pytest.raises(TokensFileError, match=r"/proc/mudra/tokens\.json cannot be written .* set"):
        remember(entry)


URL = "MUDRA_DATABASE_URL"
UNENCODED = [
    "postgresql://u:p@ss/w0rd@127.0.0.1:1/db",
    "postgresql://u:w0rd@x@127.0.0.1:1/db",
    "postgresql://u:p?w0rd@127.0.0.1:1/db",
    "postgresql://u:p#w0rd@127.0.0.1:1/db",
    "postgresql://u:w0rd%@127.0.0.1:1/db",
    "postgresql://u:w0rd]@127.0.0.1:1/db",
    "postgresql://u:p w0rd@127.0.0.1:1/db",
    "u:w0rd@127.0.0.1:1/db",
]


@pytest.mark.parametrize("name", [URL, "MUDRA_DATABASE_REPLICA_URL", "MUDRA_SMTP_URL"])
@pytest.mark.parametrize("url", UNENCODED)
def test_a_password_that_is_not_encoded_is_refused(name: str, url: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        load_settings({name: url})

    assert str(wrong.value).startswith(f"{name} must be ")
    assert "@ / ? # % of user and password as %40 %2F %3F %23 %25" in str(wrong.value)
    assert "w0rd" not in str(wrong.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p%40ss%2Fw0rd:!$&'()*+,;=-._~^|ü@127.0.0.1:5432,[::1]:5433/db?sslmode=require",
        "postgresql:///db?host=/run/postgresql",
        "postgres://u@/db",
        "postgresql+psycopg://127.0.0.1/db",
    ],
)
def test_a_url_with_one_reading_is_taken(url: str) -> None:
    found = load_settings({URL: url}).database_url

    assert found is not None
    assert found.reveal() == url


def test_a_command_prints_no_piece_of_a_password(tmp_path: Path) -> None:
    done = mudra("doctor", MUDRA_DATABASE_URL=UNENCODED[0], MUDRA_DATA_DIR=str(tmp_path))

    assert done.returncode
    shown = (done.stdout + done.stderr).decode()
    assert f"{URL} must be postgresql://user:password@host/database" in shown
    assert not any(piece in shown for piece in ("w0rd", "ss/", "'ss'"))


@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="@\x00"), min_size=5))
def test_no_password_is_taken_for_a_host(password: str) -> None:
    url = f"postgresql://u:{password}@127.0.0.1:1/db"
    try:
        load_settings({URL: url})
    except ConfigError:
        return

    assert urlsplit(url).hostname == "127.0.0.1"
