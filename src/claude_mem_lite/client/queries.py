"""Parameters of requests to the worker."""

from collections.abc import Sequence

from claude_mem_lite.models import JsonObject
from claude_mem_lite.values import frozen


@frozen
class Where:
    """Selection of memories by folder or project, or of all projects."""

    cwd: str
    all_projects: bool = False
    project: str = ""
    """Id or name of a project, in place of the folder."""

    def as_query(self) -> list[tuple[str, str]]:
        named = [("project", self.project)] if self.project else []
        return [("cwd", self.cwd), ("all_projects", "true" if self.all_projects else "false"), *named]


@frozen
class Wanted:
    """Conditions for memories of a list or a search; None and empty values are no conditions."""

    kinds: Sequence[str] = ()
    scope: str | None = None
    file: str | None = None
    branch: str | None = None
    since: str | None = None
    until: str | None = None
    statuses: Sequence[str] = ()
    """Only active memories if empty."""
    origins: Sequence[str] = ()

    def as_query(self) -> list[tuple[str, str]]:
        single = {name: getattr(self, name) for name in ("scope", "file", "branch", "since", "until")}
        return [
            *(("kind", kind) for kind in self.kinds),
            *((name, value) for name, value in single.items() if value is not None),
            *(("status", status) for status in self.statuses),
            *(("origin", origin) for origin in self.origins),
        ]


@frozen
class Asker:
    """Agent with its folder, and its session if known."""

    cwd: str
    session: str = ""
    named: str = ""
    """Session that the client of the agent names; another session may be at work."""

    def as_body(self) -> JsonObject:
        return {"cwd": self.cwd, "session": self.session}


ANYTHING = Wanted()


NOTHING_CERTAIN = "Nothing certain; nearest"
"""Heading of hits without a certain one."""
