"""One measured figure with the bar it must meet, and the table of all of them, kept in benchmarks/results."""

import json
import platform
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Figure:
    """`value` in `unit`; `bar` is the most it may be, `floor` the least. Without either it is told, not judged."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    floor: float | None = None
    note: str = ""
    exact: Mapping[str, float] = field(default_factory=dict)
    """Everything measured, unrounded; only in the JSON file."""

    def holds(self) -> bool:
        return (self.bar is None or self.value <= self.bar) and (self.floor is None or self.value >= self.floor)

    def line(self) -> str:
        note = f"; {self.note}" if self.note else ""
        return f"{self.name}: {self._measured()} (bar {self._bar()}) {self._judged()}{note}"

    def as_json(self) -> dict[str, object]:
        encoded = {**asdict(self), "holds": self.holds()}
        return encoded if self.exact else {name: value for name, value in encoded.items() if name != "exact"}

    def row(self) -> str:
        return f"| {self.name} | {self._measured()} | {self._bar()} | {self._judged()} | {self.note} |"

    def _measured(self) -> str:
        return f"{self.value:.6g} {self.unit}".rstrip()

    def _judged(self) -> str:
        if self.bar is None and self.floor is None:
            return ""
        return "met" if self.holds() else "NOT MET"

    def _bar(self) -> str:
        if self.floor is not None:
            return f"at least {self.floor:g} {self.unit}".rstrip()
        return "none" if self.bar is None else f"at most {self.bar:g} {self.unit}".rstrip()


def keep(name: str, title: str, figures: Sequence[Figure], how: str) -> int:
    """Write the figures to `results/NAME.md` and `.json`; the exit status: 1 when one does not meet its bar."""
    stamp = datetime.now(UTC).date().isoformat()
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    told = {"date": stamp, "machine": machine, "figures": [figure.as_json() for figure in figures]}
    (RESULTS / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")
    rows = "\n".join(figure.row() for figure in figures)
    (RESULTS / f"{name}.md").write_text(
        f"# {title}\n\nMeasured on {stamp}, {machine}, by `{how}`.\n\n"
        f"| what | measured | bar | | note |\n|---|---|---|---|---|\n{rows}\n"
    )
    failed = [figure for figure in figures if not figure.holds()]
    for figure in failed:
        print(f"bar not met: {figure.name}", file=sys.stderr)
    return 1 if failed else 0


def p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]
