"""The worker: whether one answers, is private, has nothing in error, and can ask the model that is configured."""

import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

from claude_mem_lite import __version__
from claude_mem_lite.agents.permissions import tools_allowed
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.responses import Health, number, whole
from claude_mem_lite.client.worker_process import ensure_worker, worker_interpreter
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.install.doctor.check import FIX, Check
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home, current_folder
from claude_mem_lite.text import counted

NEARLY = 0.9
"""Of a cap."""
_SDKS = {"anthropic": "anthropic", "openai": "openai"}
_RAISE = "raise it in config.toml, or wait until 00:00 UTC"


def check_worker(home: Home, *, online: bool = False) -> Sequence[Check]:
    """Whether a worker answers (one is started if need be), is private, has nothing in error and can do its work."""
    try:
        client = ensure_worker(home)
        health = client.health()
        return [
            _check_version(health),
            _check_socket(home),
            _check_queue(client),
            *([_check_words(client)] if health.version == __version__ else []),  # an older one cannot tell
            _check_meaning(health.told),
            *check_composer(health.told),
            *check_lessons(health.told, tools_allowed(Path(current_folder()))),
            *_check_model(home, client, health.told, online=online),
            *_check_spend(health.told),
            *_check_backing_up(health.told),
        ]
    except MemoryLiteError as error:
        return [Check("worker", "fail", error.message, error.next_step)]
    except OSError as error:
        return [Check("worker", "fail", str(error), f"look at the end of {home.worker_log}")]


def _check_version(health: Health) -> Check:
    told = f"answers, process {health.pid}, version {health.version}"
    if health.version != __version__:
        return Check("worker", "warn", f"{told}, this is {__version__}", "run `claude-mem-lite worker stop`")
    if health.told.get("status") != "ok":
        reason = health.told.get("problem") or "it gives no reason"
        return Check("worker", "fail", f"{told}, but takes nothing in: {reason}", "until that is mended, events wait")
    return Check("worker", "ok", told)


def is_socket_open(home: Home) -> bool:
    """Whether others may talk to the worker."""
    try:
        mode = home.socket.lstat().st_mode
    except OSError:
        return False
    return not stat.S_ISSOCK(mode) or bool(mode & 0o077)


def _check_socket(home: Home) -> Check:
    if is_socket_open(home):
        mode = stat.S_IMODE(home.socket.lstat().st_mode)
        return Check(
            "socket", "fail", f"{home.socket} is open to others ({mode:o})", "run `claude-mem-lite worker stop`"
        )
    return Check("socket", "ok", f"{home.socket} is yours alone")


def _check_queue(client: Client) -> Check:
    counts = client.queue_counts()
    if counts.error:
        return Check("queue", "warn", f"{counts.error} events failed", "run `claude-mem-lite queue --errors`")
    return Check("queue", "ok", f"{counts.raw + counts.processing + counts.spooled} events wait, none failed")


def _check_words(client: Client) -> Check:
    """Whether the word indexes are sound. They are derived, so they can be made anew."""
    if damaged := client.damaged_words():
        return Check("word index", "fail", f"{' and '.join(damaged)} damaged, so search finds less", FIX)
    return Check("word index", "ok", "sound")


def _check_meaning(told: JsonObject) -> Check:
    """Whether documents get the vectors that search compares; without them it goes by words alone."""
    if problem := told.get("index_problem"):
        step = "install claude-mem-lite again, then run `claude-mem-lite worker stop`: the next worker tries anew"
        return Check("search by meaning", "fail", f"{problem}; search goes by words alone", step)
    if waiting := told.get("unindexed"):
        return Check("search by meaning", "ok", f"still to be indexed: {waiting:,}; what waits is found by its words")
    return Check("search by meaning", "ok", "everything is indexed")


def check_composer(told: JsonObject) -> Sequence[Check]:
    """Return how many turns have memories of an older version; a rebuild is offered, nothing is wrong without it."""
    if not (stale := whole(told, "stale_turns")):
        return []
    found = f"{counted(stale, 'turn has', 'turns have')} memories of an older version, which are used as they are"
    return [
        Check(
            "composer",
            "ok",
            found,
            "`claude-mem-lite rebuild --memories` makes them anew; --dry-run tells what changes",
        )
    ]


def check_lessons(told: JsonObject, are_tools_allowed: bool) -> Sequence[Check]:
    """Return how many sentences that may be lessons go unjudged, when neither the agent nor a model may judge them."""
    unsure = whole(told, "unsure_lessons")
    is_switched_off = told.get("ask_agent") is False
    if not unsure or (are_tools_allowed and not is_switched_off) or str(told.get("model") or "rules") != "rules":
        return []
    found = f"{counted(unsure, 'sentence')} of yours may be lessons, and nothing may judge them"
    needed = [] if are_tools_allowed else ["`claude-mem-lite install --allow-tools`"]
    needed += ["`ask_agent = true` in config.toml"] if is_switched_off else []
    step = (
        f"`claude-mem-lite lessons` lists them; {' with '.join(needed)} lets Claude judge such ones, or name a model "
        "in config.toml"
    )
    return [Check("lessons", "ok", found, step)]


def _check_model(home: Home, client: Client, told: JsonObject, *, online: bool) -> Sequence[Check]:
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
    if online:
        return [_check_answer(name, client)]
    if problem:
        return [Check("model", "warn", f"{name}: {problem}", str(told.get("model_next_step") or ""))]
    return [
        Check(
            "model",
            "ok",
            f"{name}, {told.get('calls_today') or 0:,} calls, {told.get('tokens_today') or 0:,} tokens today",
        )
    ]


def _check_answer(name: str, client: Client) -> Check:
    """A real request, as small as can be, because somebody asked for it."""
    tried = client.try_model()
    if problem := tried.get("problem"):
        return Check("model", "warn", f"{name}: {problem}", str(tried.get("next_step") or ""))
    return Check(
        "model", "ok", f"{name} answered in {tried.get('ms') or 0:,.0f} ms, {tried.get('tokens') or 0:,} tokens"
    )


def _check_spend(told: JsonObject) -> Sequence[Check]:
    """What was spent today, held against the caps of a day; nothing to tell without a model."""
    if str(told.get("model") or "rules") == "rules" or told.get("daily_usd") is None:
        return []
    spent, cap = number(told, "spend_today"), number(told, "daily_usd")
    tokens, most = number(told, "tokens_today"), number(told, "daily_tokens")
    found = f"${spent:.2f} of ${cap:.2f} and {tokens:,.0f} of {most:,.0f} tokens today"
    if not cap or not most:
        return [Check("spend", "warn", f"{found}; a cap of 0 lets no call through", "raise it in config.toml")]
    is_near = spent >= NEARLY * cap or tokens >= NEARLY * most
    return [Check("spend", "warn" if is_near else "ok", found, _RAISE if is_near else "")]


def _check_backing_up(told: JsonObject) -> Sequence[Check]:
    """Why no backup is made, when the last one failed."""
    problem = told.get("backup_problem")
    step = "see that there is room on the disk; the worker tries again by itself"
    return [Check("backups", "warn", str(problem), step)] if problem else []
