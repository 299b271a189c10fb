"""The file of member commands' tokens: one file of mode 0600 under the user's configuration."""

import os
import re
from pathlib import Path
from typing import Final

import msgspec
import platformdirs

from mudra.cli.client.private_file import write_private
from mudra.shared.secret_text import SecretText

PROFILE: Final = "MUDRA_PROFILE"
"""Names whose sign-ins a command uses: those of one network or role are kept apart from others."""
_PROFILE_NAME: Final = re.compile(r"[A-Za-z0-9_-]{0,32}")


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
    """The file: MUDRA_CONFIG_DIR/tokens.json, else under the user's configuration directory.

    A profile has a file of its own, tokens-PROFILE.json; raises TokensFileError for a bad name.
    """
    folder = _folder()
    profile = os.environ.get(PROFILE, "")
    if not _PROFILE_NAME.fullmatch(profile):
        raise TokensFileError(
            f"a profile's name has up to 32 letters, digits, - and _, unlike {profile!r}"
        )
    return folder / (f"tokens-{profile}.json" if profile else "tokens.json")


def _folder() -> Path:
    set_by_user = os.environ.get("MUDRA_CONFIG_DIR")
    if set_by_user:
        return Path(set_by_user)
    try:
        # Expanded by the library itself, which fails for an account without a home directory.
        return Path(platformdirs.user_config_dir("mudra")).expanduser()
    except RuntimeError:
        raise TokensFileError(
            f"this account (UID {os.getuid()}) has no home directory for sign-ins: set "
            "MUDRA_CONFIG_DIR to a folder that only it can read"
        ) from None


def remember(entry: SignedIn) -> Path:
    """Keep a sign-in as the current one, in place of a previous one of the same base and user.

    Raises TokensFileError.
    """
    return _write([entry, *_others(entry)])


def forget(entry: SignedIn) -> Path:
    """Delete a sign-in. Raises TokensFileError."""
    return _write(_others(entry))


def _others(entry: SignedIn) -> list[SignedIn]:
    kept = _load(tokens_path())
    return [e for e in kept if (e.base_url, e.email) != (entry.base_url, entry.email)]


def _write(entries: list[SignedIn]) -> Path:
    path = tokens_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(path, msgspec.json.encode(entries))
    except OSError as error:
        raise TokensFileError(
            f"{path} cannot be written ({error.strerror}): set MUDRA_CONFIG_DIR to a folder that "
            "is yours"
        ) from None
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
