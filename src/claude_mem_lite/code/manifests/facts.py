"""Facts about a project from its manifests and README: role, commands, main dependencies.

The worker reads facts for a new project, and after changes to the files. Files are only read; nothing is run."""

import hashlib
import os
from typing import Literal, NamedTuple, get_args

from claude_mem_lite.code.manifests.commands import commands
from claude_mem_lite.code.manifests.dependencies import MAX_COUNTED, MAX_LISTED, dependencies, language_version
from claude_mem_lite.code.manifests.manifest_files import MANIFESTS, READMES, ManifestFolder
from claude_mem_lite.code.manifests.role import role
from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order
from claude_mem_lite.safety.redact import redact

Slot = Literal["role", "commands", "dependencies"]
SLOTS: tuple[Slot, ...] = get_args(Slot)
_NAMES = (*MANIFESTS, *READMES)
NAMES = frozenset(_NAMES)
"""Names of the files with facts."""
# Version of the wording of facts. A change makes the worker read all facts again.
_WORDING_VERSION = "2"


class Fact(NamedTuple):
    slot: Slot
    line: str
    files: tuple[str, ...]
    """Files with the fact."""


def read_facts(root: str) -> list[Fact]:
    """Return the facts of a checkout, at most one fact a slot, each on one line."""
    found = []
    files = ManifestFolder(root)
    for slot, read in (("role", _role), ("commands", _commands), ("dependencies", _dependencies)):
        files.used = {}
        line = read(files)
        if line and redact(line) == line and not reads_like_an_order(line):
            found.append(Fact(slot, line, tuple(files.used)))  # type: ignore[arg-type]  # one of the slots above
    return found


def signature(root: str) -> str:
    """Return a short fingerprint of the manifests, changed by any change to them; '' without manifests.

    The fingerprint takes some forty `lstat` calls; no file is read."""
    seen = []
    for name in _NAMES:
        try:
            now = os.lstat(os.path.join(root, name))
        except (OSError, ValueError):
            continue
        seen.append(f"{name} {now.st_size} {now.st_mtime_ns}")
    return hashlib.sha256("\n".join((_WORDING_VERSION, *seen)).encode()).hexdigest()[:16] if seen else ""


def _role(root: ManifestFolder) -> str:
    text = role(root)
    return f"What it is: {text}" if text else ""


def _commands(root: ManifestFolder) -> str:
    text = ", ".join(f"{purpose} `{line}`" for purpose, line in commands(root))
    return f"Commands: {text}" if text else ""


def _dependencies(root: ManifestFolder) -> str:
    names, version = dependencies(root), language_version(root)
    number = len(names) - MAX_LISTED
    more = "" if number <= 0 else f" and {number} more" if len(names) < MAX_COUNTED // 2 else " and many more"
    listed = f"{', '.join(names[:MAX_LISTED])}{more}"
    if not names:
        return f"Language: {version}" if version else ""
    return f"Main dependencies: {listed}" + (f" ({version})" if version else "")
