"""Selection of a command: which program it runs, where, on what, and which tests it leaves out.

`Selection.covers` compares two of them. In doubt a selection does not cover another. Pure."""

import posixpath
import re
import shlex
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.tools import shell
from claude_mem_lite.patterns import lazy

_GO = "go test"
_CARGO = "cargo test"
_MAX_WORDS = 200
_WITH_SUBCOMMAND = ("ruff", "biome", "deno", "buf", "dprint")
# Those that take paths and names of tests as their arguments.
_RUNNERS = frozenset(
    ("pytest", "py.test", "vitest", "jest", "mocha", "ava", "rspec", "phpunit", "bun test", "deno test", _CARGO)
)
_INTERPRETER = r"(?:python[\d.]*|node|ruby|bash|sh|zsh|perl|php|tsx|ts-node)"
_SCRIPT = lazy(rf"\S*/|{_INTERPRETER}(?: |$)")
_INTERPRETED = lazy(_INTERPRETER)
_VALUE = lazy(r"[A-Za-z_]\w*=.*")
_WORKING_ROLES = ("test", "build", "lint", "install", "run")
_CHANGE_FOLDER = lazy(r"(?:builtin )?(?:cd|pushd)\s+(?:--\s+)?(.+)")
_SETTING = lazy(r"(?:export\s+)?([A-Za-z_]\w*=\S*)\s*|(sudo)\s+|(?:time|nice|exec|command|env|if|then|do)\s+|[!(]+\s*")
_EXPORT = lazy(r"export\s+\w+=")
# Options that change what is printed or how parallel it works, but not what it checks: of any program, and of tests.
_PRINTING = lazy(r"-[vq]+|--(?:verbose|quiet|silent|(?:no-)?colou?rs?|output-format|message-format|statistics|pretty)")
_TEST_PRINTING = lazy(
    r"-(?:[vqslx]+|r[AaEfpPsSxXw]+|i|n|json|parallel|count|failfast|shuffle|cover\w*)"
    r"|--(?:tb|no-header|no-summary|cov(?!-fail)\S*|no-cov|coverage|durations\S*|maxfail|exitfirst|lf|ff|last-failed"
    r"|failed-first|reporters?|ci|bail|forceExit|detectOpenHandles|runInBand|maxWorkers|watch|watchAll|run|no-fail-fast"
    r"|nocapture|show-output|test-threads|showlocals|capture|disable-warnings|numprocesses|dist|progress|logHeapUsage)"
)
_PRINTING_WITH_VALUE = frozenset(
    ("-n", "--tb", "--color", "--maxfail", "--durations", "--reporter", "--reporters", "--maxWorkers", "--dist",
     "--test-threads", "--capture", "--numprocesses", "-parallel", "-count", "--output-format", "--message-format",
     "--cov", "--cov-report")
)  # fmt: skip
# Options that leave tests out: without them the same command runs these tests and more.
_NARROWING = frozenset(
    ("-k", "--deselect", "--ignore", "--ignore-glob", "-run", "-skip", "--skip", "-short", "-t", "-g",
     "--testNamePattern", "--testPathPattern", "--test-name-pattern", "--grep", "--filter")
)  # fmt: skip
_WITHOUT_VALUE = frozenset(("-short",))
_OTHERS_WITH_VALUE = frozenset(
    ("-m", "-p", "-c", "-o", "-W", "-C", "-f", "-e", "-tags", "-timeout", "--timeout", "--config", "--project",
     "--package", "--features", "--bin", "--test", "--example", "--manifest-path", "--prefix", "--rootdir", "--target")
)  # fmt: skip
_KINDS_OF_TARGET = frozenset(("--lib", "--bins", "--bin", "--tests", "--test", "--doc", "--examples", "--example"))
_SOURCE_FILE = lazy(r".*\.(?:py|rb|php|[cm]?[jt]sx?)")
# Those that runners find in a folder whatever their settings are.
_FOUND_BY_NAME = lazy(
    r"(?:.*/)?(?:test_[^/]*\.py|[^/]*(?:_test\.(?:py|rb|[jt]sx?)|_spec\.rb|Test\.php|\.(?:test|spec)\.[cm]?[jt]sx?)"
    r"|__tests__/.*)"
)
_WORDS_JOINED_BY_OR = lazy(r"[\w.\[\]-]+(?: or [\w.\[\]-]+)*")


@dataclass(frozen=True, slots=True)
class Selection:
    """What one command checks."""

    program: str = ""
    starter: str = ""
    """The program that only starts it: `uv run`, `npx`, `.venv/bin/`."""
    folder: str = ""
    variables: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()
    """Those that may change what it checks, or how."""
    narrowing: frozenset[tuple[str, str]] = frozenset()
    """Options that leave tests out, with their values."""
    targets: tuple[str, ...] = ()
    """Paths, packages, names of tests; none where it checks all there is."""
    beside: frozenset[str] = frozenset()
    """The other commands of the same line that may fail."""
    is_test: bool = False
    runner: str = ""

    def is_like(self, other: "Selection") -> bool:
        """Return whether both run the same program in the same surroundings."""
        return (self.program, self.folder, self.variables) == (other.program, other.folder, other.variables)

    def covers(self, other: "Selection", tests: Sequence[str] = ()) -> bool:
        """Return whether it checks all that another one does, or at least these tests of it."""
        if not self.is_like(other) or self._fixed_options() != other._fixed_options():
            return False
        if self._kinds() and self._kinds() != other._kinds():
            return False
        left_out = self.narrowing - other.narrowing
        if left_out and not (tests and all(self._is_left_in(test, left_out) for test in tests)):
            return False
        by_name = self.program in _RUNNERS and bool(tests)
        by_name = by_name and all(any(self._reaches(target, test) for target in self.targets) for test in tests)
        return by_name or self._covers_targets(other)

    def depends_on_settings(self, other: "Selection") -> bool:
        """Return whether settings of the runner decide if it runs what another one names: without targets it looks in
        the folders that are set, and in a folder it takes the files of certain names."""
        if not self.is_test or self.runner in (_GO, _CARGO) or not other.targets:
            return False
        files = {file_of(target) for target in other.targets} - {file_of(target) for target in self.targets}
        return not self.targets or any(is_source(file) and not _FOUND_BY_NAME.fullmatch(file) for file in files)

    def _fixed_options(self) -> frozenset[str]:
        return self.options - self._kinds()

    def _kinds(self) -> frozenset[str]:
        """The kinds of targets that cargo is told to test; without them it tests all of them."""
        return frozenset(one for one in self.options if one.partition("=")[0] in _KINDS_OF_TARGET)

    def _covers_targets(self, other: "Selection") -> bool:
        if _SCRIPT.match(self.program):
            return self.targets == other.targets  # who knows what its arguments are for
        if not self.targets:
            # `go test` without a package tests the one in the folder.
            return not other.targets or (self.is_test and self.program != _GO)
        return bool(other.targets) and all(
            any(self._reaches(one, target) for one in self.targets) for target in other.targets
        )

    def _reaches(self, target: str, what: str) -> bool:
        """Return whether a target holds a test or another target."""
        if target == what:
            return True
        if self.runner == _CARGO:
            return target in what  # cargo takes a part of a name
        if target in (".", "..."):
            return not what.startswith(("/", "..")) and (target == "..." or self.program != _GO)
        if self.program == _GO:
            folder = target.removesuffix("/...")
            return target != folder and (what.removesuffix("/...") == folder or what.startswith(f"{folder}/"))
        dotted = "" if "/" in target or "/" in what else "."
        return any(what.startswith(f"{target}{mark}") for mark in ("/", "::", "[", " > ", dotted) if mark)

    def _is_left_in(self, test: str, left_out: Iterable[tuple[str, str]]) -> bool:
        """Return whether options that leave tests out provably leave in a test."""
        return all(
            (flag == "-k" and self.runner == "pytest" and _has_a_word(test, value))
            or (flag == "-run" and self.runner == _GO and _matches_by_parts(test, value))
            for flag, value in left_out
        )


def read_selection(command: str, cwd: str = "", runner: str = "") -> Selection:
    """The selection of the main part of a command line that was run in a folder; `runner` is the one of its tests."""
    main, role = shell.main_part(command)
    folder, variables = _surroundings(command, main, cwd)
    unwrapped = shell.unwrapped(main)
    is_test = role == "test" or bool(runner)
    program, rest = _program(unwrapped)
    options, narrowing, targets = _arguments(rest, folder, is_test=is_test)
    others = [part for part in shell.parts(command) if part != main and shell.role(part) in _WORKING_ROLES]
    return Selection(
        program,
        main.removesuffix(unwrapped).strip(),
        folder,
        variables,
        options,
        narrowing,
        tuple(target for target in targets if (program, target) != ("vitest", "run")),
        frozenset(map(shell.key, others)),
        is_test,
        runner or {"pytest": "pytest", _GO: _GO, _CARGO: _CARGO}.get(program, ""),
    )


def file_of(test: str) -> str:
    """The file of a test or target, for runners whose names of tests begin with it."""
    return re.split("::| > ", test, maxsplit=1)[0]


def is_source(path: str) -> bool:
    """Return whether a path is of a file that may hold tests, by its ending."""
    return _SOURCE_FILE.fullmatch(path) is not None


def _surroundings(command: str, main: str, cwd: str) -> tuple[str, tuple[str, ...]]:
    """The folder that the main part runs in, and the variables that are set for it."""
    folder, exported = cwd.rstrip("/"), []
    for raw in shell.raw_parts(command):
        part = shell.bare(raw)
        if found := _CHANGE_FOLDER.fullmatch(part):
            folder = _inside(folder, found[1].strip("\"'"))
        elif _EXPORT.match(raw.strip()):
            exported += raw.strip().removeprefix("export").split()
        elif part == main:
            return folder, tuple(sorted((*exported, *_variables(raw))))
    return folder, tuple(sorted(exported))


def _variables(raw: str) -> list[str]:
    """The variables that are set for one command, and whether another user runs it."""
    found, rest = [], raw.strip()
    while setting := _SETTING.match(rest):
        found += [word for word in setting.groups() if word]
        rest = rest[setting.end() :]
    return found


def _inside(folder: str, change: str) -> str:
    """The folder after `cd`; clients tell the folder after the command, so it may be there already."""
    change = change.rstrip("/") or "/"
    if change.startswith(("/", "~", "$")):
        return change
    bare = posixpath.normpath(change)
    if not bare.startswith("..") and bare != "." and folder.endswith(f"/{bare}"):
        return folder
    return posixpath.normpath(f"{folder}/{change}")


def _program(unwrapped: str) -> tuple[str, list[str]]:
    """The program with its subcommand, and the words behind it."""
    try:
        words = shlex.split(unwrapped)
    except ValueError:
        words = unwrapped.split()
    if len(words) > _MAX_WORDS:
        return unwrapped, []  # covered by nothing but itself
    program = shell.tool(unwrapped)
    if program in _WITH_SUBCOMMAND or _INTERPRETED.fullmatch(program):
        program = " ".join([word for word in words if not word.startswith("-")][:2])
    left = program.split()
    rest = []
    for word in words:
        if left and word == left[0]:
            left.pop(0)
        else:
            rest.append(word)
    return program, rest


def _arguments(
    words: Sequence[str], folder: str, *, is_test: bool
) -> tuple[frozenset[str], frozenset[tuple[str, str]], list[str]]:
    """The options that matter, those that leave tests out, and the targets."""
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
        is_narrowing = is_test and flag in _NARROWING
        takes = is_narrowing and flag not in _WITHOUT_VALUE
        takes = takes or flag in _OTHERS_WITH_VALUE or flag in _PRINTING_WITH_VALUE
        if takes and not equals and waiting and not waiting[0].startswith("-"):
            value = waiting.popleft()
        if is_narrowing and (value or flag in _WITHOUT_VALUE):
            narrowing.append((flag, value))
        elif not (_PRINTING.fullmatch(flag) or (is_test and _TEST_PRINTING.fullmatch(flag)) or word == "--"):
            options.append(f"{flag}={value}" if value else flag)
    return frozenset(options), frozenset(narrowing), targets


def _target(word: str, folder: str) -> str:
    """A path as seen from the folder, without what makes no difference."""
    word = word.removeprefix(f"{folder}/") if folder else word
    return word.removeprefix("./").rstrip("/") or "."


def _has_a_word(test: str, expression: str) -> bool:
    """Return whether pytest's `-k` takes a test, for an expression of words with nothing but "or" between them."""
    if not _WORDS_JOINED_BY_OR.fullmatch(expression) or re.search(r"\b(?:not|and)\b", expression):
        return False
    name = test.rpartition("/")[2].lower()
    return any(word.lower() in name for word in expression.split(" or "))


def _matches_by_parts(test: str, pattern: str) -> bool:
    """Return whether `go test -run` takes a test: each part of the pattern is searched for in that part of a name."""
    names, patterns = test.split("/"), pattern.split("/")
    try:
        return len(patterns) <= len(names) and all(
            re.search(part, name) for part, name in zip(patterns, names, strict=False)
        )
    except re.error:
        return False
