"""All routes of the API, in the order in which they are tried."""

from starlette.routing import Router

from claude_mem_lite.worker import (
    amending_api,
    api,
    asked_api,
    backups_api,
    claude_mem,
    code_api,
    context_api,
    days_api,
    exchange,
    feed_api,
    importing,
    lessons_api,
    memory_rebuild_api,
    projects_api,
    quarantine_api,
    reading,
    rebuilding,
    receipts_api,
    settings_api,
    staleness,
    stats_api,
)

_MODULES = (
    api,
    amending_api,
    quarantine_api,
    lessons_api,
    reading,
    staleness,
    receipts_api,
    stats_api,
    days_api,
    feed_api,
    projects_api,
    context_api,
    asked_api,
    code_api,
    importing,
    memory_rebuild_api,
    rebuilding,
    settings_api,
    exchange,
    backups_api,
    claude_mem,
)


def make_router() -> Router:
    return Router([route for module in _MODULES for route in module.router.routes])
