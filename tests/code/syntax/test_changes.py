"""Tests of `code/syntax/changes.py` and `code/syntax/symbols.py`: two states of a file give the changes of
functions and classes."""

from dataclasses import replace

from claude_mem_lite.code.syntax.changes import ABSENT, PRESENT, CodeChange, Symbol, combined, compare

FILE = "src/auth.py"


def _symbol(name: str, body: str, lines: int = 5) -> Symbol:
    return Symbol(name, "method" if "." in name else "function", f"def {name}()", 1, lines, body)


def _told(changes: tuple[CodeChange, ...]) -> list[str]:
    return [f"{one.action} {one.name}{f' (was {one.was})' if one.was else ''}" for one in changes]


def test_what_is_new_modified_and_deleted_is_told_and_what_stayed_is_not() -> None:
    before = [_symbol("kept", "aa"), _symbol("renew", "bb"), _symbol("expire", "cc")]
    after = [_symbol("kept", "aa"), _symbol("renew", "b2"), _symbol("revoke", "dd")]

    found = compare(FILE, before, after)

    assert _told(found) == ["modified renew", "new revoke", "deleted expire"]
    assert [(one.before, one.after) for one in found] == [("bb", "b2"), (ABSENT, "dd"), ("cc", ABSENT)]


def test_a_function_that_only_moved_within_its_file_did_not_change() -> None:
    one, other = _symbol("one", "aa"), _symbol("other", "bb")
    assert compare(FILE, [one, other], [replace(other, first=1), replace(one, first=9, last=13)]) == ()


def test_a_function_with_the_body_of_one_that_is_gone_was_renamed() -> None:
    found = compare(FILE, [_symbol("renew", "bb")], [_symbol("refresh", "bb")])
    assert _told(found) == ["modified refresh (was renew)"]


def test_a_method_that_moved_to_another_class_is_the_same_method() -> None:
    found = compare(FILE, [_symbol("A.x", "bb", 1), _symbol("A.y", "bb", 1)], [_symbol("B.y", "bb", 1)])
    assert _told(found) == ["modified B.y (was A.y)", "deleted A.x"]


def test_two_bodies_of_a_single_line_are_alike_by_chance() -> None:
    found = compare(FILE, [_symbol("first", "aa", 1)], [_symbol("second", "aa", 1)])
    assert _told(found) == ["new second", "deleted first"]


def test_one_that_is_gone_is_followed_once() -> None:
    found = compare(FILE, [_symbol("old", "aa")], [_symbol("one", "aa"), _symbol("two", "aa")])
    assert _told(found) == ["modified one (was old)", "new two"]


def _change(name: str, before: str, after: str, was: str = "") -> CodeChange:
    action = "new" if before == ABSENT else "deleted" if after == ABSENT else "modified"
    return CodeChange(FILE, name, "function", action, f"def {name}()", was, before, after)  # type: ignore[arg-type]


def test_several_edits_of_a_function_are_one_change_from_the_first_state_to_the_last() -> None:
    (found,) = combined([_change("renew", "a", "b"), _change("renew", "b", "c")])
    assert (found.action, found.before, found.after) == ("modified", "a", "c")


def test_what_was_made_and_changed_in_one_turn_is_new() -> None:
    (found,) = combined([_change("renew", ABSENT, "b"), _change("renew", "b", "c")])
    assert (found.action, found.after) == ("new", "c")


def test_what_is_in_the_end_as_it_was_is_no_change() -> None:
    assert combined([_change("renew", "a", "b"), _change("renew", "b", "a")]) == ()
    assert combined([_change("tried", ABSENT, "b"), _change("tried", "b", ABSENT)]) == ()
    assert combined([_change("b", "x", "x", was="a"), _change("a", "x", "x", was="b")]) == ()


def test_what_was_deleted_and_written_anew_is_modified() -> None:
    (found,) = combined([_change("renew", "a", ABSENT), _change("renew", ABSENT, "c")])
    assert (found.action, found.before, found.after) == ("modified", "a", "c")


def test_what_was_renamed_twice_has_its_first_name_as_the_old_one() -> None:
    (found,) = combined([_change("b", "x", "x", was="a"), _change("c", "x", "y", was="b")])
    assert (found.name, found.was, found.before, found.after) == ("c", "a", "x", "y")


def test_what_was_made_and_then_renamed_is_new_under_its_last_name() -> None:
    (found,) = combined([_change("draft", ABSENT, "x"), _change("final", "x", "x", was="draft")])
    assert (found.action, found.name, found.was) == ("new", "final", "")


def test_functions_of_one_name_in_two_files_are_two() -> None:
    other = replace(_change("renew", "a", "b"), file="src/other.py")
    assert len(combined([_change("renew", "a", "b"), other])) == 2


def test_a_file_that_is_made_and_changed_is_new() -> None:
    made = CodeChange(FILE, "", "file", "new", before=ABSENT, after=PRESENT)
    changed = CodeChange(FILE, "", "file", "modified", before=PRESENT, after=PRESENT)
    assert combined([made, changed]) == (made,)
    assert combined([changed, changed]) == (changed,)
