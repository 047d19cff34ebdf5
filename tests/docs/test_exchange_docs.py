"""docs/exchange.md lists every field with what it is when it is not given, and lines that can be imported."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.export_format import FIELDS, MAX_MEMORY_LENGTH, REQUIRED, to_object, values_of
from claude_mem_lite.importers.memory_file import parse
from claude_mem_lite.worker.api.transfer import Batch, Line, read
from tests.docs.pages import page
from tests.support.fakes import Store

PAGE = page("docs/exchange.md")
ROWS = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", PAGE.text, re.M)
DEFAULTS = {name: default for name, _, default in ROWS}
LINES = [line for body in PAGE.blocks("json") for line in body.splitlines()]


def test_every_field_is_listed_in_the_order_of_an_export() -> None:
    assert tuple(name for name, _, _ in ROWS) == FIELDS
    assert tuple(name for name in FIELDS if DEFAULTS[name] == "required") == REQUIRED


def test_the_defaults_are_those_of_an_import(tmp_path: Path) -> None:
    line = Line(memory={"kind": "note", "title": "t"})
    with Store(tmp_path / "memory.db") as store:
        given = read(store.db, line, Batch(project="p", at=datetime.now(UTC), lines=[])).given
    made = json.loads(json.dumps(to_object(given.memory)))
    literal = {name: told[1:-1] for name, told in DEFAULTS.items() if re.fullmatch(r"`[^`]+`", told)}
    assert literal.pop("last_seen_at") == "created_at"
    texts = {name: told for name, told in literal.items() if name in ("status", "origin", "made_by")}
    assert {name: made[name] for name in texts} == texts
    assert {name: json.loads(told) for name, told in literal.items() if name not in texts} == {
        name: made[name] for name in literal if name not in texts
    }
    assert DEFAULTS["trust"] == f"that of the origin: {made['trust']} for `import`"


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_is_shown_can_be_imported(line: str) -> None:
    assert values_of(parse(line.encode()))[1] == []


def test_the_longest_memory_is_told() -> None:
    assert f"at most {MAX_MEMORY_LENGTH:,} characters" in PAGE.text
