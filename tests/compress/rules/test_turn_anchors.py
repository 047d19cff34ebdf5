"""What ties memories to the code they tell of."""

from claude_mem_lite.code.syntax.changes import (
    ABSENT,
    MAX_CODE_ANCHORS,
    PRESENT,
    CodeAnchor,
    CodeChange,
    anchor_to,
    read_anchor,
)
from claude_mem_lite.compress.rules.turn import anchored
from claude_mem_lite.models import Draft, SymbolChange

FILE = CodeChange("src/auth.py", "", "file", "modified", before=PRESENT, after=PRESENT)
RENEW = CodeChange("src/auth.py", "Session.renewToken", "method", "modified", before="aa", after="bb")
NOTES = CodeChange("NOTES.md", "", "file", "new", before=ABSENT, after=PRESENT)


def test_an_anchor_reads_back_as_it_was_written() -> None:
    assert anchor_to(RENEW) == "code:bb:aa:src/auth.py::Session.renewToken"
    assert read_anchor(anchor_to(RENEW)) == CodeAnchor("src/auth.py", "Session.renewToken", after="bb", before="aa")
    assert read_anchor(anchor_to(NOTES)) == CodeAnchor("NOTES.md", "", after=PRESENT, before=ABSENT)
    assert read_anchor("code:bb:aa:src/a:b.js::C.#x") == CodeAnchor("src/a:b.js", "C.#x", after="bb", before="aa")


def test_what_is_tied_to_something_else_or_to_nothing_is_no_code_anchor() -> None:
    assert [read_anchor(text) for text in ("error:33fcc7", "code:", "code:a:b", "code:a:b:", "")] == [None] * 5


def test_work_is_tied_to_the_functions_it_names_and_to_files_of_which_it_names_none() -> None:
    symbols = (SymbolChange("src/auth.py", "Session.renewToken", "modified"),)
    draft = Draft("change", "Renew", "…", files=("src/auth.py", "NOTES.md"), symbols=symbols, anchors=("error:1",))
    other = CodeChange("src/auth.py", "login", "function", "new", before=ABSENT, after="cc")
    assert anchored(draft, (FILE, RENEW, other, NOTES)).anchors == ("error:1", anchor_to(RENEW), anchor_to(NOTES))


def test_work_that_names_no_function_of_a_file_is_tied_to_all_that_changed_there() -> None:
    draft = Draft("feature", "Renew tokens", "…", files=("src/auth.py", "NOTES.md"))
    assert anchored(draft, (FILE, RENEW, NOTES)).anchors == (anchor_to(RENEW), anchor_to(NOTES))


def test_a_decision_is_tied_to_what_changed_and_it_speaks_of_by_name() -> None:
    load = CodeChange("src/load.py", "load", "function", "modified", before="a", after="b")
    spoken = Draft("decision", "Keep renewToken synchronous", "It is simple to load.")
    assert anchored(spoken, (FILE, RENEW, load)).anchors == (anchor_to(RENEW),), "`load` is a plain word here"
    called = Draft("decision", "Keep load() as it is", "…")
    assert anchored(called, (FILE, RENEW, load)).anchors == (anchor_to(load),)
    short = CodeChange("src/auth.py", "Session.renew", "method", "modified", before="a", after="b")
    qualified = Draft("decision", "Let Session.renew give 300 seconds", "…")
    assert anchored(qualified, (FILE, short, load)).anchors == (anchor_to(short),)
    silent = Draft("decision", "Keep UTC in the database", "Local times are ambiguous.")
    assert anchored(silent, (FILE, RENEW, load)) == silent


def test_a_memory_has_a_bounded_number_of_them() -> None:
    many = tuple(CodeChange("a.py", f"f{number}", "function", "new", before=ABSENT, after="x") for number in range(40))
    draft = Draft(
        "feature", "Much", "…", files=("a.py",), symbols=tuple(SymbolChange("a.py", one.name, "new") for one in many)
    )
    assert len(anchored(draft, many).anchors) == MAX_CODE_ANCHORS
