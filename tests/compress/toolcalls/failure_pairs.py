"""Pairs of failed calls from `tests/data/failures`, for the tests of error fingerprints."""

import tomllib
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.call_anchors import anchors_of_call

from claude_mem_lite.models import ToolCall
from tests.support.data_files import DATA


@dataclass(frozen=True, slots=True)
class FailedCall:
    """Call of Bash that failed: command, output, exit code and folder."""

    command: str
    output: str
    code: int = 1
    cwd: str = "/home/dev/shop"

    def anchors(self) -> frozenset[str]:
        error = f"Exit code {self.code}\n{self.output.strip()}"
        return frozenset(anchors_of_call(ToolCall("Bash", {"command": self.command}, None, error), self.cwd))


Pair = tuple[FailedCall, FailedCall]


def failure_pairs(name: str) -> dict[str, Pair]:
    """Return the pairs of one data file by their names."""
    pairs = tomllib.loads((DATA / "failures" / f"{name}.toml").read_text("utf-8"))
    return {title: _pair(**pair) for title, pair in pairs.items()}


def _pair(first: dict[str, Any], second: dict[str, Any]) -> Pair:
    call = FailedCall(**first)
    changes = second.pop("replace", ())
    output = second.pop("output", call.output)
    for old, new in changes:
        assert old in output, old
        output = output.replace(old, new)
    return call, replace(call, output=output, **second)
