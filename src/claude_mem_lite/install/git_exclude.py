"""Line in `.git/info/exclude` that keeps a settings file of ours out of `git status`, and its removal.

git is never started, so that no configuration of a repository runs anything. Common spellings of the line elsewhere
count; a line too many does no harm."""

import json
from pathlib import Path

from claude_mem_lite.code.git.refs import common_folder, find_checkout
from claude_mem_lite.install import install_record, settings_files
from claude_mem_lite.models import JsonValue, text
from claude_mem_lite.paths import Home

_SUFFIX = ".exclude"


def add(home: Home, root: Path, name: str) -> None:
    """Exclude a file of a checkout, unless it is known to be ignored already."""
    checkout = find_checkout(root)
    if checkout is None or checkout[0] != root or _is_ignored(root, common_folder(checkout[1]), name):
        return
    path = common_folder(checkout[1]) / "info" / "exclude"
    if path.is_symlink() or path.parent.is_symlink():  # it may lead to any file of the user
        return
    before = settings_files.read(path)
    former = before or b""
    after = former + (b"\n" if former and not former.endswith(b"\n") else b"") + f"/{name}\n".encode()
    note = {
        "path": str(path),
        "line": f"/{name}",
        "existed": before is not None,
        "made_folder": not path.parent.exists(),
        "before_sha256": install_record.sha256(former),
        "ended_in_line": not former or former.endswith(b"\n"),
    }
    home.installs.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = _note_path(home, root, name)
    settings_files.replace(kept, settings_files.read(kept), json.dumps(note, indent=2).encode() + b"\n")
    settings_files.make_folders(path.parent)
    settings_files.replace(path, before, after)


def remove(home: Home, root: Path, name: str) -> None:
    """Remove the line that `add` added, if it did; a file that was made for it goes too."""
    kept = _note_path(home, root, name)
    note: JsonValue = json.loads(settings_files.read(kept) or b"{}")
    if not isinstance(note, dict) or not note:
        return
    path, line = Path(text(note.get("path"))), text(note.get("line")).encode()
    now = settings_files.read(path)
    if now is not None and line in now.split(b"\n"):
        after = _without(now, line, ended_in_line=note.get("ended_in_line") is True)
        if not after and note.get("existed") is not True:
            settings_files.delete(path)
            settings_files.remove_empty([path.parent] if note.get("made_folder") is True else [])
        else:
            settings_files.replace(path, now, after)
    settings_files.delete(kept)
    settings_files.remove_empty([home.installs])


def _without(content: bytes, line: bytes, *, ended_in_line: bool) -> bytes:
    """Return a file without our line; without the end of the line before, too, if that was added with ours."""
    lines = content.split(b"\n")
    at = len(lines) - 1 - lines[::-1].index(line)
    is_last = at == len(lines) - 2 and lines[-1] == b""
    del lines[at]
    left = b"\n".join(lines)
    return left.removesuffix(b"\n") if is_last and not ended_in_line else left


def _is_ignored(root: Path, common: Path, name: str) -> bool:
    folder, _, base = name.rpartition("/")
    spellings = {f"{lead}{rest}" for lead in ("", "/", "**/") for rest in (name, folder, f"{folder}/", base)}
    spellings |= {f"*.{base.partition('.')[2]}", f"{folder}/*", f"/{folder}/*"}
    files = [root / ".gitignore", common / "info" / "exclude", Path.home() / ".config" / "git" / "ignore"]
    lines = {line.strip() for path in files for line in settings_files.lines_of(path)}
    return bool(lines & spellings)


def _note_path(home: Home, root: Path, name: str) -> Path:
    return home.installs / f"{install_record.key(root / name)}{_SUFFIX}"
