"""The texts of findings that name a value, once for the API and for pages in other languages.

The API returns them in English. A page recognizes a text by its form here, and writes the
translation of that form with the same values.
"""

from typing import Final

from mudra.localization.language import translatable

MORE_UNKNOWN: Final = translatable("has %(count)s more unknown fields")
NO_OBJECT: Final = translatable("must be an object, not %(value)s")
NO_STRING: Final = translatable("must be a string, not %(value)s")
NO_ARRAY: Final = translatable("must be an array, not %(value)s")
NOT_ALLOWED: Final = translatable("must not be %(value)s")
ITEMS: Final = translatable("has %(count)s items")
MAX_ITEMS: Final = translatable("at most %(count)s items")
CHARACTERS: Final = translatable("has %(count)s characters")
MAX_CHARACTERS: Final = translatable("at most %(count)s characters")
CHARACTER: Final = translatable("holds the character %(code)s")
WITH_FIELDS: Final = translatable("an object with the fields %(names)s")

OTHER_ADDRESS: Final = translatable("is %(value)s, but the address says %(address)s")
OTHER_TYPE: Final = translatable("must be empty for type %(type)s: it is for type %(owner)s only")
READ_AS: Final = translatable("was %(value)s and was read as %(word)s")
CANONICAL: Final = translatable("was read as %(value)s")

PARTS: Final = translatable("has %(count)s parts")
MAX_VERSIONS: Final = translatable("at most %(count)s versions")
VERSION_TWICE: Final = translatable("names the version v%(version)s more than once")
NO_VERSION: Final = translatable("holds %(part)s, which does not begin with a version")
SCHEME: Final = translatable("has the scheme %(scheme)s")
BEGINNING: Final = translatable("does not begin with %(start)s")
PORT: Final = translatable("has the port %(value)s")
HOST: Final = translatable("has the host %(value)s")
LOCAL_HOST: Final = translatable("has the local host %(value)s")
NO_MACHINE: Final = translatable("is the address %(address)s, which no machine has")
PRIVATE: Final = translatable("is the address %(address)s, which is private or reserved")
TOO_WIDE: Final = translatable("is the network %(network)s, which is too wide")
LONGER_PREFIX: Final = translatable("a prefix of /%(bits)s or longer")

WITHDRAWS: Final = translatable(
    "withdraws version %(version)s, which was approved to go live at %(at)s"
)
WITH_NEW_TXNID: Final = translatable("to submit that version again with a new txnid")

TOO_SMALL: Final = translatable("is the number %(value)s, which is too small")
ODD_NUMBER: Final = translatable("an odd number from %(least)s to %(most)s")
BITS: Final = translatable("has %(count)s bits")
MODULUS: Final = translatable("a modulus of %(least)s to %(most)s bits")

FORMS: Final = tuple(
    text for name, text in sorted(globals().items()) if name.isupper() and isinstance(text, str)
)
"""All of them."""
