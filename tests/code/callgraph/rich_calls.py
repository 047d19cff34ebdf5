"""Callers and callees of symbols in the package rich, from `tests/data/rich_calls.toml`."""

import tomllib
from dataclasses import dataclass

from tests.support.data_files import DATA


@dataclass(frozen=True, slots=True)
class Truth:
    """Symbol with its callers and callees, as `FILE::NAME`; `FILE::` is the top level of a file."""

    name: str
    callers: frozenset[str]
    callees: frozenset[str]
    undecided: frozenset[str]


def _truth(name: str, callers: str = "", callees: str = "", undecided: str = "") -> Truth:
    def full(names: str) -> frozenset[str]:
        return frozenset(f"rich/{each}" for each in names.split())

    return Truth(f"rich/{name}", full(callers), full(callees), full(undecided))


_data = tomllib.loads((DATA / "rich_calls.toml").read_text("utf-8"))
VERSION: str = _data["version"]
TRUTHS = tuple(_truth(**symbol) for symbol in _data["symbol"])
