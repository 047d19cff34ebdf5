"""Check of guards: the file of each project, the hooks in settings, and each guard's own two examples, tried with the
hook program that agents run."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from claude_mem_lite import held_guards
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.held_guards import HeldExample, HeldGuard
from claude_mem_lite.install import guard_hooks, guard_layer, settings_files, settings_merge
from claude_mem_lite.install.doctor.check import FIX, Check
from claude_mem_lite.install.hook_config import GUARD_EVENT
from claude_mem_lite.install.targets import AGENT_TEXTS
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import HOME_VARIABLE, Home
from claude_mem_lite.text import counted

_REWRITE = "run `claude-mem-lite worker stop`: the next worker writes the file anew"
_TRIAL_TIMEOUT_S = 10.0
TRIAL = "CLAUDE_MEM_LITE_TRIAL"


def check_guards(home: Home) -> Sequence[Check]:
    """Check the guards in force; nothing without any."""
    names = held_guards.names(home)
    if not names and not guard_layer.load_all(home):
        return []
    if home.off_switch.exists():
        return [Check("guards", "warn", "no guard holds while memory is off", "run `claude-mem-lite on`")]
    if not home.can_run_hooks():
        finding = "no guard holds: the program of the hooks is missing"
        return [Check("guards", "fail", finding, "run `claude-mem-lite install`")]
    checks = [*_check_settings(home), *(check for name in names for check in _check_file(home, name))]
    if failed := held_guards.failure(home, guard_hooks.HERE):
        checks.append(Check("guards", "warn", f"a call passed unchecked: {failed}", _REWRITE))
    return checks


def misplaced(home: Home) -> Sequence[Path]:
    """Return the settings whose hooks of guards are missing, or not the present ones."""
    placed = guard_hooks.required(home)
    leftover = [record.settings for record in guard_layer.load_all(home) if record.settings not in placed]
    return [*(path for path, (_, groups) in placed.items() if not guard_layer.is_current(path, groups)), *leftover]


def _check_settings(home: Home) -> Iterator[Check]:
    placed = guard_hooks.required(home)
    for path in misplaced(home):
        is_required = path in placed
        finding = f"the hook of your guards is {'missing or outdated' if is_required else 'left over'} in {path}"
        yield Check("guards", "fail" if is_required else "warn", finding, FIX)
    for path, (agent, _) in placed.items():
        if _disables_hooks(path):
            finding = f'{path} says "disableAllHooks", so no guard holds in {AGENT_TEXTS[agent].name}'
            yield Check("guards", "fail", finding, "remove that line")


def _disables_hooks(path: Path) -> bool:
    try:
        text = settings_files.decoded(path, settings_files.read(path)) or settings_merge.EMPTY_SETTINGS
        return settings_merge.disables_hooks(text)
    except SettingsError:
        return False


def _check_file(home: Home, name: str) -> Sequence[Check]:
    path = home.guards / name
    try:
        guards = held_guards.read(home, name)
    except (OSError, ValueError) as error:
        finding = f"{path} is broken, so every call passes ({type(error).__name__})"
        return [Check("guards", "fail", finding, _REWRITE)]
    checks = []
    if guards and name not in {root.name for root in guard_hooks.roots(home)}:
        finding = "guards are in force, but no folder of their project has the hook"
        checks.append(Check("guards", "warn", finding, f"run `claude-mem-lite guards resume {guards[0].id}`"))
    if failed := held_guards.failure(home, name):
        checks.append(Check("guards", "warn", f"a call passed unchecked: {failed}", _REWRITE))
    with tempfile.TemporaryDirectory(prefix="claude-mem-lite-") as folder:
        root = Path(os.path.realpath(folder))
        (root / ".git").mkdir()
        (root / ".git" / "HEAD").write_text("ref: refs/heads/claude-mem-lite-trial\n")
        checks += [check for guard in guards for check in _check_guard(home, name, guard, root)]
    if checks or not guards:
        return checks
    found = f"{counted(len(guards), 'guard')} of {guards[0].project}: each fires on its example, and not on the other"
    return [Check("guards", "ok", found)]


def _check_guard(home: Home, name: str, guard: HeldGuard, root: Path) -> Iterator[Check]:
    step = f"run `claude-mem-lite guards show {guard.id}`, and remove it if it is wrong"
    if guard.fires_on.text and guard.id not in _fired(home, name, guard.fires_on, root):
        finding = f"guard {guard.id} does not fire on its example: {guard.fires_on.text}"
        yield Check("guards", "fail", finding, step)
    if guard.passes_on.text and guard.id in _fired(home, name, guard.passes_on, root):
        finding = f"guard {guard.id} fires on what it should let pass: {guard.passes_on.text}"
        yield Check("guards", "fail", finding, step)


def _fired(home: Home, name: str, example: HeldExample, root: Path) -> Sequence[str]:
    """Return the guards that fire on an example, by the hook program in the home."""
    written = {"file_path": f"{root}/{example.text}", "content": example.text}
    given = {"command": example.text} if example.tool == "Bash" else written
    payload = {"hook_event_name": GUARD_EVENT, "cwd": str(root), "tool_name": example.tool, "tool_input": given}
    command = [str(home.hook_python), "-I", "-S", str(home.hook_program), GUARD_EVENT, name]
    environment = {"HOME": str(Path.home()), HOME_VARIABLE: str(home.root), TRIAL: "1"}
    try:
        done = subprocess.run(
            command,
            input=json.dumps(payload).encode(),
            env=environment,
            cwd=root,
            capture_output=True,
            timeout=_TRIAL_TIMEOUT_S,
            check=False,
        )
        answer: JsonValue = json.loads(done.stdout or b"{}")
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ()
    fired = answer.get("fired") if isinstance(answer, dict) else None
    return [str(each) for each in fired] if isinstance(fired, list) else ()
