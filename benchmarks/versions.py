"""Two versions of the product to compare: this one, and the checkout of another one with a `.venv` of its own."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure


@dataclass(frozen=True, slots=True)
class Version:
    """Checkout with its programs."""

    checkout: Path

    @property
    def python(self) -> Path:
        return self.checkout / ".venv" / "bin" / "python"

    @property
    def command(self) -> Path:
        return self.python.with_name("claude-mem-lite")

    @property
    def hook(self) -> Path:
        return self.checkout / "src" / "claude_mem_lite" / "hook" / "hook.py"


@dataclass(frozen=True, slots=True)
class ThisVersion(Version):
    """Version that runs the benchmark, wherever its `.venv` is."""

    @property
    def python(self) -> Path:
        return Path(sys.executable)


THIS = ThisVersion(Path(__file__).parent.parent)


def ratio(name: str, before_s: float, now_s: float, note: str = "", floor: float | None = None) -> Figure:
    """Return how many times as fast this version is, by the mean or median seconds of both."""
    seconds = f"{before_s:.3g} s before, {now_s:.3g} s now; load {os.getloadavg()[0]:.1f}"
    note = f"{note}: {seconds}" if note else seconds
    return Figure(name, round(before_s / now_s, 2), "times as fast", floor=floor, note=note)


def times_less(name: str, before: float, now: float, unit: str) -> Figure:
    """Return how many times as much the other version takes."""
    return Figure(name, round(before / now, 2), "times less", note=f"{before:g} {unit} before, {now:g} {unit} now")
