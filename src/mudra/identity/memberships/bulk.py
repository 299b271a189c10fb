"""The acts on many members at once."""

import enum


class BulkAct(enum.StrEnum):
    """What is done to each of the members."""

    INVITE = "invite"
    """Send a new link to each admin who has not activated the account."""
    SUSPEND = "suspend"
    EXPORT = "export"
