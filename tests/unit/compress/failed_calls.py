"""A failed call, as the pairs of failures are written with: a command, its exit code, what it printed, and where."""

from dataclasses import dataclass

from benchmarks.call_anchors import anchors_of_call

from claude_mem_lite.models import ToolCall

HERE = "/home/dev/shop"
THERE = "/Users/ana/code/checkouts/shop"
CI = "/builds/team-7/shop"


@dataclass(frozen=True, slots=True)
class Failed:
    command: str
    output: str
    code: int = 1
    cwd: str = HERE

    def call(self) -> ToolCall:
        return ToolCall("Bash", {"command": self.command}, None, f"Exit code {self.code}\n{self.output.strip()}")

    def anchors(self) -> frozenset[str]:
        return frozenset(anchors_of_call(self.call(), self.cwd))


Pair = tuple[Failed, Failed]


def with_message(first: Failed, *changes: tuple[str, str]) -> Failed:
    """The same call with other words in its output; each must be there, so that a pair never differs by nothing."""
    output = first.output
    for old, new in changes:
        assert old in output, old
        output = output.replace(old, new)
    return Failed(first.command, output, first.code, first.cwd)
