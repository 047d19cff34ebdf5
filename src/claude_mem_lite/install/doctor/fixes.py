"""What `doctor --fix` does: only what is ours, can be done again at any time, and takes nothing away from anybody.

Each thing is looked at and done by itself, so that one that cannot be done does not keep the others from it."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from claude_mem_lite import __version__, hook_program
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import ensure_worker, stop_worker
from claude_mem_lite.errors import MemoryLiteError, SettingsError, WorkerRefused, WorkerUnavailable
from claude_mem_lite.install import agent_extras, hook_install, mcp_registration, plugin, settings_files
from claude_mem_lite.install.agent_extras import Places
from claude_mem_lite.install.doctor import agent_tool_checks, home_checks, hook_checks, python_checks, worker_checks
from claude_mem_lite.install.doctor.check import INSTALL, PREPARE, Name
from claude_mem_lite.install.hook_config import hook_groups
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home

_OTHERS, _OWNER = 0o077, 0o700


@dataclass(frozen=True, slots=True)
class Fix:
    """One thing that can be mended: what will be done, and the doing of it."""

    name: Name
    what: str
    do: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one; `failure` is empty when it is mended."""

    name: Name
    what: str
    failure: str = ""


def as_json(done: Done) -> JsonObject:
    return {"name": done.name, "what": done.what, "failure": done.failure}


def find_fixes(home: Home, user_settings: Path, environment: Mapping[str, str]) -> Iterator[Fix]:
    """What can be mended, in the order in which it is. Each is looked for when the one before is done.

    Nothing where there is no home: that is made by `install`, which asks for more than to be mended. For who has the
    plugin it is made, as its first hook would."""
    has_plugin = hook_checks.setup_step(home, user_settings) == PREPARE
    if has_plugin and not home.root.exists():
        yield Fix("data folder", f"make {home.root} ready for the hooks of the plugin", partial(_prepare_plugin, home))
    if not home.root.is_dir() or not home_checks.is_ours(home):
        return
    yield from _of_permissions(home)
    if not os.access(home.root, os.W_OK):
        return
    yield from _of_program(home, has_plugin=has_plugin)
    yield from _of_settings(home, user_settings, environment)
    yield from _of_worker(home)
    yield from _of_words(home)


def apply(fix: Fix) -> Done:
    try:
        fix.do()
    except (MemoryLiteError, OSError) as error:
        return Done(fix.name, fix.what, str(error))
    return Done(fix.name, fix.what)


def _of_permissions(home: Home) -> Iterator[Fix]:
    mode, is_own = home.root.stat().st_mode, home.root.stat().st_uid == os.getuid()
    if is_own and mode & _OWNER != _OWNER:
        yield Fix("data folder", f"let yourself into {home.root} again", partial(home.root.chmod, _OWNER))
    elif is_own and mode & _OTHERS:
        yield Fix("data folder", f"close {home.root} to others", partial(home.root.chmod, _OWNER))
    if home_checks.closed_to_self(home):
        yield Fix("permissions", f"let yourself read and write all of {home.root} again", partial(_reopen, home))
    open_ones = [
        (path, found.st_mode & 0o700)
        for path, found in home_checks.entries(home)
        if found.st_mode & _OTHERS and found.st_uid == os.getuid() and not home_checks.is_shared(found)
    ]
    if open_ones:

        def close() -> None:
            for path, mode in open_ones:
                path.chmod(mode, follow_symlinks=False) if os.chmod in os.supports_follow_symlinks else path.chmod(mode)

        named = str(open_ones[0][0]) if len(open_ones) == 1 else f"{len(open_ones):,} files and folders in {home.root}"
        yield Fix("permissions", f"close {named} to others", close)


def _reopen(home: Home) -> None:
    """Again and again: what is in a folder that was closed is seen once that is open."""
    while closed := home_checks.closed_to_self(home):
        for path, found in closed:
            path.chmod(stat.S_IMODE(found.st_mode) | home_checks.least_mode(found))


def _of_program(home: Home, *, has_plugin: bool) -> Iterator[Fix]:
    """The links and the copy of the hook program, for a home that is installed from."""
    if not (has_plugin or python_checks.is_installed_from(home)):
        return
    if python_checks.check_worker_python(home).state != "ok" or _is_hook_link_bad(home):
        yield Fix("hook", f"make the links {home.hook_python} and {home.worker_python} anew", partial(_prepare, home))
    elif not hook_program.is_current(home):
        yield Fix("hook", f"bring the hook program in {home.hook_program.parent} up to date", partial(_prepare, home))


def _is_hook_link_bad(home: Home) -> bool:
    check = python_checks.check_hook_python(home)
    return check.state == "fail" or (check.state == "warn" and hook_program.is_current(home))


def _prepare_plugin(home: Home) -> None:
    plugin.prepare(home)


def _prepare(home: Home) -> None:
    if trouble := hook_install.make_program(home):
        raise MemoryLiteError(trouble, INSTALL)


def _of_settings(home: Home, user_settings: Path, environment: Mapping[str, str]) -> Iterator[Fix]:
    """Hooks and servers of ours that are of another version or place. Where there are none, none are added."""
    for one in _places_of_hooks(home, user_settings):
        if _are_old_hooks(home, one):
            yield Fix("hooks", f"bring our hooks in {one.path} up to date", partial(_update_hooks, home, one))
    for where in agent_tool_checks.places_of(home, user_settings, environment):
        if _is_old_server(home, where):
            told = f"bring our MCP server in {where.server.told()} up to date"
            yield Fix("MCP server", told, partial(_update_server, home, where))


@dataclass(frozen=True, slots=True)
class _Hooks:
    """Settings that may hold hooks of ours."""

    path: Path
    agent: str = CLAUDE_CODE
    project: Path | None = None


def _places_of_hooks(home: Home, user_settings: Path) -> list[_Hooks]:
    try:
        known = [_Hooks(one.settings, one.agent, one.project) for one in hook_checks.installed(home)]
    except SettingsError:  # told by the check
        known = []
    default = _Hooks(settings_files.real_path(user_settings))
    return known if any(one.path == default.path for one in known) else [default, *known]


def _update_hooks(home: Home, one: _Hooks) -> None:
    wanted = hook_groups(home, one.agent)
    hook_install.apply_install(home, hook_install.plan_install(home, one.path, wanted, one.agent, one.project))


def _update_server(home: Home, where: Places) -> None:
    mcp_registration.apply(mcp_registration.plan_adding(where.server, mcp_registration.entry(home, where.agent)))


def _are_old_hooks(home: Home, one: _Hooks) -> bool:
    try:
        return hook_checks.hooks_state(home, one.path, one.agent) in ("other", "incomplete")
    except SettingsError:  # told by the check
        return False


def _is_old_server(home: Home, where: Places) -> bool:
    try:
        return agent_extras.server_state(home, where) == "other"
    except MemoryLiteError:  # told by the check
        return False


def _of_worker(home: Home) -> Iterator[Fix]:
    client = Client(home)
    try:
        version = client.health().version
    except WorkerRefused:
        return
    except WorkerUnavailable:
        yield Fix("worker", "start the worker", partial(_start, home))
        return
    if version != __version__:
        yield Fix("worker", f"replace the worker of version {version}", partial(_restart, home))
    elif worker_checks.is_socket_open(home):
        yield Fix("socket", "start the worker anew, with a socket that is closed to others", partial(_restart, home))


def _start(home: Home) -> None:
    ensure_worker(home)


def _restart(home: Home) -> None:
    stop_worker(Client(home))
    ensure_worker(home)


def _of_words(home: Home) -> Iterator[Fix]:
    try:
        damaged = Client(home).damaged_words()
    except (WorkerUnavailable, WorkerRefused):  # none runs when only asked what would be done, or one of long ago
        return
    if damaged:
        told = f"make the word index anew ({', '.join(damaged)}); search finds the rest meanwhile"
        yield Fix("word index", told, partial(_rebuild, home))


def _rebuild(home: Home) -> None:
    ensure_worker(home).rebuild()
