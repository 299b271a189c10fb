"""A valid payload without its blocks: what is decided and looked up by, and what is stored."""

from datetime import datetime

from msgspec import Struct

from mudra.metrics.payload.catalogue import Tag
from mudra.shared.finding import Finding


class ReportFacts(Struct, frozen=True):
    """The facts that the decision about a valid payload needs; `notes` report what is unusual."""

    aa_id: str
    txn_id: str
    tag: Tag
    window: datetime
    """Start of the ten minutes, UTC."""
    content_hash: bytes
    """SHA-256 of the content, independent of txnId, order and spacing."""
    fip_ids: tuple[str, ...]
    notes: tuple[Finding, ...] = ()


class StorableReport(ReportFacts, frozen=True, kw_only=True):
    """A valid payload in the form that is stored.

    Flat, since it comes from another process: to build tens of thousands of blocks again
    would hold up every other request.
    """

    buckets: bytes
    """The report as the store encodes it; only the store reads it."""
    blocks: int
    """The number of blocks: one for each FIP and type."""
    calls: int
    """The calls of all blocks."""
    longest_ms: int
    """The longest response time; 0 without any."""
    agent_version: str
    """The version of the agent that made it, as it says itself."""
