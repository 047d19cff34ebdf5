"""The copy of the hook program in the home, which is the one that agents run.

Python exits with 2 when a script is missing, and 2 blocks the user's prompt: so hooks must not depend on a
package that may be removed, moved or half upgraded while an agent works. `install` makes the copy, a worker
keeps it current."""

from pathlib import Path

from claude_mem_lite.paths import Home

_SOURCE = Path(__file__).parent / "hook"


def make(home: Home) -> None:
    """Bring every file of the copy up to date, each without a moment in which it is missing."""
    folder = home.hook_program.parent
    # The last one too: Python would make it for all to read.
    for each in (home.root, folder.parent, folder, folder / "__pycache__"):
        each.mkdir(mode=0o700, exist_ok=True)
        _close(each, 0o700)
    for source in _sources():
        if _content(folder / source.name) != source.read_bytes():
            fresh = folder / f".{source.name}.tmp"
            fresh.write_bytes(source.read_bytes())
            fresh.chmod(0o600)
            fresh.replace(folder / source.name)
        _close(folder / source.name, 0o600)  # what Python compiles of it gets the same mode


def is_current(home: Home) -> bool:
    folder = home.hook_program.parent
    return all(_content(folder / source.name) == source.read_bytes() for source in _sources())


def _close(path: Path, mode: int) -> None:
    """Let nobody but the user at it."""
    if path.stat().st_mode & 0o077:
        path.chmod(mode)


def _sources() -> list[Path]:
    """The launcher last: while its modules are replaced, whoever runs it finds old or new ones, never none."""
    return sorted(_SOURCE.glob("[!_]*.py"), key=lambda path: path.name == "hook.py")


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
