"""The page of projects: all that hold something, where they are, and the last changes to them, which can be undone."""

from claude_mem_lite.models import text
from claude_mem_lite.ui.templating import Asked, render

_MAX_CHANGES = 10


def projects(asked: Asked) -> str:
    """Return the page, or only its list."""
    changes = [one for one in asked.client.project_changes() if not text(one.get("undone_at"))]
    values = {"projects": asked.client.projects(), "changes": changes[:_MAX_CHANGES]}
    return render("projects_list.html" if asked.chosen("only") == "list" else "projects.html", **values)
