"""All routes of the API, in the order in which they are tried."""

from starlette.routing import Router

from claude_mem_lite.worker.api import (
    admin,
    agent,
    analytics,
    backups_api,
    code,
    context,
    days_api,
    feed,
    import_claude_mem,
    import_turns,
    lessons,
    memories,
    memory_rebuild,
    projects,
    quarantine_api,
    rebuilding,
    receipts_api,
    records,
    staleness,
    status,
    transfer,
)

_MODULES = (
    status,
    memories,
    quarantine_api,
    lessons,
    records,
    staleness,
    receipts_api,
    analytics,
    days_api,
    feed,
    projects,
    context,
    agent,
    code,
    import_turns,
    memory_rebuild,
    rebuilding,
    admin,
    transfer,
    backups_api,
    import_claude_mem,
)


def make_router() -> Router:
    return Router([route for module in _MODULES for route in module.router.routes])
