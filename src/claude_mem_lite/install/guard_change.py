"""The hook of a project's guards after a change of the user, for the command line and the page: in the settings of the
project's folders while a guard is in force, and out of them otherwise."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from claude_mem_lite import held_guards
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install.guard_hooks import held_names, hold, is_installed, required
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.guards import GuardChange, ShownGuard
from claude_mem_lite.values import frozen

_CHANGES_HOOKS = ("active", "paused", "removed")
_OFF = "No guard holds while memory is off: run `claude-mem-lite on`."
_NOT_INSTALLED = "No agent has the hook of your guards: run `claude-mem-lite install`."
_NO_HOOK = (
    "No settings have the hook: `claude-mem-lite guards resume ID`, in a folder of the project, puts it back, or says "
    "what is in its way."
)


@frozen
class Followed:
    """Result for people: from when on a change holds, and why the hook could not be placed or taken out."""

    lines: tuple[str, ...] = ()
    trouble: SettingsError | None = None


def follow(home: Home, changed: GuardChange) -> Followed:
    """Let the hook follow a change."""
    if changed.guard.status not in _CHANGES_HOOKS:
        return Followed()
    try:
        placed = hold(home, changed.hooks.project, [Path(folder) for folder in changed.hooks.folders])
    except SettingsError as error:
        return Followed(trouble=_trouble(changed, [error]))
    lines = _since_when(home, changed, is_new=bool(placed.changed))
    return Followed(tuple(lines), _trouble(changed, placed.troubles) if placed.troubles else None)


def hindrances(home: Home, guards: Sequence[ShownGuard]) -> Mapping[str, str]:
    """Return the guards that were accepted but do not hold, by id, each with the reason and what to do."""
    accepted = [guard.id for guard in guards if guard.status == "active"]
    if not accepted:
        return {}
    if home.off_switch.exists():
        return dict.fromkeys(accepted, _OFF)
    held = _held(home)
    reason = _NO_HOOK if is_installed(home) else _NOT_INSTALLED
    return {id_: reason for id_ in accepted if id_ not in held}


def _held(home: Home) -> frozenset[str]:
    found: set[str] = set()
    for name in held_names(home) if home.can_run_hooks() else ():
        try:
            found.update(guard.id for guard in held_guards.read(home, name))
        except (OSError, ValueError):  # reported by `doctor`
            continue
    return frozenset(found)


def _trouble(changed: GuardChange, errors: Sequence[SettingsError]) -> SettingsError:
    effect = ", so calls there may pass unchecked" if changed.guard.status == "active" else ""
    reasons = "; ".join(error.message for error in errors)
    return SettingsError(f"the hook could not be changed{effect}: {reasons}", errors[0].next_step)


def _since_when(home: Home, changed: GuardChange, *, is_new: bool) -> list[str]:
    """Return from when on a change holds; nothing if the hook was there before, for it holds at once."""
    if changed.guard.status != "active":
        is_held = held_guards.name_of(changed.hooks.project) in held_guards.names(home)
        return [] if is_held else ["No guard is in force here any more; the hook is out of the settings."]
    if home.off_switch.exists():
        return [_OFF]
    if not changed.hooks.folders:
        return ["It holds once the project has a folder on this machine."]
    if not required(home):
        return ["No agent with hooks is installed yet: it holds after `claude-mem-lite install`."]
    if not is_new:
        return []
    return ["It holds from the next session of your agent on; a running session may not know the hook yet."]
