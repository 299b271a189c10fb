"""Routes of an application that has ended, for the next one of this process.

To build them takes 0.15 s of CPU, and a run of tests has a hundred applications in its processes.
Nothing of an application is in its routes but what it gave them (decision 0012).
"""

from collections import defaultdict

from mudra.bootstrap import routes
from mudra.bootstrap.routes import ServiceRoutes, build_ahead
from mudra.http.route_settings import RouteSettings
from mudra.settings.settings import Settings

_unused: dict[RouteSettings, list[ServiceRoutes]] = defaultdict(list)


def lay_out(settings: Settings) -> ServiceRoutes:
    """Have the next application with these settings take the routes that are returned."""
    known = RouteSettings.of(settings)
    if _unused[known]:
        routes._ahead[known] = _unused[known].pop()
    build_ahead(settings)
    return routes._ahead[known]


def give_back(settings: Settings, taken: ServiceRoutes) -> None:
    """Keep the routes of an application that serves no more."""
    taken.routes.take_back()
    taken.status.take_back()
    _unused[RouteSettings.of(settings)].append(taken)
