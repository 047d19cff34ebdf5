"""Projects and changes to them."""

from collections.abc import Mapping
from dataclasses import field

from claude_mem_lite.responses.encoding import Response, response

_SENTENCES = {
    "merge": "{} was merged into {}",
    "join": "{} was recognised as {} and merged into it",
    "rename": "{} was renamed to {}",
    "move": "{} was moved to {}",
    "split": "{1} was split from {0}",
}


@response
class ListedProject(Response):
    """Project with sessions or memories."""

    id: str = ""
    name: str = ""
    root: str = ""
    """Last working folder; '' for a project that only memories mention."""
    sessions: int = 0
    memories: int = 0
    """Number of active memories."""
    folders: tuple[str, ...] = ()
    """Folders of the project, the last seen first, including folders that are gone."""
    remotes: tuple[str, ...] = ()
    last_seen_at: str = ""


@response
class ProjectList(Response):
    """Projects, ordered by last work."""

    projects: tuple[ListedProject, ...]


@response
class ProjectNames(Response):
    """Name of every project by id."""

    names: Mapping[str, str] = field(default_factory=dict)


@response
class ProjectChange(Response):
    """Change to projects, with the means to undo the change."""

    id: str = ""
    kind: str = ""
    source: str = ""
    """Former project, folder or name."""
    target: str = ""
    """New project, folder or name."""
    source_name: str = ""
    """Name of the source for people: the id of a project may be a folder that is gone."""
    target_name: str = ""
    at: str = ""
    undone_at: str | None = None

    def sentence(self) -> str:
        """Return a description of the change, without a full stop."""
        return _SENTENCES.get(self.kind, "{} became {}").format(self.source_name, self.target_name)


@response
class ProjectRename(ProjectChange):
    """Change of a project's name."""

    is_shared: bool = False
    """True if another project has the same name."""


@response
class ProjectSplit(ProjectChange):
    """Split of a folder from its project."""

    name: str = ""
    """Name of the new project."""
    is_shared: bool = False
    """True if another project has the same name."""


@response
class ProjectChanges(Response):
    """Changes to projects, newest first, including undone ones."""

    changes: tuple[ProjectChange, ...]
