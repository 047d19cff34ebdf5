"""One measured figure with the bar it must meet, and the table of all of them."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """`value` in `unit`; `bar` is the most it may be, None: told, not judged."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    note: str = ""

    def holds(self) -> bool:
        return self.bar is None or self.value <= self.bar

    def line(self) -> str:
        mark = "" if self.bar is None else " ok" if self.holds() else " OVER"
        return (
            f"{self.name}: {self.value:g} {self.unit} (bar {self._bar()}){mark}{'; ' + self.note if self.note else ''}"
        )

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "holds": self.holds()}

    def row(self) -> str:
        judged = "" if self.bar is None else "ok" if self.holds() else "OVER"
        return f"| {self.name} | {self.value:g} {self.unit} | {self._bar()} | {judged} | {self.note} |"

    def _bar(self) -> str:
        return "none" if self.bar is None else f"at most {self.bar:g} {self.unit}"


def as_table(figures: Sequence[Figure], heading: str) -> str:
    rows = "\n".join(figure.row() for figure in figures)
    return f"# Speed\n\n{heading}\n\n| what | measured | bar | | note |\n|---|---|---|---|---|\n{rows}\n"


def p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]
