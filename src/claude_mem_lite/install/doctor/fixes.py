"""Fixes of `doctor --fix`: only files of this package, repeatable at any time, without loss for anybody.

Each fix is found and applied by itself, so that a failing fix does not stop the others."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from claude_mem_lite import __version__, hook_program
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import ensure_worker, stop_worker
from claude_mem_lite.errors import MemoryLiteError, SettingsError, WorkerRefused, WorkerUnavailable
from claude_mem_lite.install import agent_extras, guard_hooks, hook_install, mcp_registration, plugin, settings_files
from claude_mem_lite.install.agent_extras import ExtraPaths
from claude_mem_lite.install.doctor import guard_checks, home_checks, hook_checks, machine_checks, worker_checks
from claude_mem_lite.install.doctor.check import INSTALL, PREPARE, Name
from claude_mem_lite.install.hook_config import hook_groups
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen

_OTHERS, _OWNER = 0o077, 0o700


@frozen
class DoctorFix:
    """One possible fix: description and action."""

    name: Name
    what: str
    do: Callable[[], object]


@frozen
class FixResult:
    """Result of a fix; `failure` is empty after success."""

    name: Name
    what: str
    failure: str = ""


def as_json(done: FixResult) -> JsonObject:
    return {"name": done.name, "what": done.what, "failure": done.failure}


def find_fixes(home: Home, user_settings: Path, environment: Mapping[str, str]) -> Iterator[DoctorFix]:
    """Yield the possible fixes in order. Each is searched for after the previous fix is done.

    Nothing without a home: `install` makes the home, and asks for more than a fix. For users of the plugin the home is
    made, as the plugin's first hook would."""
    has_plugin = hook_checks.setup_step(home, user_settings) == PREPARE
    if has_plugin and not home.root.exists():
        yield DoctorFix(
            "data folder", f"make {home.root} ready for the hooks of the plugin", partial(plugin.prepare, home)
        )
    if not home.root.is_dir() or not home_checks.is_ours(home):
        return
    yield from _permission_fixes(home)
    if not os.access(home.root, os.W_OK):
        return
    yield from _program_fixes(home, has_plugin=has_plugin)
    yield from _settings_fixes(home, user_settings, environment)
    yield from _guard_fixes(home)
    yield from _worker_fixes(home)
    yield from _word_index_fixes(home)


def apply(fix: DoctorFix) -> FixResult:
    try:
        fix.do()
    except (MemoryLiteError, OSError) as error:
        return FixResult(fix.name, fix.what, str(error))
    return FixResult(fix.name, fix.what)


def _permission_fixes(home: Home) -> Iterator[DoctorFix]:
    mode, is_own = home.root.stat().st_mode, home.root.stat().st_uid == os.getuid()
    if is_own and mode & _OWNER != _OWNER:
        yield DoctorFix("data folder", f"let yourself into {home.root} again", partial(home.root.chmod, _OWNER))
    elif is_own and mode & _OTHERS:
        yield DoctorFix("data folder", f"close {home.root} to others", partial(home.root.chmod, _OWNER))
    if home_checks.closed_to_self(home):
        yield DoctorFix("permissions", f"let yourself read and write all of {home.root} again", partial(_reopen, home))
    open_ones = [
        (path, status.st_mode & 0o700)
        for path, status in home_checks.entries(home)
        if status.st_mode & _OTHERS and status.st_uid == os.getuid() and not home_checks.is_shared(status)
    ]
    if open_ones:

        def close() -> None:
            for path, mode in open_ones:
                path.chmod(mode, follow_symlinks=False) if os.chmod in os.supports_follow_symlinks else path.chmod(mode)

        named = str(open_ones[0][0]) if len(open_ones) == 1 else f"{len(open_ones):,} files and folders in {home.root}"
        yield DoctorFix("permissions", f"close {named} to others", close)


def _reopen(home: Home) -> None:
    """Repeat, because the content of a closed folder is seen only after the folder is open."""
    while closed := home_checks.closed_to_self(home):
        for path, status in closed:
            path.chmod(stat.S_IMODE(status.st_mode) | home_checks.min_mode(status))


def _program_fixes(home: Home, *, has_plugin: bool) -> Iterator[DoctorFix]:
    """Yield fixes of the links and the copy of the hook program, for an installed home."""
    if not (has_plugin or machine_checks.is_installed_from(home)):
        return
    if machine_checks.check_worker_python(home).state != "ok" or _is_hook_link_bad(home):
        yield DoctorFix(
            "hook", f"make the links {home.hook_python} and {home.worker_python} anew", partial(_prepare, home)
        )
    elif not hook_program.is_current(home):
        yield DoctorFix(
            "hook", f"bring the hook program in {home.hook_program.parent} up to date", partial(_prepare, home)
        )


def _is_hook_link_bad(home: Home) -> bool:
    check = machine_checks.check_hook_python(home)
    return check.state == "fail" or (check.state == "warn" and hook_program.is_current(home))


def _prepare(home: Home) -> None:
    if trouble := hook_install.make_program(home):
        raise MemoryLiteError(trouble, INSTALL)


def _settings_fixes(home: Home, user_settings: Path, environment: Mapping[str, str]) -> Iterator[DoctorFix]:
    """Yield fixes of our hooks and servers of another version or place. Nothing is added where there is none."""
    for settings in _hook_settings(home, user_settings):
        if _are_hooks_outdated(home, settings):
            yield DoctorFix(
                "hooks", f"bring our hooks in {settings.path} up to date", partial(_update_hooks, home, settings)
            )
    for where in hook_checks.extra_paths(home, user_settings, environment):
        if _is_server_outdated(home, where):
            description = f"bring our MCP server in {where.server.describe()} up to date"
            yield DoctorFix("MCP server", description, partial(_update_server, home, where))


@frozen
class _HookSettings:
    """Settings that may hold hooks of this package."""

    path: Path
    agent: str = CLAUDE_CODE
    project: Path | None = None


def _hook_settings(home: Home, user_settings: Path) -> list[_HookSettings]:
    try:
        known = [_HookSettings(record.settings, record.agent, record.project) for record in hook_checks.installed(home)]
    except SettingsError:  # reported by the check
        known = []
    default = _HookSettings(settings_files.real_path(user_settings))
    return known if any(record.path == default.path for record in known) else [default, *known]


def _update_hooks(home: Home, settings: _HookSettings) -> None:
    groups = hook_groups(home, settings.agent)
    with guard_hooks.lifted(home, settings.path):
        plan = hook_install.plan_install(home, settings.path, groups, settings.agent, settings.project)
        hook_install.apply_install(home, plan)


def _update_server(home: Home, where: ExtraPaths) -> None:
    mcp_registration.apply(mcp_registration.plan_adding(where.server, mcp_registration.entry(home, where.agent)))


def _are_hooks_outdated(home: Home, settings: _HookSettings) -> bool:
    try:
        return hook_checks.hooks_state(home, settings.path, settings.agent) in ("other", "incomplete")
    except SettingsError:  # reported by the check
        return False


def _is_server_outdated(home: Home, where: ExtraPaths) -> bool:
    try:
        return agent_extras.server_state(home, where) == "other"
    except MemoryLiteError:  # reported by the check
        return False


def _guard_fixes(home: Home) -> Iterator[DoctorFix]:
    if paths := guard_checks.misplaced(home):
        named = ", ".join(map(str, paths))
        yield DoctorFix("guards", f"bring the hook of your guards in {named} up to date", partial(_place_guards, home))


def _place_guards(home: Home) -> None:
    if troubles := guard_hooks.refresh(home).troubles:
        raise troubles[0]


def _worker_fixes(home: Home) -> Iterator[DoctorFix]:
    client = Client(home)
    try:
        version = client.health().version
    except WorkerRefused:
        return
    except WorkerUnavailable:
        yield DoctorFix("worker", "start the worker", partial(ensure_worker, home))
        return
    if version != __version__:
        yield DoctorFix("worker", f"replace the worker of version {version}", partial(_restart, home))
    elif worker_checks.is_socket_open(home):
        yield DoctorFix(
            "socket", "start the worker anew, with a socket that is closed to others", partial(_restart, home)
        )


def _restart(home: Home) -> None:
    stop_worker(Client(home))
    ensure_worker(home)


def _word_index_fixes(home: Home) -> Iterator[DoctorFix]:
    try:
        damaged = Client(home).damaged_words()
    except (WorkerUnavailable, WorkerRefused):  # no worker runs during a dry run, or an old one
        return
    if damaged:
        description = f"make the word index anew ({', '.join(damaged)}); search finds the rest meanwhile"
        yield DoctorFix("word index", description, partial(_rebuild, home))


def _rebuild(home: Home) -> None:
    ensure_worker(home).rebuild()
