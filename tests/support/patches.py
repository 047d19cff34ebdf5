"""Patches as the client sends them."""

import difflib
from typing import Any


def patch(before: str, after: str) -> list[Any]:
    """A patch as the client sends it."""
    old, new = before.split("\n"), after.split("\n")
    hunks: list[Any] = []
    for group in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_grouped_opcodes(3):
        lines: list[Any] = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[i1:i2]]
            else:
                lines += [*(f"-{line}" for line in old[i1:i2]), *(f"+{line}" for line in new[j1:j2])]
        first, last = group[0], group[-1]
        hunks.append(
            {
                "oldStart": first[1] + 1,
                "oldLines": last[2] - first[1],
                "newStart": first[3] + 1,
                "newLines": last[4] - first[3],
                "lines": lines,
            }
        )
    return hunks
