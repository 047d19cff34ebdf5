"""Copy of the hook program in the home. Agents run the copy.

Python exits with 2 when a script is missing, and 2 blocks the user's prompt. So hooks must not depend on a package that
may be removed, moved or half upgraded while an agent works. `install` makes the copy, a worker keeps the copy
current."""

from pathlib import Path

from claude_mem_lite.paths import Home

_SOURCE = Path(__file__).parent / "hook"


def make(home: Home) -> None:
    """Update every file of the copy; no file is missing at any moment."""
    folder = home.hook_program.parent
    # The cache folder too: Python would make it readable for everybody.
    for each in (home.root, folder.parent, folder, folder / "__pycache__"):
        each.mkdir(mode=0o700, exist_ok=True)
        _close(each, 0o700)
    for source in _sources():
        if _content(folder / source.name) != source.read_bytes():
            fresh = folder / f".{source.name}.tmp"
            fresh.write_bytes(source.read_bytes())
            fresh.chmod(0o600)
            fresh.replace(folder / source.name)
        _close(folder / source.name, 0o600)  # compiled files get the same mode


def is_current(home: Home) -> bool:
    folder = home.hook_program.parent
    return all(_content(folder / source.name) == source.read_bytes() for source in _sources())


def _close(path: Path, mode: int) -> None:
    """Remove the permissions of other users."""
    if path.stat().st_mode & 0o077:
        path.chmod(mode)


def _sources() -> list[Path]:
    """Return the modules, the launcher last: a run during the update finds old or new modules, never none."""
    return sorted(_SOURCE.glob("[!_]*.py"), key=lambda path: path.name == "hook.py")


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
