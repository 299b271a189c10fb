"""Where an issuer's keys are, and which responses are accepted as keys."""

import msgspec

from mudra.client.address import checked_url
from mudra.client.verification.key_cache import MAX_BYTES


class KeyFetchError(Exception):
    """The response is not a key set; the text says why, for the log."""


class KeyLocation(msgspec.Struct, frozen=True):
    """An issuer and the address of its keys, empty when its metadata gives it."""

    issuer: str
    keys_url: str
    allow_http: bool

    @property
    def metadata_url(self) -> str:
        """Return the address of the issuer's metadata, for an empty `keys_url`."""
        return f"{self.issuer}/.well-known/openid-configuration"

    def keys_url_from(self, metadata: bytes) -> str:
        """Return the address of the keys; KeyFetchError when it must not be trusted."""
        try:
            read = msgspec.json.decode(metadata, type=_Metadata)
            address = checked_url(read.jwks_uri, allow_http=self.allow_http)
        except (msgspec.DecodeError, ValueError) as error:
            raise KeyFetchError(f"{self.metadata_url} is not metadata: {error}") from error
        if read.issuer != self.issuer:
            raise KeyFetchError(f"{self.metadata_url} is the metadata of another issuer")
        return address


class _Metadata(msgspec.Struct):
    issuer: str
    jwks_uri: str


def locate(issuer: str, keys_url: str, *, ask_metadata: bool, allow_http: bool) -> KeyLocation:
    """Return the location of an issuer's keys; ValueError for an address that is not safe."""
    checked_url(issuer, allow_http=allow_http)
    if ask_metadata:
        return KeyLocation(issuer, "", allow_http)
    if not keys_url:
        # Clients of the network build this address from `iss`.
        keys_url = f"{issuer.rstrip('/')}/protocol/openid-connect/certs"
    return KeyLocation(issuer, checked_url(keys_url, allow_http=allow_http), allow_http)


def check_status(url: str, status: int) -> None:
    """Raise KeyFetchError unless the response is a 200; redirects are not followed."""
    if status != 200:  # noqa: PLR2004 -- the status OK
        raise KeyFetchError(f"{url} answered {status}")


def check_size(url: str, size: int) -> None:
    """Raise KeyFetchError once a response is larger than any key set."""
    if size > MAX_BYTES:
        raise KeyFetchError(f"{url} answered more than {MAX_BYTES} bytes")
