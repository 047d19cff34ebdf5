"""What a test runner printed -> its totals, the failing tests and the first error of each.

Told by the output, not by the command: `make check` and `npm test` hide which runner they call."""

from collections.abc import Callable

from claude_mem_lite.compress.toolcalls.test_runners import go, javascript, others, python, scripted
from claude_mem_lite.compress.toolcalls.test_runners.test_run import TestRun

_PARSERS: tuple[Callable[[str], TestRun | None], ...] = (
    python.pytest,
    python.unittest,
    javascript.jest,
    javascript.vitest,
    others.cargo,
    go.go,
    scripted.rspec,
    javascript.mocha,
    javascript.playwright,
    others.maven,
    others.gradle,
    scripted.minitest,
    scripted.phpunit,
    others.dotnet,
    others.ctest,
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
