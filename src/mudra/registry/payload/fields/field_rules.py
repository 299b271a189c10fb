"""The lengths and alphabets of an entry's texts, and how many items its lists hold.

The specification names none; these are generous against every entry seen, and
bound what one payload can cost.
"""

import re
from typing import Final

from mudra.localization.language import translatable
from mudra.registry.payload.inspection import TextRule

NAME: Final = TextRule(translatable("a name of 1 to 200 characters"), 200)
TAGS: Final = TextRule(translatable("a text of up to 64 characters, such as Sandbox"), 64)
CODE: Final = TextRule(translatable("the regulator's ID, 1 to 64 characters"), 64)
ENTITY_ID: Final = TextRule(
    translatable("1 to 64 letters, digits and the characters @ . _ -"),
    64,
    re.compile(r"[A-Za-z0-9@._-]{1,64}"),
    lambda value: re.sub(r"[^A-Za-z0-9@._-]+", "-", value).strip("-"),
)
HANDLE: Final = TextRule(
    translatable("@ followed by 1 to 63 letters, digits and the characters . _ -"),
    64,
    re.compile(r"@[A-Za-z0-9][A-Za-z0-9._-]{0,62}"),
    lambda value: "@" + value.lstrip("@").replace(" ", ""),
)

MAX_IDENTIFIERS: Final = 64
MAX_FI_TYPES: Final = 64
MAX_PORTS: Final = 64
MAX_IPS: Final = 100
