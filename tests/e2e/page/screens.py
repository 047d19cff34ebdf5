"""Screens of the page that axe-core and the layout tests visit."""

PAGES = (
    "/",
    "/search",
    "/search?query=local+day&project=*",
    "/context",
    "/projects",
    "/team",
    "/quarantine",
    "/health",
    "/guards",
    "/lessons",
    "/guards/1st",
    "/evaluation",
    "/experiment",
    "/memories/1st",
    "/memories/1st?all=1",
    "/sessions/1st",
    "/sessions/later",
    "/turns/1st",
)
TEAM_PAGES = ("/team", "/team/preview")
"""Screens that need a team."""
