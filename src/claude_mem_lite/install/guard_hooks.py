"""Hooks of guards in the settings of agents: put in while a project has active guards, taken out with the last one.

For Claude Code the hook is in the local settings of each checkout, for the tools that the guards name. Other agents
have no settings for one user in one project: their hook is where they were installed, and the folder of a call decides.
`guards/roots` in the home has the checkouts with guards; a file of a repository is never read."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from claude_mem_lite import held_guards, hook_program
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import LOCAL_NAME, may_be_tracked, project_root
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import git_exclude, guard_layer, hook_install, install_record, plugin, settings_files
from claude_mem_lite.install.hook_config import GUARDED_AGENTS, guard_groups
from claude_mem_lite.install.install_record import Record
from claude_mem_lite.install.targets import settings_path
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen

HERE = "here"
"""Word in the place of a project: the hook looks for the folder of the call in `guards/roots`."""
Groups = Mapping[str, JsonObject]
"""Entries of guards by the agent's events."""
_LOCAL = f".claude/{LOCAL_NAME}"
_NONE: Groups = {}


@frozen
class GuardedRoot:
    """Checkout of a project with active guards."""

    name: str
    """Name of the project's file of guards."""
    tools: tuple[str, ...]
    """Tools that the guards name, by Claude Code's names."""
    folder: Path

    @property
    def settings(self) -> Path:
        return self.folder / ".claude" / LOCAL_NAME


@frozen
class Placement:
    """Result for people: settings that changed, and settings that could not be changed, with reasons."""

    changed: tuple[Path, ...] = ()
    troubles: tuple[SettingsError, ...] = ()


def hold(home: Home, project: str, folders: Sequence[Path]) -> Placement:
    """Have the hooks of a project's guards run in these checkouts and in those that have them, for the tools of the
    guards in force and no other; without guards, take them out of all."""
    home.make()
    with settings_files.exclusive(home):
        name, kept = held_guards.name_of(project), _stored_roots(home)
        tools = _tools(home, name)  # read behind the lock: another change may have come first
        known = [root.folder for root in kept if root.name == name]
        found = dict.fromkeys([*known, *(project_root(folder) for folder in folders if folder.is_dir())])
        held = [GuardedRoot(name, tuple(sorted(set(tools))), folder) for folder in found] if tools else []
        _write_roots(home, [*(root for root in kept if root.folder not in found), *held])
        return _refresh(home)


def refresh(home: Home) -> Placement:
    """Bring the hooks of guards in all settings in line with the guarded checkouts and the installed agents."""
    if not home.root.is_dir():
        return Placement()
    with settings_files.exclusive(home):
        return _refresh(home)


def _refresh(home: Home) -> Placement:
    placed = required(home)
    if placed and not (home.can_run_hooks() and hook_program.is_current(home)):
        hook_install.prepare(home)
    leftover = {record.settings: record.agent for record in guard_layer.load_all(home)}
    changed: list[Path] = []
    troubles: list[SettingsError] = []
    for path, (agent, groups) in {**{path: (leftover[path], _NONE) for path in leftover}, **placed}.items():
        try:
            changed += [path] if _reconcile(home, path, agent, groups) else []
        except SettingsError as error:
            troubles.append(error)
    return Placement(tuple(changed), tuple(troubles))


def required(home: Home) -> dict[Path, tuple[str, Groups]]:
    """Return the settings that should have hooks of guards, each with its agent and its hooks."""
    return {path: (agent, groups) for path, agent, groups, _ in _placements(home)}


def _placements(home: Home) -> Iterator[tuple[Path, str, Groups, Sequence[GuardedRoot]]]:
    """Yield the settings that should have hooks of guards, each with its agent, its hooks and the checkouts that they
    cover."""
    all_roots = [root for root in roots(home) if root.folder.is_dir()]
    records = install_record.load_all(home)
    if _has_claude(records):
        for root in all_roots:
            yield root.settings, CLAUDE_CODE, guard_groups(home, CLAUDE_CODE, root.name, root.tools), [root]
    for record in records:
        covered = [root for root in all_roots if record.project is None or root.folder == record.project]
        if record.agent != CLAUDE_CODE and record.agent in GUARDED_AGENTS and covered and record.settings.exists():
            tools = sorted({tool for root in covered for tool in root.tools})
            yield record.settings, record.agent, guard_groups(home, record.agent, HERE, tools), covered


def roots(home: Home) -> Sequence[GuardedRoot]:
    """Return the checkouts with guards; not those whose last guard the worker paused."""
    names = held_guards.names(home)
    return [root for root in _stored_roots(home) if root.name in names]


def held_names(home: Home) -> frozenset[str]:
    """Return the names of the files of guards that a hook in some settings reads."""
    return frozenset(
        root.name
        for path, _, groups, covered in _placements(home)
        if guard_layer.is_current(path, groups)
        for root in covered
    )


def is_installed(home: Home) -> bool:
    """Return whether any agent has our hooks, by an install or as a plugin."""
    return bool(install_record.load_all(home)) or _is_plugin_on()


def _tools(home: Home, name: str) -> Sequence[str]:
    try:
        return [tool for guard in held_guards.read(home, name) for tool in guard.tools]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        step = "run `claude-mem-lite worker stop`: the next worker writes the file anew"
        raise SettingsError(f"{home.guards / name} cannot be read ({type(error).__name__})", step) from error


def _stored_roots(home: Home) -> Sequence[GuardedRoot]:
    lines = [line.split(" ", 2) for line in settings_files.lines_of(home.guards / "roots")]
    return [GuardedRoot(line[0], tuple(line[1].split(",")), Path(line[2])) for line in lines if len(line) == 3]


@contextmanager
def lifted(home: Home, path: Path) -> Iterator[None]:
    """Take the hooks of guards out of a settings file while other hooks of ours are added or removed, and have them
    back afterwards."""
    record = guard_layer.load(home, settings_files.real_path(path))
    if record is not None:
        with settings_files.exclusive(home):
            _reconcile(home, record.settings, record.agent, _NONE)
    try:
        yield
    finally:
        if roots(home):
            refresh(home)


def remove_all(home: Home) -> Placement:
    """Take the hooks of guards out of all settings; the next install has them back."""
    records = guard_layer.load_all(home)
    if records:
        with settings_files.exclusive(home):
            for record in records:
                _reconcile(home, record.settings, record.agent, _NONE)
    return Placement(tuple(record.settings for record in records))


def _reconcile(home: Home, path: Path, agent: str, groups: Groups) -> bool:
    """Change one settings file, and keep a new file of Claude Code out of `git status`."""
    if agent != CLAUDE_CODE:
        return guard_layer.reconcile(home, path, agent, groups)
    root = path.parent.parent
    if groups:
        _refuse_foreign(path)
        is_new = not path.exists()
        has_changed = guard_layer.reconcile(home, path, agent, groups)
        if is_new:
            git_exclude.add(home, root, _LOCAL)
        return has_changed
    has_changed = guard_layer.reconcile(home, path, agent, groups)
    git_exclude.remove(home, root, _LOCAL)
    return has_changed


def _refuse_foreign(path: Path) -> None:
    if settings_files.real_path(path) != path:  # a repository may hold a link to the user's own settings
        step = "remove the link, then run `claude-mem-lite doctor --fix`"
        raise SettingsError(f"{path} was left alone: it is behind a link", step)
    if path.exists() and may_be_tracked(path):
        step = f"run `git rm --cached {_LOCAL}` there, then `claude-mem-lite doctor --fix`"
        raise SettingsError(f"{path} was left alone: git tracks it, and our hook names paths of this machine", step)


def _has_claude(records: Sequence[Record]) -> bool:
    """Return whether Claude Code is in use, as far as known: the plugin leaves no record."""
    return not records or any(record.agent == CLAUDE_CODE for record in records) or _is_plugin_on()


def _is_plugin_on() -> bool:
    return bool(plugin.enabled_in(settings_path("user", None, os.environ)))


def _write_roots(home: Home, kept: Sequence[GuardedRoot]) -> None:
    path = home.guards / "roots"
    if any("\n" in str(root.folder) for root in kept):
        raise SettingsError("the name of the folder has a line break, so no guard can hold there", "rename the folder")
    if not kept:
        settings_files.delete(path)
        settings_files.remove_empty([home.guards])
        return
    home.guards.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [f"{root.name} {','.join(root.tools)} {root.folder}\n" for root in kept]
    held_guards.replace(path, settings_files.encoded(path, "".join(lines)))
