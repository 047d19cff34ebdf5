"""A repository of made-up sources, made by git itself: branches, changes, deleted and moved files."""

import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.anchored_sources import functions_in, path_of, text_of

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A Benchmark",
    "GIT_AUTHOR_EMAIL": "benchmark@example.invalid",
    "GIT_COMMITTER_NAME": "A Benchmark",
    "GIT_COMMITTER_EMAIL": "benchmark@example.invalid",
    "GIT_EDITOR": "true",
}


class MadeRepository:
    """A checkout on `main` whose files are numbered."""

    def __init__(self, root: Path, files: int) -> None:
        self.root = root
        self.files = files
        self._changes: dict[int, dict[int, int]] = {}

    def begin(self) -> str:
        """All files in one commit, packed as a clone has them; the commit."""
        self.root.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        for number in range(self.files):
            self._write(number)
        commit = self.commit("Begin")
        self.git("gc", "--quiet")
        return commit

    def git(self, *arguments: str) -> str:
        environment = {"PATH": os.environ["PATH"], **_ENVIRONMENT}
        # no housekeeping of its own in the background: it would be at work while we measure
        command = ["git", "-C", str(self.root), "-c", "gc.auto=0", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def text(self, number: int) -> str:
        return text_of(number, self._changes.get(number, {}))

    def change(self, number: int, functions: Sequence[int]) -> None:
        """Change some functions of a file."""
        times = self._changes.setdefault(number, {})
        for at in functions:
            times[at] = times.get(at, 0) + 1
        self._write(number)

    def delete(self, number: int) -> None:
        (self.root / path_of(number)).unlink()

    def move(self, number: int) -> None:
        """Move a file into another folder, as it is."""
        path = self.root / path_of(number)
        path.rename(path.parent.parent / path.name)

    def branch(self, name: str, numbers: Sequence[int], *, merge: bool = False) -> None:
        """A branch off main with a commit of its own that changes one function of each file; main is left as it was."""
        before = {number: dict(self._changes.get(number, {})) for number in numbers}
        self.git("switch", "--quiet", "--create", name)
        for number in numbers:
            self.change(number, [random.Random(number).randrange(functions_in(number))])
        self.commit(f"Work on {name}")
        self.git("switch", "--quiet", "main")
        if merge:
            self.git("merge", "--quiet", "--no-ff", "--no-edit", name)
        else:
            self._changes |= before

    def _write(self, number: int) -> None:
        path = self.root / path_of(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(number))
