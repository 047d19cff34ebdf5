"""The page of projects: their folders, and the last changes, which can be undone."""

from claude_mem_lite.ui.templating import Asked, render

_MAX_CHANGES = 10


def projects(asked: Asked) -> str:
    """Return the page, or only its list."""
    changes = [change for change in asked.client.project_changes() if not change.undone_at]
    values = {"projects": asked.client.projects(), "changes": changes[:_MAX_CHANGES]}
    return render("projects_list.html" if asked.chosen("only") == "list" else "projects.html", **values)
