"""Links in the home to the Pythons of hook and worker, and a trial run of the hook.

`hook_install` makes the links, `doctor` checks them."""

import os
import secrets
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.paths import HOME_VARIABLE, Home

TRIAL_TIMEOUT_S = 20
_TRIAL_EVENT = b'{"hook_event_name":"Stop","session_id":"trial"}'
_PRINT_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


def base_interpreter() -> Path:
    """Return the Python behind this one: no venv, no version manager's shim, and fit to run the hook.

    The name below the prefix comes first: package managers keep the name through an upgrade, while its target goes away
    with the old version."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    base = getattr(sys, "_base_executable", None) or sys.executable
    candidates = [Path(sys.base_prefix, "bin", f"python{version}"), Path(os.path.realpath(base))]
    for candidate in candidates:
        if why_unfit(candidate, version) is None:
            return candidate
    reasons = ", ".join(f"{each} {why_unfit(each, version)}" for each in candidates)
    raise MemoryLiteError(f"no Python was found that can run the hooks ({reasons})", "install from another Python")


def is_temporary(prefix: Path) -> bool:
    """Return whether an environment is one that `uvx` or `pipx run` keeps in a cache, which may be emptied."""
    parts = prefix.parts
    of_uv = any(part.startswith(("archive-v", "environments-v")) for part in parts) and "uv" in parts
    return of_uv or {"pipx", ".cache"} <= set(parts)


def why_unfit(interpreter: Path, version: str) -> str | None:
    """Return why a program cannot run the hook; None if it can."""
    try:
        with interpreter.open("rb") as program:
            if program.read(2) == b"#!":
                return "is a script that only leads to a Python"
        ran = subprocess.run(
            [interpreter, "-I", "-S", "-c", _PRINT_VERSION],
            capture_output=True,
            timeout=TRIAL_TIMEOUT_S,
            check=False,
        )
    except OSError as error:
        return f"cannot be run ({error.strerror})"
    except subprocess.TimeoutExpired:
        return "does not end"
    if ran.returncode != 0 or ran.stdout.decode().strip() != version:
        return f"does not run as Python {version} without its site packages"
    return None


def link(path: Path, target: Path | str) -> None:
    """Make `path` a link to `target`; the link is missing at no moment."""
    with suppress(OSError):
        if os.readlink(path) == str(target):
            return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    temporary.symlink_to(target)
    temporary.replace(path)


def make_links(home: Home) -> None:
    link(home.hook_python, base_interpreter())
    # Not resolved: a venv is found by the name of its python.
    link(home.worker_python, sys.executable)


def try_hook(home: Home) -> str | None:
    """Run one hook as the agent would, in a temporary home; return the problem, None after success.

    The trial also leaves the compiled modules beside the program, for the real runs.

    A hook hides its errors and always exits 0: only the saved event proves that the hook works."""
    with tempfile.TemporaryDirectory(prefix="claude-mem-lite-") as scratch:
        try:
            ran = subprocess.run(
                [home.hook_python, "-I", "-S", home.hook_program, "Stop"],
                input=_TRIAL_EVENT,
                capture_output=True,
                env={HOME_VARIABLE: scratch, "HOME": scratch, "PATH": os.environ.get("PATH", "")},
                timeout=TRIAL_TIMEOUT_S,
                check=False,
            )
        except OSError as error:
            return f"{home.hook_python} cannot be run ({error.strerror})"
        except subprocess.TimeoutExpired:
            return f"the hook did not end within {TRIAL_TIMEOUT_S} s"
        if ran.returncode != 0 or ran.stdout or ran.stderr:
            return f"the hook ended with {ran.returncode} or printed something"
        saved = [path.read_bytes() for path in Home(Path(scratch)).spool_new.glob("*")]
        return None if saved == [_TRIAL_EVENT] else "the hook ran but kept nothing"
