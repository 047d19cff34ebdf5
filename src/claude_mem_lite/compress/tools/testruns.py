"""What a test runner printed -> its totals, the failing tests and the first error of each.

Told by the output, not by the command: `make check` and `npm test` hide which runner they call."""

from collections.abc import Callable

from claude_mem_lite.compress.tools.runners import compiled, go, javascript, python, scripted
from claude_mem_lite.compress.tools.runners.run import TestRun

_PARSERS: tuple[Callable[[str], TestRun | None], ...] = (
    python.pytest,
    python.unittest,
    javascript.jest,
    javascript.vitest,
    compiled.cargo,
    go.go,
    scripted.rspec,
    javascript.mocha,
    javascript.playwright,
    compiled.maven,
    compiled.gradle,
    scripted.minitest,
    scripted.phpunit,
    compiled.dotnet,
    compiled.ctest,
    javascript.node,
    javascript.bun,
    scripted.deno,
)


def read_run(output: str) -> TestRun | None:
    """The test run that a command's (cleaned) output shows, or None."""
    for parse in _PARSERS:
        if run := parse(output):
            return run
    return None
