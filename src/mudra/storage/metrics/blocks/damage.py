"""A block that is not as it was written: which one, so that it can be made again."""

from datetime import datetime
from typing import NamedTuple


class BlockPlace(NamedTuple):
    """Where a block is: the key of its row."""

    aa_id: str
    grain: str
    bucket: int
    at: datetime
    tag: str

    def facts(self) -> dict[str, str | int]:
        """Returns the key as it is logged."""
        return {
            "aa_id": self.aa_id or "all",
            "grain": self.grain,
            "bucket": self.bucket,
            "at": self.at.isoformat(),
            "tag": self.tag,
        }


class BlockDamaged(Exception):
    """A stored block cannot be read; its place says which one."""

    def __init__(self, place: BlockPlace) -> None:
        super().__init__(
            f"the {place.grain} block of {place.aa_id or 'all AAs'} at {place.at.isoformat()}, "
            f"bucket {place.bucket}, tag {place.tag}, is damaged"
        )
        self.place = place
