"""What imported sessions did to code is stored as that of live ones: by the files before and after each edit."""

from pathlib import Path

from tests.support.past_sessions import PastSession
from tests.support.patches import patch
from tests.support.running import Machine, query
from tests.worker.api.test_import_transcripts_command import run

BEFORE = """\
def total(items):
    return sum(items)


def discount(summed):
    return summed
"""
CHANGED = BEFORE.replace("return sum(items)", "return round(sum(items), 2)")
AFTER = """\
def total(items):
    return round(sum(items), 2)


def voucher(code):
    return code.upper()
"""


def edits(session: PastSession, path: str, before: str, after: str) -> None:
    """An edit as the client records it, with the whole file before."""
    session.calls("Edit", {"file_path": path, "old_string": before, "new_string": after})
    record = {"filePath": path, "originalFile": before, "structuredPatch": patch(before, after)}
    session.gets("The file has been updated.", record)


def test_edits_of_a_past_session_tell_what_became_of_functions(machine: Machine, tmp_path: Path) -> None:
    path = "/home/dev/shop/cart.py"
    session = PastSession("edited")
    session.prompt("totals must be rounded, and discounts become vouchers")
    session.calls("Write", {"file_path": path, "content": BEFORE})
    session.gets("File created.", {"type": "create", "filePath": path, "content": BEFORE, "structuredPatch": []})
    session.says("Wrote `total` and `discount`.")
    session.prompt("round the totals")
    edits(session, path, BEFORE, CHANGED)
    session.says("`total` rounds to cents.")
    session.prompt("vouchers instead of discounts")
    edits(session, path, CHANGED, AFTER)
    session.says("`voucher` takes the place of `discount`.")
    session.write(tmp_path)
    machine.start_worker()
    run(machine, tmp_path)

    rows = query(
        machine.home.memory_db,
        "select turn, action, name, before, after from symbol_changes where name != '' order by seq",
    )
    by_turn: dict[str, set[tuple[str, str]]] = {}
    for turn, action, name, *_ in rows:
        by_turn.setdefault(str(turn), set()).add((str(action), str(name)))
    assert list(by_turn.values()) == [
        {("new", "total"), ("new", "discount")},
        {("modified", "total")},
        {("deleted", "discount"), ("new", "voucher")},
    ]
    (made, made_after), (before, changed_after) = (row[3:] for row in rows if row[2] == "total")
    assert (made, before) == ("-", made_after), "each edit begins where the last one ended"
    assert changed_after != before
