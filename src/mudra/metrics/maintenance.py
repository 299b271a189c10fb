"""The services that the scheduled jobs of metrics use in one transaction."""

from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from mudra.metrics.detection.detection_service import DetectionService
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.incidents.incident_service import IncidentService
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.metrics.ports import MetricsTables, Silences
from mudra.metrics.rollup.rollup_service import RollupService
from mudra.storage.database.transaction import Opens


class MaintenanceWork(Struct, frozen=True):
    """The services of one open transaction; `now` is its time."""

    now: datetime
    detection: DetectionService
    rollups: RollupService
    tables: MetricsTables
    messages: Webhooks
    health: HealthService
    incidents: IncidentService
    silences: Silences


OpenMaintenance: TypeAlias = Opens[MaintenanceWork]
