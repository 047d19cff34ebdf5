"""Install and removal of our hooks in the settings of any agent: program, links, trial run. Called by the commands and
`doctor`.

Settings are planned before any change, so that a file that must not be changed stops the whole install."""

import difflib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from claude_mem_lite import __version__, hook_program
from claude_mem_lite.agents.adapters import NAMES
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import stop_worker
from claude_mem_lite.errors import MemoryLiteError, SettingsError, WorkerRefused, WorkerUnavailable
from claude_mem_lite.install import (
    agent_extras,
    install_record,
    interpreter,
    permissions,
    settings_files,
    settings_merge,
)
from claude_mem_lite.install.hook_config import besides_hooks
from claude_mem_lite.install.install_record import Record
from claude_mem_lite.install.targets import Target, target_of_record
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import HOOK_PROGRAM, Home
from claude_mem_lite.values import frozen

Outcome = Literal["restored", "removed", "stripped", "nothing"]
_OUT_BY_HAND = f"mend it and run this again, or delete the hooks that name {HOOK_PROGRAM} by hand; nothing was changed"


@frozen
class Plan:
    """Planned change of one settings file by an install."""

    path: Path
    before: bytes | None
    after: bytes
    record: Record | None
    """The record to keep; None if the file needs no change."""
    had_ours: bool = False
    hooks_disabled: bool = False
    changes_hooks: bool = False
    rules_added: tuple[str, ...] = ()
    rules_removed: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        return self.record is not None

    def diff(self) -> str:
        """Return the change as a unified diff."""
        before = (self.before or b"").decode("utf-8").splitlines(keepends=True)
        after = self.after.decode("utf-8").splitlines(keepends=True)
        lines = difflib.unified_diff(before, after, f"{self.path} (now)", f"{self.path} (installed)")
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@frozen
class Removal:
    """Planned change of one settings file by an uninstall."""

    path: Path
    now: bytes | None
    after: bytes | None
    """None if the file is deleted."""
    outcome: Outcome
    known: Record | None


def prepare(home: Home) -> None:
    """Make everything that hooks need, before any hook is registered; MemoryLiteError if hooks would not run."""
    home.make()
    if trouble := make_program(home):
        raise MemoryLiteError(f"the settings were left alone, because {trouble}", "run `claude-mem-lite doctor`")


def make_program(home: Home) -> str | None:
    """Update the links and the copy of the hook program; return the reason why no hook would run, None if a hook
    ran."""
    interpreter.make_links(home)
    hook_program.make(home)
    return interpreter.try_hook(home)


def stop_older_worker(home: Home) -> bool:
    """Stop a worker of another version, so that the next hook starts this version; return whether there was one."""
    client = Client(home)
    try:
        return client.health().version != __version__ and stop_worker(client)
    except (WorkerUnavailable, WorkerRefused):
        return False


def plan_install(
    home: Home,
    path: Path,
    wanted: Mapping[str, JsonObject],
    agent: str = CLAUDE_CODE,
    project: Path | None = None,
    allow_tools: bool | None = None,
) -> Plan:
    """Plan an install without any change. `allow_tools` is the user's choice about the memory tools, None without a
    choice."""
    path = settings_files.real_path(path)
    before = settings_files.read(path)
    known = install_record.load(home, path)
    text = _text(path, before, besides_hooks(agent))
    try:
        merged = settings_merge.merge(text, wanted, known.additions if known else None, home, allow_tools)
        disabled = settings_merge.disables_hooks(text)
    except SettingsError as error:
        raise SettingsError(f"{path} was left alone: {error.message}", _by_hand(agent)) from error
    if merged is None:
        return Plan(path, before, before or b"", None, had_ours=True, hooks_disabled=disabled)
    after = settings_files.encoded(path, merged.text)
    fresh = Record(path, install_record.sha256(after), None, (), merged.additions, agent, project)
    if merged.had_ours:
        fresh = _follow(home, fresh, known, before, after)
    held, granted = permissions.rules_in(text, permissions.RULES), merged.additions.grant.rules
    return Plan(
        path,
        before,
        after,
        fresh,
        merged.had_ours,
        disabled,
        merged.changes_hooks,
        rules_added=tuple(rule for rule in granted if rule not in held),
        rules_removed=tuple(rule for rule in held if rule not in permissions.rules_in(merged.text, held)),
    )


def apply_install(home: Home, plan: Plan) -> None:
    """Save the former bytes and the record, then write the settings."""
    if plan.record is None:
        return
    known = install_record.load(home, plan.path)
    folders = (known.folders_made if known else ()) or settings_files.missing_folders(plan.path.parent)
    record = replace(plan.record, folders_made=plan.record.folders_made or folders)
    if plan.before is not None and not (plan.had_ours and known):
        record = replace(record, backup=install_record.keep_backup(home, plan.path, plan.before))
    install_record.save(home, record)
    settings_files.make_folders(plan.path.parent)
    settings_files.replace(plan.path, plan.before, plan.after)


def plan_uninstall(home: Home, path: Path) -> Removal:
    """Plan an uninstall without any change. SettingsError if the file cannot be read or must not be written.

    The former bytes come back if nobody wrote to the file since."""
    path = settings_files.real_path(path)
    known = install_record.load(home, path)
    now = settings_files.read(path)
    plan = Removal(path, now, now, "nothing", known)
    if now is not None:
        put_back = known is not None and known.written_sha256 == install_record.sha256(now)
        plan = (_plan_putting_back(home, plan) if put_back else None) or _plan_taking_out(home, plan)
    if plan.outcome != "nothing":
        settings_files.check_writable(path)
    return plan


def uninstall(home: Home, path: Path) -> Outcome:
    """Remove our hooks from one settings file."""
    plan = plan_uninstall(home, path)
    known = plan.known
    settings_files.remove_unfinished(plan.path)
    if plan.outcome == "removed":
        settings_files.delete(plan.path)
    elif plan.outcome != "nothing" and plan.after is not None:
        settings_files.replace(plan.path, plan.now, plan.after)
    if known is not None:
        if plan.outcome == "removed" or plan.now is None:
            settings_files.remove_empty(known.folders_made)
        install_record.drop(home, known, with_backup=plan.outcome in ("restored", "removed"))
    return plan.outcome


def other_installs(home: Home, path: Path) -> Sequence[Path]:
    """Return the other settings files that run hooks of this home."""
    real = settings_files.real_path(path)
    return [each.settings for each in install_record.load_all(home) if each.settings != real and each.settings.exists()]


def targets_installed(home: Home) -> Sequence[Target]:
    """Return every target of this home's installs, deleted ones included."""
    return [target_of_record(each) for each in install_record.load_all(home) if each.agent in NAMES]


def remove_program(home: Home) -> None:
    """Remove the links and the hook program from the home, if the folder is a home."""
    if not home.root.is_dir() or not home.is_ours():
        return
    for path in (home.hook_python, home.worker_python):
        path.unlink(missing_ok=True)
    shutil.rmtree(home.hook_program.parent.parent, ignore_errors=True)


def _follow(home: Home, fresh: Record, known: Record | None, before: bytes | None, after: bytes) -> Record:
    """Return the record of an install over an earlier install: the first backup stays the backup.

    The backup may be restored whole only if nobody else wrote to the file in between. Our server does not count: in a
    shared file, the server is removed before the hooks."""
    if known is None:
        return replace(fresh, written_sha256=None)
    tools = target_of_record(fresh).tools
    former = None if before is None else agent_extras.without_server(home, tools, before)
    unbroken = former is not None and known.written_sha256 == install_record.sha256(former)
    written = install_record.sha256(agent_extras.without_server(home, tools, after)) if unbroken else None
    return replace(fresh, written_sha256=written, backup=known.backup, folders_made=known.folders_made)


def _plan_putting_back(home: Home, plan: Removal) -> Removal | None:
    """Plan the restore of the former bytes; None if they are gone."""
    if plan.known is None or plan.known.backup is None:
        return replace(plan, after=None, outcome="removed")
    original = install_record.backup_of(home, plan.known)
    return None if original is None else replace(plan, after=original, outcome="restored")


def _plan_taking_out(home: Home, plan: Removal) -> Removal:
    known, text = plan.known, _text(plan.path, plan.now)
    if known is None and HOOK_PROGRAM not in text and str(home.root) not in text:
        return plan  # nothing of this package, whatever the form
    try:
        stripped = settings_merge.strip(text, known.additions if known else None, home)
        left_empty = settings_merge.is_empty(stripped, besides_hooks(known.agent) if known else None)
    except SettingsError as error:
        raise SettingsError(f"{plan.path} was left alone: {error.message}", _OUT_BY_HAND) from error
    if stripped == text:
        return plan
    if left_empty and known is not None and known.backup is None:
        return replace(plan, after=None, outcome="removed")
    return replace(plan, after=settings_files.encoded(plan.path, stripped), outcome="stripped")


def _by_hand(agent: str) -> str:
    printed = "claude-mem-lite hooks" if agent == CLAUDE_CODE else f"claude-mem-lite hooks --agent {agent}"
    prepared = "after `claude-mem-lite plugin --prepare`, which makes what they run"
    return f"fix it and run this again, or add by hand what `{printed}` prints, {prepared}; nothing was changed"


def _text(path: Path, content: bytes | None, begin_with: JsonObject | None = None) -> str:
    """Return the settings as text; a missing or blank file counts as empty settings."""
    text = settings_files.decoded(path, content)
    if text.strip("\ufeff \t\r\n"):
        return text
    return f"{json.dumps(begin_with, indent=2)}\n" if begin_with else settings_merge.EMPTY_SETTINGS
