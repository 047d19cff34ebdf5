"""Install into an agent's settings and out again: program, links, trial run. The commands of both names call it.

Settings are planned before anything is touched, so that a file that must not be changed stops all of it."""

import difflib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from claude_mem_lite import __version__, hook_copy
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.client import Client
from claude_mem_lite.errors import MemoryLiteError, SettingsError, WorkerRefused, WorkerUnavailable
from claude_mem_lite.install import files, interpreter, record, settings
from claude_mem_lite.install.hooks import IN_A_FILE_OF_ITS_OWN
from claude_mem_lite.install.record import Record
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home

Scope = Literal["user", "project"]
Outcome = Literal["restored", "removed", "stripped", "nothing"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What an install will do to one settings file."""

    path: Path
    before: bytes | None
    after: bytes
    record: Record | None
    """The record to keep; None when the file is as it should be."""
    had_ours: bool = False
    hooks_disabled: bool = False

    @property
    def changes(self) -> bool:
        return self.record is not None

    def diff(self) -> str:
        """The change as a unified diff."""
        before = (self.before or b"").decode("utf-8").splitlines(keepends=True)
        after = self.after.decode("utf-8").splitlines(keepends=True)
        lines = difflib.unified_diff(before, after, f"{self.path} (now)", f"{self.path} (installed)")
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def settings_path(scope: Scope, config_dir: Path | None, environment: Mapping[str, str]) -> Path:
    """The settings file of a scope.

    In a project it is the local one: the commands hold paths of this machine, which no colleague has."""
    if scope == "project":
        return Path.cwd() / ".claude" / "settings.local.json"
    chosen = config_dir or environment.get("CLAUDE_CONFIG_DIR")
    folder = Path(chosen).expanduser().absolute() if chosen else Path.home() / ".claude"
    return folder / "settings.json"


def prepare(home: Home) -> None:
    """Everything the hooks need, before any hook is announced; an error when they would not run."""
    home.make()
    interpreter.make_links(home)
    hook_copy.make(home)
    if trouble := interpreter.try_hook(home):
        raise MemoryLiteError(f"the settings were left alone, because {trouble}", "run `claude-mem-lite doctor`")


def stop_older_worker(home: Home) -> bool:
    """End a worker of another version, so that the next hook starts one of this; whether there was one."""
    client = Client(home)
    try:
        return client.health().version != __version__ and client.stop()
    except (WorkerUnavailable, WorkerRefused):
        return False


def plan_install(
    home: Home,
    path: Path,
    wanted: Mapping[str, JsonObject],
    agent: str = CLAUDE_CODE,
    project: Path | None = None,
) -> Plan:
    """See what has to change; touches nothing."""
    path = files.real_path(path)
    before = files.read(path)
    known = record.load(home, path)
    text = _text(path, before, IN_A_FILE_OF_ITS_OWN.get(agent))
    try:
        merged = settings.merge(text, wanted, known.made if known else None)
        disabled = settings.disables_hooks(text)
    except SettingsError as error:
        raise SettingsError(f"{path} was left alone: {error.message}", error.next_step) from error
    if merged is None:
        return Plan(path, before, before or b"", None, had_ours=True, hooks_disabled=disabled)
    after = _encode(path, merged.text)
    fresh = Record(path, record.sha256(after), None, (), merged.made, agent, project)
    if merged.had_ours:
        fresh = _follow(fresh, known, before)
    return Plan(path, before, after, fresh, merged.had_ours, disabled)


def apply_install(home: Home, plan: Plan) -> None:
    """Keep the bytes of before and the record, then write the settings."""
    if plan.record is None:
        return
    made = files.make_folders(plan.path.parent)
    kept = replace(plan.record, folders_made=plan.record.folders_made or made)
    if plan.before is not None and not (plan.had_ours and record.load(home, plan.path)):
        kept = replace(kept, backup=record.keep_backup(home, plan.path, plan.before))
    record.save(home, kept)
    files.replace(plan.path, plan.before, plan.after)


def uninstall(home: Home, path: Path) -> Outcome:
    """Take our hooks out of one settings file: the bytes of before when nobody wrote to it since."""
    path = files.real_path(path)
    known = record.load(home, path)
    now = files.read(path)
    outcome: Outcome = "nothing"
    if now is not None:
        put_back = known is not None and known.written_sha256 == record.sha256(now)
        outcome = (_put_back(home, known, now) if put_back and known else None) or _take_out(path, now, known)
    if known is not None:
        record.drop(home, known, with_backup=outcome in ("restored", "removed"))
    return outcome


def other_installs(home: Home, path: Path) -> Sequence[Path]:
    """Settings files, other than this one, that run hooks of this home."""
    real = files.real_path(path)
    return [each.settings for each in record.load_all(home) if each.settings != real and each.settings.exists()]


def remove_program(home: Home) -> None:
    """Remove the links and the hook program from the home."""
    for path in (home.hook_python, home.worker_python):
        path.unlink(missing_ok=True)
    shutil.rmtree(home.hook_program.parent.parent, ignore_errors=True)


def _follow(fresh: Record, known: Record | None, before: bytes | None) -> Record:
    """The record of an install over an earlier one: the first backup stays the backup.

    Its bytes may be put back whole only if nobody else wrote to the file in between."""
    if known is None:
        return replace(fresh, written_sha256=None)
    unbroken = before is not None and known.written_sha256 == record.sha256(before)
    written = fresh.written_sha256 if unbroken else None
    return replace(fresh, written_sha256=written, backup=known.backup, folders_made=known.folders_made)


def _put_back(home: Home, known: Record, now: bytes) -> Outcome | None:
    if known.backup is None:
        files.delete(known.settings)
        files.remove_empty(known.folders_made)
        return "removed"
    original = record.backup_of(home, known)
    if original is None:
        return None
    files.replace(known.settings, now, original)
    return "restored"


def _take_out(path: Path, now: bytes, known: Record | None) -> Outcome:
    text = _text(path, now)
    try:
        stripped = settings.strip(text, known.made if known else None)
        left_empty = settings.is_empty(stripped, IN_A_FILE_OF_ITS_OWN.get(known.agent) if known else None)
    except SettingsError as error:
        raise SettingsError(f"{path} was left alone: {error.message}", error.next_step) from error
    if stripped == text:
        return "nothing"
    if left_empty and known is not None and known.backup is None:
        files.delete(path)
        files.remove_empty(known.folders_made)
        return "removed"
    files.replace(path, now, _encode(path, stripped))
    return "stripped"


def _text(path: Path, content: bytes | None, begin_with: JsonObject | None = None) -> str:
    """The settings as text; a file that is missing or blank counts as empty settings."""
    try:
        text = (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} was left alone: it is not UTF-8", settings.NOT_TOUCHED) from error
    if text.strip("\ufeff \t\r\n"):
        return text
    return f"{json.dumps(begin_with, indent=2)}\n" if begin_with else settings.EMPTY_SETTINGS


def _encode(path: Path, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise SettingsError(
            f"{path} was left alone: the data folder's name cannot be written in JSON",
            "set CLAUDE_MEM_LITE_HOME to a folder with a plain name",
        ) from error
