"""All routes of the API, in the order in which they are tried."""

from claude_mem_lite.worker.api import (
    admin,
    agent,
    analytics,
    code,
    context,
    experiment,
    feed,
    guards,
    import_claude_mem,
    import_turns,
    lessons,
    memories,
    memory_rebuild,
    projects,
    records,
    staleness,
    status,
    team,
    transfer,
)
from claude_mem_lite.worker.api.routing import Router

_MODULES = (
    status,
    memories,
    lessons,
    guards,
    records,
    staleness,
    analytics,
    experiment,
    feed,
    projects,
    team,
    context,
    agent,
    code,
    import_turns,
    memory_rebuild,
    admin,
    transfer,
    import_claude_mem,
)


def make_router() -> Router:
    return Router(routes=[route for module in _MODULES for route in module.router.routes])
