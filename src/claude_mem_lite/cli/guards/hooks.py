"""The hook of a project's guards after a change: in the settings of the project's folders while a guard is in force,
and out of them otherwise."""

from pathlib import Path

from claude_mem_lite.install.guard_hooks import put_in, take_out
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.guards import GuardChange, GuardHooks

_CHANGES_HOOKS = ("active", "paused", "removed")


def follow(home: Home, hooks: GuardHooks) -> list[str]:
    """Put the hook into each folder of a project, or take it out; return the folders."""
    for folder in hooks.folders:
        if hooks.tools:
            put_in(home, Path(folder), hooks.tools, hooks.project)
        else:
            take_out(home, Path(folder))
    return list(hooks.folders)


def since_when(home: Home, changed: GuardChange) -> str:
    """Let the hook follow a change; return from when on the change holds, '' if no hook is concerned."""
    if changed.guard.status not in _CHANGES_HOOKS:
        return ""
    folders = follow(home, changed.hooks)
    if changed.guard.status != "active":
        return "" if changed.hooks.tools else "No guard is in force here any more; the hook is out of the settings."
    if not folders:
        return "It holds once the project has a folder on this machine."
    return "It holds from the next session of your agent on; a running session may not know the hook yet."
