"""Which rows are of work that is in this checkout: work on branches that are not merged here is not."""

import json
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.timestamps import time_to_text

Hidden = Sequence[tuple[str, datetime | None]]
"""Branches whose work is not here, each with the moment up to which it is nevertheless: it was merged then."""


def is_hidden(branch: str, at: datetime, hidden: Hidden) -> bool:
    """Whether work of this branch and moment is not here."""
    return any(branch == name and (since is None or at > since) for name, since in hidden)


def not_hidden(hidden: Hidden, moment: str) -> tuple[str, dict[str, str]]:
    """A condition on the columns `branch` and `moment`, with its values."""
    if not hidden:
        return "true", {}
    # Names are looked up in an index that SQLite makes of them once; the moments, for rows of these branches alone.
    # The alternative, a condition for each branch, is limited by SQLite to 1,000.
    merged = {branch: time_to_text(since) for branch, since in hidden if since}
    condition = f"""(branch not in (select value from json_each(:hidden_branches))
        or (branch in (select key from json_each(:merged_branches)) and {moment} <=
            (with merged_branches(name, until) as materialized (select key, value from json_each(:merged_branches))
             select until from merged_branches where name = branch)))"""
    return condition, {
        "hidden_branches": json.dumps([branch for branch, _ in hidden]),
        "merged_branches": json.dumps(merged),
    }
