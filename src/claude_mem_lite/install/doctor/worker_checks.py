"""Checks of the worker: its answer, socket, queue, indexes, model and backups."""

import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

from claude_mem_lite import __version__
from claude_mem_lite.agents.permissions import tools_allowed
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import ensure_worker, worker_interpreter
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.install.doctor.check import FIX, Check
from claude_mem_lite.install.doctor.team_checks import check_team
from claude_mem_lite.paths import Home, current_folder
from claude_mem_lite.responses.status import Health
from claude_mem_lite.text import counted

NEARLY = 0.9
"""Share of a cap that gives a warning."""
_SDKS = {"anthropic": "anthropic", "openai": "openai"}
_RAISE = "raise it in config.toml, or wait until 00:00 UTC"


def check_worker(home: Home, *, online: bool = False) -> Sequence[Check]:
    """Check the worker, which is started if none runs."""
    try:
        client = ensure_worker(home)
        health = client.health()
        return [
            _check_version(health),
            _check_socket(home),
            _check_queue(client),
            *([_check_words(client)] if health.version == __version__ else []),  # older workers lack the route
            _check_meaning(health),
            *check_composer(health),
            *check_lessons(health, tools_allowed(Path(current_folder()))),
            *_check_model(home, client, health, online=online),
            *_check_spend(health),
            *_check_backing_up(health),
            *(check_team(home, client, online=online) if health.version == __version__ else []),
        ]
    except MemoryLiteError as error:
        return [Check("worker", "fail", error.message, error.next_step)]
    except OSError as error:
        return [Check("worker", "fail", str(error), f"see the end of {home.worker_log}")]


def _check_version(health: Health) -> Check:
    found = f"answers, process {health.pid}, version {health.version}"
    if health.version != __version__:
        return Check("worker", "warn", f"{found}, this is {__version__}", "run `claude-mem-lite worker stop`")
    if health.status != "ok":
        reason = health.problem or "it gives no reason"
        return Check("worker", "fail", f"{found}, but takes nothing in: {reason}", "until that is fixed, events wait")
    return Check("worker", "ok", found)


def is_socket_open(home: Home) -> bool:
    """Return True if other users may talk to the worker."""
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
    """Check the word indexes. They are derived, so they can be rebuilt."""
    if damaged := client.damaged_words():
        return Check("word index", "fail", f"{' and '.join(damaged)} damaged, so search finds less", FIX)
    return Check("word index", "ok", "sound")


def _check_meaning(health: Health) -> Check:
    """Check that documents get vectors; without vectors search goes by words alone."""
    if problem := health.index_problem:
        step = "install claude-mem-lite again, then run `claude-mem-lite worker stop`: the next worker tries anew"
        return Check("search by meaning", "fail", f"{problem}; search goes by words alone", step)
    if waiting := health.unindexed:
        return Check("search by meaning", "ok", f"still to be indexed: {waiting:,}; what waits is found by its words")
    return Check("search by meaning", "ok", "everything is indexed")


def check_composer(health: Health) -> Sequence[Check]:
    """Return the number of turns with memories of an older version; a rebuild is an offer, not a repair."""
    if not (stale := health.stale_turns):
        return []
    found = f"{counted(stale, 'turn has', 'turns have')} memories of an older version, which are used as they are"
    return [
        Check(
            "composer",
            "ok",
            found,
            "`claude-mem-lite rebuild --memories` makes them again; --dry-run shows what would change",
        )
    ]


def check_lessons(health: Health, are_tools_allowed: bool) -> Sequence[Check]:
    """Return the number of lesson candidates, if neither the agent nor a model may judge them."""
    unsure = health.unsure_lessons
    is_switched_off = not health.ask_agent
    if not unsure or (are_tools_allowed and not is_switched_off) or health.model != "rules":
        return []
    found = f"{counted(unsure, 'sentence')} of yours may be lessons, and nothing may judge them"
    needed = [] if are_tools_allowed else ["`claude-mem-lite install --allow-tools`"]
    needed += ["`ask_agent = true` in config.toml"] if is_switched_off else []
    step = (
        f"`claude-mem-lite lessons --all-projects` lists them; {' with '.join(needed)} lets Claude judge "
        "such ones, or name a model in config.toml"
    )
    return [Check("lessons", "ok", found, step)]


def _check_model(home: Home, client: Client, health: Health, *, online: bool) -> Sequence[Check]:
    """Check the model, if one is configured."""
    name, problem = health.model, health.model_problem
    if name == "rules":
        return [Check("model", "warn", problem, health.model_next_step)] if problem else []
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
        return [Check("model", "warn", f"{name}: {problem}", health.model_next_step)]
    return [Check("model", "ok", f"{name}, {health.calls_today:,} calls, {health.tokens_today:,} tokens today")]


def _check_answer(name: str, client: Client) -> Check:
    """Check the model with a real request, as small as possible."""
    trial = client.try_model()
    if trial.problem:
        return Check("model", "warn", f"{name}: {trial.problem}", trial.next_step)
    return Check("model", "ok", f"{name} answered in {trial.ms:,.0f} ms, {trial.tokens:,} tokens")


def _check_spend(health: Health) -> Sequence[Check]:
    """Compare today's spending with the caps, if a model is configured."""
    if health.model == "rules" or health.daily_usd is None:
        return []
    spent, cap = health.spend_today, health.daily_usd
    tokens, most = health.tokens_today, health.daily_tokens
    found = f"${spent:.2f} of ${cap:.2f} and {tokens:,} of {most:,} tokens today"
    if not cap or not most:
        return [Check("spend", "warn", f"{found}; a cap of 0 lets no call through", "raise it in config.toml")]
    is_near = spent >= NEARLY * cap or tokens >= NEARLY * most
    return [Check("spend", "warn" if is_near else "ok", found, _RAISE if is_near else "")]


def _check_backing_up(health: Health) -> Sequence[Check]:
    """Return the problem of the last backup, if it failed."""
    step = "see that there is room on the disk; the worker tries again by itself"
    return [Check("backups", "warn", health.backup_problem, step)] if health.backup_problem else []
