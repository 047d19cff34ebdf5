"""Checks of everything an installation needs, as values: what was found, and what to do about it.

The `doctor` command prints them. Nothing is changed; databases are opened read-only."""

import os
import shutil
import sqlite3
import stat
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from claude_mem_lite import __version__, hook_copy
from claude_mem_lite.client import Client, Health
from claude_mem_lite.config import read_synonyms
from claude_mem_lite.errors import ConfigError, MemoryLiteError, SettingsError, WorkerRefused, WorkerUnavailable
from claude_mem_lite.install import files, interpreter, permissions, record, serving, settings, skills
from claude_mem_lite.install.agent_tools import Places
from claude_mem_lite.install.hooks import hook_groups
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.spool_names import is_spool_name, time_of
from claude_mem_lite.worker_start import ensure_worker, worker_interpreter

State = Literal["ok", "warn", "fail"]
INSTALL = "run `claude-mem-lite install`"
OLDEST_SQLITE = (3, 35)
BACKLOG_AGE_S = 300
_SDKS = {"anthropic": "anthropic", "openai": "openai"}
LOW_DISK_BYTES, FULL_DISK_BYTES = 500 * 2**20, 20 * 2**20


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    name: str
    state: State
    found: str
    next_step: str = ""


def as_json(check: Check) -> JsonObject:
    return {"name": check.name, "state": check.state, "found": check.found, "next_step": check.next_step}


def run_checks(home: Home, user_settings: Path, tools: Places | None = None) -> Sequence[Check]:
    """Every check, in the order in which one depends on another."""
    checks = [check_sqlite(), check_home(home), *check_hooks(home, user_settings), check_switch(home)]
    checks += check_tools(home, tools) if tools is not None else []
    if home.root.is_dir():
        checks += [check_hook_python(home), check_worker_python(home)]
        if os.access(home.root, os.W_OK):  # neither a worker nor SQLite can open anything where it cannot write
            checks += check_worker(home)
            checks += [check_database(path) for path in (home.inbox_db, home.memory_db)]
        checks += [check_spool(home, time.time()), check_disk(home), *check_synonyms(home)]
    return checks


def check_sqlite() -> Check:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return Check("sqlite", "fail", f"version {version} is too old", "use a Python with SQLite 3.35 or newer")
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("create virtual table words using fts5(word)")
    except sqlite3.Error:
        return Check("sqlite", "fail", f"version {version} lacks FTS5", "use a Python whose SQLite has FTS5")
    finally:
        connection.close()
    return Check("sqlite", "ok", f"version {version} with FTS5")


def check_home(home: Home) -> Check:
    try:
        found = home.root.stat()
    except OSError as error:
        return Check("data folder", "fail", f"{home.root}: {(error.strerror or '').lower()}", INSTALL)
    if not stat.S_ISDIR(found.st_mode):
        return Check("data folder", "fail", f"{home.root} is not a folder", "move it away, then install")
    if found.st_uid != os.getuid():
        return Check("data folder", "fail", f"{home.root} belongs to another user", f"chown it to user {os.getuid()}")
    if not os.access(home.root, os.W_OK):
        return Check(
            "data folder",
            "fail",
            f"{home.root} cannot be written",
            "make it writable; until then hooks keep events elsewhere",
        )
    if found.st_mode & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        return Check("data folder", "fail", f"others may look into {home.root} ({mode:o})", f"chmod 700 {home.root}")
    return Check("data folder", "ok", str(home.root))


def check_hooks(home: Home, user_settings: Path) -> Sequence[Check]:
    """One check for each settings file we are known to be in, or should be."""
    try:
        recorded = [each.settings for each in record.load_all(home) if each.settings.exists()]
    except SettingsError as error:
        return [Check("hooks", "fail", error.message, error.next_step)]
    default = files.real_path(user_settings)
    others = [path for path in recorded if path != default]
    checked = [] if others and default not in recorded and not _mentions_us(default) else [default]
    return [_check_settings(home, path) for path in (*checked, *others)]


def check_tools(home: Home, where: Places) -> Sequence[Check]:
    """Whether the agent can ask for memories, and knows when to; hooks work without either."""
    try:
        server = serving.plan_adding(where.server, serving.entry(home)).state
        skill = skills.state_of(where.skill)
    except MemoryLiteError as error:
        return [Check("MCP server", "warn", error.message, error.next_step)]
    found = {
        "current": Check("MCP server", "ok", f"in {where.server.told()}"),
        "absent": Check("MCP server", "warn", f"not in {where.server.told()}", INSTALL),
        "other": Check("MCP server", "warn", f"that in {where.server.told()} is of another version or place", INSTALL),
        "foreign": Check("MCP server", "warn", f"another one has our name in {where.server.told()}", "rename that one"),
    }[server]
    skilled = {
        "current": Check("skill", "ok", str(where.skill)),
        "changed": Check("skill", "ok", f"{where.skill} is your own"),
        "absent": Check("skill", "warn", f"{where.skill} is missing", INSTALL),
        "other": Check("skill", "warn", f"{where.skill} is not up to date", INSTALL),
    }[skill]
    is_registered = server in ("current", "other")
    return [found, *([_check_permission(where)] if is_registered else []), skilled]


def check_synonyms(home: Home) -> Sequence[Check]:
    """Whether the user's own synonyms can be read, when there are any."""
    if not os.path.lexists(home.synonyms):
        return []
    try:
        read_synonyms(home.synonyms)
    except ConfigError as error:
        return [Check("synonyms", "warn", f"{error.message}; those of the package hold", error.next_step)]
    return [Check("synonyms", "ok", str(home.synonyms))]


def check_switch(home: Home) -> Check:
    if home.off_switch.exists():
        return Check("switch", "warn", "capture is switched off", "run `claude-mem-lite on`")
    return Check("switch", "ok", "capture is on")


def check_hook_python(home: Home) -> Check:
    if not home.hook_python.is_symlink():
        return Check("hook", "fail", f"the link {home.hook_python} is missing", INSTALL)
    if trouble := interpreter.try_hook(home):
        return Check("hook", "fail", trouble, INSTALL)
    if not hook_copy.is_current(home):
        return Check("hook", "warn", "the hook program is of another version", INSTALL)
    if home.hook_python.read_bytes()[:2] == b"#!":
        return Check("hook", "warn", f"{home.hook_python} leads to a script, which makes hooks slow", INSTALL)
    return Check("hook", "ok", f"runs with {os.readlink(home.hook_python)}")


def check_worker_python(home: Home) -> Check:
    chosen = worker_interpreter(home)
    if not home.worker_python.is_symlink() or os.readlink(home.worker_python) != chosen:
        return Check("worker python", "fail", f"the link {home.worker_python} is missing or leads nowhere", INSTALL)
    program = "import claude_mem_lite; print(claude_mem_lite.__version__)"
    ran = subprocess.run([chosen, "-I", "-c", program], capture_output=True, check=False)
    version = ran.stdout.decode(errors="replace").strip()
    if ran.returncode != 0:
        return Check("worker python", "fail", f"{chosen} does not have this package", INSTALL)
    if version != __version__:
        return Check("worker python", "warn", f"{chosen} has version {version}, this is {__version__}", INSTALL)
    return Check("worker python", "ok", chosen)


def check_worker(home: Home) -> Sequence[Check]:
    """Whether a worker answers (one is started if need be), is private, has nothing in error and can do its work."""
    try:
        client = ensure_worker(home)
        health = client.health()
        return [
            _check_version(health),
            _check_socket(home),
            _check_queue(client),
            _check_meaning(health.told),
            *_check_model(home, health.told),
        ]
    except (WorkerUnavailable, WorkerRefused, OSError) as error:
        return [Check("worker", "fail", str(error))]


def check_spool(home: Home, now_s: float) -> Check:
    """Whether events were left lying: in the spool for long, or in a fallback place at all."""
    if home.dropped.exists():
        return Check("spool", "fail", "too many events wait; new ones are let go", "run `claude-mem-lite worker drain`")
    strayed = [place for place in home.fallback_spools() if _names(place)]
    if strayed:
        where = ", ".join(map(str, strayed))
        return Check("spool", "warn", f"events wait in {where}", f"see that {home.root} can be written")
    waiting = _names(home.spool_new)
    old = [name for name in waiting if is_spool_name(name) and now_s - time_of(name).timestamp() > BACKLOG_AGE_S]
    if old:
        return Check("spool", "warn", f"{len(old)} events wait for long", "run `claude-mem-lite worker drain`")
    return Check("spool", "ok", f"{len(waiting)} events wait")


def check_disk(home: Home) -> Check:
    free = shutil.disk_usage(home.root).free
    told = f"{free // 2**20:,} MiB free"
    if free < FULL_DISK_BYTES:
        return Check("disk", "fail", told, "make room, or move the data folder with CLAUDE_MEM_LITE_HOME")
    return Check("disk", "warn" if free < LOW_DISK_BYTES else "ok", told)


def check_database(path: Path) -> Check:
    if not path.exists():
        return Check(path.name, "ok", "not made yet")
    try:
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=5)
        try:
            told = str(connection.execute("pragma quick_check(1)").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.Error as error:
        told = str(error)
    if told != "ok":
        return Check(path.name, "fail", f"damaged or unreadable ({told})", f"keep a copy of {path} and report it")
    return Check(path.name, "ok", f"sound, {path.stat().st_size // 1024:,} KiB")


def _check_permission(where: Places) -> Check:
    """No fault, whatever is found: whether to be asked is the user's choice."""
    if permissions.is_allowed(where.settings, Path.cwd()):
        return Check("MCP permission", "ok", "the memory tools are allowed")
    return Check("MCP permission", "ok", permissions.ASKS, f"to allow them, add {permissions.FORM} to {where.settings}")


def _check_settings(home: Home, path: Path) -> Check:
    try:
        content = files.read(path)
        text = (content or b"").decode("utf-8") or settings.EMPTY_SETTINGS
        if settings.disables_hooks(text):
            return Check("hooks", "fail", f'{path} says "disableAllHooks"', "remove that line")
        if settings.is_current(text, hook_groups(home)):
            return Check("hooks", "ok", f"in {path}")
        if settings.has_ours(text):
            return Check("hooks", "fail", f"those in {path} are of another version or place", INSTALL)
    except SettingsError as error:
        return Check("hooks", "fail", f"{path}: {error.message}", error.next_step)
    except UnicodeDecodeError:
        return Check("hooks", "fail", f"{path} is not UTF-8", settings.NOT_TOUCHED)
    return Check("hooks", "fail", f"none of ours in {path}", INSTALL)


def _mentions_us(path: Path) -> bool:
    try:
        return settings.has_ours((files.read(path) or b"{}").decode("utf-8"))
    except (SettingsError, UnicodeDecodeError):
        return False


def _check_version(health: Health) -> Check:
    told = f"answers, process {health.pid}, version {health.version}"
    if health.version != __version__:
        return Check("worker", "warn", f"{told}, this is {__version__}", "run `claude-mem-lite worker stop`")
    if health.told.get("status") != "ok":
        reason = health.told.get("problem") or "it gives no reason"
        return Check("worker", "fail", f"{told}, but takes nothing in: {reason}", "until then events wait")
    return Check("worker", "ok", told)


def _check_socket(home: Home) -> Check:
    mode = home.socket.lstat().st_mode
    if not stat.S_ISSOCK(mode) or mode & 0o077:
        found = f"{home.socket} is open to others ({stat.S_IMODE(mode):o})"
        return Check("socket", "fail", found, "run `claude-mem-lite worker stop`")
    return Check("socket", "ok", f"{home.socket} is yours alone")


def _check_queue(client: Client) -> Check:
    counts = client.queue_counts()
    if counts.error:
        return Check("queue", "warn", f"{counts.error} events failed", "run `claude-mem-lite queue --errors`")
    return Check("queue", "ok", f"{counts.raw + counts.processing} events wait, none failed")


def _check_meaning(told: JsonObject) -> Check:
    """Whether documents get the vectors that search compares; without them it goes by words alone."""
    name = "search by meaning"
    if problem := told.get("index_problem"):
        step = "install claude-mem-lite again, then run `claude-mem-lite worker stop`: the next worker tries anew"
        return Check(name, "fail", f"{problem}; search goes by words alone", step)
    if waiting := told.get("unindexed"):
        return Check(name, "ok", f"still to be indexed: {waiting:,}; what waits is found by its words")
    return Check(name, "ok", "everything is indexed")


def _check_model(home: Home, told: JsonObject) -> Sequence[Check]:
    """How things stand with the model, when one is configured; rules need no check."""
    name, problem = str(told.get("model") or "rules"), str(told.get("model_problem") or "")
    if name == "rules":
        return [Check("model", "warn", problem, str(told.get("model_next_step") or ""))] if problem else []
    package = _SDKS.get(name.partition("/")[0])
    python = worker_interpreter(home)
    if (
        package
        and subprocess.run([python, "-I", "-c", f"import {package}"], capture_output=True, check=False).returncode
    ):
        return [Check("model", "fail", f"{python} cannot import {package}", "install claude-mem-lite again")]
    if problem:
        return [Check("model", "warn", f"{name}: {problem}", str(told.get("model_next_step") or ""))]
    return [
        Check(
            "model",
            "ok",
            f"{name}, {told.get('calls_today') or 0:,} calls, {told.get('tokens_today') or 0:,} tokens today",
        )
    ]


def _names(folder: Path) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if not name.startswith(".")]
    except OSError:
        return []
