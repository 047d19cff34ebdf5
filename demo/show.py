"""How the demo prints: headings and colours on a terminal, plain lines anywhere else."""

import io
import statistics
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from claude_mem_lite.models import JsonObject

PLAIN_WIDTH = 110
INDENT = (0, 0, 0, 3)


class Screen:
    """Prints the parts of the demo, in order."""

    def __init__(self) -> None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A terminal that knows no UTF-8 must not turn a tick into a failure.
            sys.stdout.reconfigure(errors="replace")
        self._console = Console(highlight=False, width=None if sys.stdout.isatty() else PLAIN_WIDTH)

    def title(self, text: str, explained: str) -> None:
        self._console.print(Text(text, style="bold cyan"))
        self._console.print(explained, markup=False)

    def heading(self, text: str) -> None:
        self._console.print()
        self._console.print(Text(text, style="bold"))

    def note(self, text: str) -> None:
        self._indented(Text(text, style="dim"))

    def hook_times(self, ms_by_event: Mapping[str, Sequence[float]]) -> None:
        """A line a kind of event: how many, and what the agent had to wait for each."""
        table = _table("event", "hooks", "ms each")
        for event, times in ms_by_event.items():
            slowest = f", slowest {max(times):.0f}" if len(times) > 1 else ""
            table.add_row(Text(event), str(len(times)), Text(f"{statistics.median(times):.0f}{slowest}"))
        self._indented(table)

    def memories(self, found: Sequence[JsonObject]) -> None:
        table = _table("kind", "memory")
        for memory in found:
            text = Text(str(memory["title"]), style="bold")
            if memory["summary"]:
                text.append(f"\n{memory['summary']}", style="not bold")
            table.add_row(Text(str(memory["kind"]), style="cyan"), text)
        self._indented(table)

    def summary(self, told: JsonObject) -> None:
        """The parts of a session's summary that say something."""
        table = _table("session", "summary")
        for name, value in told.items():
            between = ", " if name.startswith("files") else "\n"
            text = between.join(str(each) for each in value) if isinstance(value, list) else str(value)
            if text:
                table.add_row(Text(name.replace("_", " "), style="cyan"), Text(text))
        self._indented(table)

    def exactly(self, text: str) -> None:
        """Text as it is, between two lines."""
        self._console.print(Rule(style="dim"))
        self._console.print(text, markup=False, soft_wrap=True)
        self._console.print(Rule(style="dim"))

    def check(self, passed: bool, name: str, words: str) -> None:
        mark = Text("✓ ", style="bold green") if passed else Text("✗ ", style="bold red")
        line = mark.append(f"{name}: {words}", style="not bold default")
        self._indented(line)

    def end(self, text: str, passed: bool) -> None:
        self._console.print()
        self._console.print(Text(text, style="bold green" if passed else "bold red"))

    def _indented(self, shown: RenderableType) -> None:
        with self._console.capture() as captured:
            self._console.print(Padding(shown, INDENT))
        for line in captured.get().splitlines():
            print(line.rstrip())


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for column in columns[:-1]:
        table.add_column(column, no_wrap=True)
    table.add_column(columns[-1], overflow="fold")
    return table
