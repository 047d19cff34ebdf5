"""The hook of a project's guards after a change of the user, for the command line and the page: in the settings of the
project's folders while a guard is in force, and out of them otherwise."""

from pathlib import Path

from claude_mem_lite.install.guard_hooks import Placement, hold, required
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.guards import GuardChange, GuardHooks

_CHANGES_HOOKS = ("active", "paused", "removed")


def follow(home: Home, changed: GuardChange) -> list[str]:
    """Let the hook follow a change; return sentences from when on the change holds, and what went wrong."""
    if changed.guard.status not in _CHANGES_HOOKS:
        return []
    placed = _place(home, changed.hooks)
    effect = ", so calls there may pass unchecked" if changed.guard.status == "active" else ""
    troubles = [f"The hook could not be changed{effect}: {error}" for error in placed.troubles]
    return [*_since_when(home, changed, is_new=bool(placed.changed)), *troubles]


def _place(home: Home, hooks: GuardHooks) -> Placement:
    """Put the hook into each folder of a project, or take it out without guards."""
    return hold(home, hooks.project, hooks.tools, [Path(folder) for folder in hooks.folders])


def _since_when(home: Home, changed: GuardChange, *, is_new: bool) -> list[str]:
    """Return from when on a change holds; nothing if the hook was there before, for it holds at once."""
    if changed.guard.status != "active":
        return [] if changed.hooks.tools else ["No guard is in force here any more; the hook is out of the settings."]
    if home.off_switch.exists():
        return ["No guard holds while memory is off: run `claude-mem-lite on`."]
    if not changed.hooks.folders:
        return ["It holds once the project has a folder on this machine."]
    if not required(home):
        return ["No agent with hooks is installed yet: it holds after `claude-mem-lite install`."]
    if not is_new:
        return []
    return ["It holds from the next session of your agent on; a running session may not know the hook yet."]
