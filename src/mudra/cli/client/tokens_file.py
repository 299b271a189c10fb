"""Where member commands keep their tokens: one file of mode 0600 under the user's configuration."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import msgspec
import platformdirs

from mudra.shared.secret_text import SecretText


class SignedIn(msgspec.Struct, frozen=True, kw_only=True):
    """One sign-in that is kept."""

    base_url: str
    email: str
    token: str
    expires_at: int
    """Seconds since the epoch."""

    def __repr__(self) -> str:
        return f"SignedIn(base_url={self.base_url!r}, email={self.email!r})"

    @property
    def secret_token(self) -> SecretText:
        """The token as a secret."""
        return SecretText(self.token)


class TokensFileError(Exception):
    """The file cannot be read; the text says why and what to do."""


def tokens_path() -> Path:
    """The file: MUDRA_CONFIG_DIR/tokens.json, else under the user's configuration directory."""
    set_by_user = os.environ.get("MUDRA_CONFIG_DIR")
    folder = Path(set_by_user) if set_by_user else Path(platformdirs.user_config_dir("mudra"))
    return folder / "tokens.json"


def remember(entry: SignedIn) -> Path:
    """Keep a sign-in as the current one, in place of a previous one of the same base and user."""
    path = tokens_path()
    others = [e for e in _load(path) if (e.base_url, e.email) != (entry.base_url, entry.email)]
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".tokens-")  # made with mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode([entry, *others]))
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
    return path


def current(base_url: str | None, email: str | None = None) -> SignedIn | None:
    """The latest sign-in, of one base address or user when they are named."""
    for entry in _load(tokens_path()):
        if base_url in (None, entry.base_url) and email in (None, entry.email):
            return entry
    return None


def _load(path: Path) -> list[SignedIn]:
    try:
        mode = path.stat().st_mode
        if mode & 0o077:
            raise TokensFileError(
                f"{path} can be read by others (mode {mode & 0o777:o}): run chmod 600 on it, "
                "and sign in again if it may have been read"
            )
        return msgspec.json.decode(path.read_bytes(), type=list[SignedIn])
    except FileNotFoundError:
        return []
    except OSError as error:
        raise TokensFileError(
            f"{path} cannot be read ({error.strerror}): let it be yours, or set MUDRA_CONFIG_DIR"
        ) from None
    except msgspec.MsgspecError as error:
        raise TokensFileError(f"{path} is damaged ({error}); delete it and sign in again") from None
