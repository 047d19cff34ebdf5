"""Selection of a test command: program, folder, options, targets and excluded tests.

`Selection.covers` compares two selections. In doubt a selection does not cover another. Pure."""

import posixpath
import shlex
from collections import deque
from collections.abc import Sequence

from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.values import frozen

_GO = "go test"
_CARGO = "cargo test"
_MAX_WORDS = 200
_SCRIPT = lazy(r"\S*/|(?:python[\d.]*|node|ruby|bash|sh|zsh|perl|php|tsx|ts-node)$")
_WORKING_ROLES = ("test", "build", "lint", "install", "run")
_VALUE = lazy(r"[A-Za-z_]\w*=.*")
_CHANGE_FOLDER = lazy(r"(?:builtin )?(?:cd|pushd)\s+(?:--\s+)?(.+)")
# Options for output and parallel work, without effect on the selection.
_PRINTING = lazy(
    r"-(?:[vqslx]+|r[AaEfpPsSxXw]+|i|n|json|parallel|count|failfast|shuffle|cover\w*)"
    r"|--(?:verbose|quiet|silent|(?:no-)?colou?rs?|pretty|tb|no-header|no-summary|cov(?!-fail)\S*|no-cov|coverage"
    r"|durations\S*|maxfail|exitfirst|lf|ff|last-failed|failed-first|reporters?|ci|bail|forceExit|detectOpenHandles"
    r"|runInBand|maxWorkers|watch|watchAll|run|no-fail-fast|nocapture|show-output|test-threads|showlocals|capture"
    r"|disable-warnings|numprocesses|dist|progress|logHeapUsage)"
)
_PRINTING_WITH_VALUE = frozenset(
    ("-n", "--tb", "--color", "--maxfail", "--durations", "--reporter", "--reporters", "--maxWorkers", "--dist",
     "--test-threads", "--capture", "--numprocesses", "-parallel", "-count", "--cov", "--cov-report")
)  # fmt: skip
# Options that exclude tests: without the option the same command runs more tests.
_NARROWING = frozenset(
    ("-k", "--deselect", "--ignore", "--ignore-glob", "-run", "-skip", "--skip", "-short", "-t", "-g",
     "--testNamePattern", "--testPathPattern", "--test-name-pattern", "--grep", "--filter")
)  # fmt: skip
_WITHOUT_VALUE = frozenset(("-short",))
_OTHERS_WITH_VALUE = frozenset(
    ("-m", "-p", "-c", "-o", "-W", "-C", "-f", "-e", "-tags", "-timeout", "--timeout", "--config", "--project",
     "--package", "--features", "--bin", "--test", "--example", "--manifest-path", "--prefix", "--rootdir", "--target")
)  # fmt: skip


@frozen
class Selection:
    """The checks of one command."""

    program: str = ""
    folder: str = ""
    options: frozenset[str] = frozenset()
    """Options that may change the checks."""
    narrowing: frozenset[tuple[str, str]] = frozenset()
    """Options that exclude tests, with values."""
    targets: tuple[str, ...] = ()
    """Paths, packages, names of tests; empty for all tests."""
    beside: frozenset[str] = frozenset()
    """Other commands of the same line that may fail."""

    def covers(self, other: "Selection") -> bool:
        """Return whether the selection includes all checks of another."""
        if (self.program, self.folder, self.options) != (other.program, other.folder, other.options):
            return False
        if not self.narrowing <= other.narrowing:
            return False
        if _SCRIPT.match(self.program):
            return self.targets == other.targets  # the meaning of the arguments is unknown
        if not self.targets:
            # `go test` without a package tests the package of the folder.
            return not other.targets or self.program != _GO
        return bool(other.targets) and all(
            any(self._reaches(own, target) for own in self.targets) for target in other.targets
        )

    def _reaches(self, target: str, tested: str) -> bool:
        """Return whether a target includes a test or another target."""
        if target == tested:
            return True
        if self.program == _CARGO:
            return target in tested  # cargo takes a part of a name
        if target in (".", "..."):
            return not tested.startswith(("/", "..")) and (target == "..." or self.program != _GO)
        if self.program == _GO:
            folder = target.removesuffix("/...")
            return target != folder and (tested.removesuffix("/...") == folder or tested.startswith(f"{folder}/"))
        dotted = "" if "/" in target or "/" in tested else "."
        return any(tested.startswith(f"{target}{mark}") for mark in ("/", "::", "[", " > ", dotted) if mark)


def read_selection(command: str, cwd: str = "") -> Selection:
    """Return the selection of the main part of a command line in a folder."""
    main, _ = shell.main_part(command)
    folder = _folder(command, main, cwd)
    program, rest = _program(shell.unwrapped(main))
    options, narrowing, targets = _arguments(rest, folder)
    others = [part for part in shell.parts(command) if part != main and shell.role(part) in _WORKING_ROLES]
    return Selection(
        program,
        folder,
        options,
        narrowing,
        tuple(target for target in targets if (program, target) != ("vitest", "run")),
        frozenset(map(shell.key, others)),
    )


def _folder(command: str, main: str, cwd: str) -> str:
    """Return the folder of the main part."""
    folder = cwd.rstrip("/")
    for part in map(shell.bare, shell.raw_parts(command)):
        if part == main:
            break
        if change := _CHANGE_FOLDER.fullmatch(part):
            folder = _inside(folder, change[1].strip("\"'"))
    return folder


def _inside(folder: str, change: str) -> str:
    """Return the folder after `cd`. Clients report the folder after the command, which may include the change."""
    change = change.rstrip("/") or "/"
    if change.startswith(("/", "~", "$")):
        return change
    bare = posixpath.normpath(change)
    if not bare.startswith("..") and bare != "." and folder.endswith(f"/{bare}"):
        return folder
    return posixpath.normpath(f"{folder}/{change}")


def _program(unwrapped: str) -> tuple[str, list[str]]:
    """Return the program with subcommand, and the words behind."""
    try:
        words = shlex.split(unwrapped)
    except ValueError:
        words = unwrapped.split()
    if len(words) > _MAX_WORDS:
        return unwrapped, []  # covered by nothing but itself
    program = shell.tool(unwrapped)
    rest = words[:]
    for word in program.split():
        if word in rest:
            rest.remove(word)
    return program, rest


def _arguments(words: Sequence[str], folder: str) -> tuple[frozenset[str], frozenset[tuple[str, str]], list[str]]:
    """Return the relevant options, the options that exclude tests, and the targets."""
    options: list[str] = []
    narrowing: list[tuple[str, str]] = []
    targets: list[str] = []
    waiting = deque(words)
    while waiting:
        word = waiting.popleft()
        if _VALUE.fullmatch(word):
            options.append(word)
            continue
        if not word.startswith("-"):
            targets.append(_target(word, folder))
            continue
        flag, equals, value = word.partition("=")
        takes = flag in _NARROWING - _WITHOUT_VALUE or flag in _OTHERS_WITH_VALUE or flag in _PRINTING_WITH_VALUE
        if takes and not equals and waiting and not waiting[0].startswith("-"):
            value = waiting.popleft()
        if flag in _NARROWING and (value or flag in _WITHOUT_VALUE):
            narrowing.append((flag, value))
        elif not (_PRINTING.fullmatch(flag) or word == "--"):
            options.append(f"{flag}={value}" if value else flag)
    return frozenset(options), frozenset(narrowing), targets


def _target(word: str, folder: str) -> str:
    """Return a path relative to the folder, in normal form."""
    word = word.removeprefix(f"{folder}/") if folder else word
    return word.removeprefix("./").rstrip("/") or "."
