"""Which Python runs what: this program, the hook and the worker, and the SQLite that came with it."""

import os
import platform
import sqlite3
import subprocess
import sys

import claude_mem_lite
from claude_mem_lite import __version__, hook_program
from claude_mem_lite.client.worker_process import worker_interpreter
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.install import interpreter
from claude_mem_lite.install.doctor.check import INSTALL, Check
from claude_mem_lite.paths import Home

OLDEST_SQLITE = (3, 35)
OLDEST_PYTHON = (3, 11)


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


def check_python() -> Check:
    """The Python of this program, and the one behind it, without venv or shim, that hooks are run with."""
    told = f"{platform.python_implementation()} {platform.python_version()}"
    if sys.version_info < OLDEST_PYTHON:
        return Check("python", "fail", f"{told} is too old", "install the package with Python 3.11 or newer")
    try:
        base = interpreter.base_interpreter()
    except MemoryLiteError as error:
        return Check("python", "fail", f"{told}: {error.message}", error.next_step)
    return Check("python", "ok", f"{told}, hooks can run with {base}")


def is_installed_from(home: Home) -> bool:
    """Whether the home has, or had, a hook program and its links: `doctor --fix` makes them anew."""
    return home.installs.is_dir() or home.hook_program.exists() or home.hook_python.is_symlink()


def check_hook_python(home: Home, setup: str = INSTALL) -> Check:
    """Whether a hook runs; `setup` is what makes its links and its program."""
    if not home.hook_python.is_symlink():
        return Check("hook", "fail", f"the link {home.hook_python} is missing", setup)
    if trouble := interpreter.try_hook(home):
        return Check("hook", "fail", trouble, setup)
    if not hook_program.is_current(home):
        return Check("hook", "warn", "the hook program is of another version", setup)
    if home.hook_python.read_bytes()[:2] == b"#!":
        return Check("hook", "warn", f"{home.hook_python} leads to a script, which makes hooks slow", setup)
    return Check("hook", "ok", f"runs with {os.readlink(home.hook_python)}")


def check_worker_python(home: Home, setup: str = INSTALL) -> Check:
    chosen = worker_interpreter(home)
    if not home.worker_python.is_symlink() or os.readlink(home.worker_python) != chosen:
        return Check("worker python", "fail", f"the link {home.worker_python} is missing or leads nowhere", setup)
    program = "import claude_mem_lite; print(claude_mem_lite.__version__); print(claude_mem_lite.__file__)"
    ran = subprocess.run([chosen, "-I", "-c", program], capture_output=True, check=False)
    version, _, package = ran.stdout.decode(errors="replace").strip().partition("\n")
    if ran.returncode != 0:
        return Check("worker python", "fail", f"{chosen} does not have this package", setup)
    if version != __version__:
        return Check("worker python", "warn", f"{chosen} has version {version}, this is {__version__}", setup)
    if os.path.realpath(package) != os.path.realpath(claude_mem_lite.__file__):
        return Check("worker python", "warn", f"{chosen} is of another installation than this program", setup)
    return Check("worker python", "ok", chosen)
