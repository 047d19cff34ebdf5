"""Tests of `experiment/session_outcomes.py`: what is counted, and what stays unknown."""

import json

from claude_mem_lite.compress.toolcalls.edits import new_file
from claude_mem_lite.compress.toolcalls.steps import Called, FileEdited, Opened, Step
from claude_mem_lite.experiment.session_outcomes import WorkBeforeEdit, repeated_failures, tokens_in, work_before_edit

EDIT = [FileEdited(new_file("a.py", "x = 1\n"))]
FAILED: list[Step] = [Called("deploy", "connection to the ledger was refused")]


def entry(id_: str, **usage: int) -> bytes:
    return json.dumps({"message": {"id": id_, "usage": usage}}).encode()


def test_calls_and_different_files_before_the_first_edit_are_counted() -> None:
    calls: list[list[Step]] = [[Opened("a.py")], [], [Opened("a.py")], [Opened("b.py")], [*EDIT], [Opened("c.py")]]
    assert work_before_edit(calls) == WorkBeforeEdit(4, 2)


def test_a_session_without_an_edit_counts_with_all_its_calls() -> None:
    assert work_before_edit([[Opened("a.py")], [], []]) == WorkBeforeEdit(3, 1)
    assert work_before_edit([]) == WorkBeforeEdit(0, 0)


def test_a_failure_counts_when_the_session_had_it_before() -> None:
    assert repeated_failures([FAILED, [], FAILED, FAILED], lambda _: False) == 2


def test_a_failure_counts_when_its_fix_was_known_before() -> None:
    assert repeated_failures([FAILED, [*EDIT]], lambda _: True) == 1


def test_the_tokens_of_a_message_count_once_though_it_stands_on_several_lines() -> None:
    lines = (entry("m1", input_tokens=10, output_tokens=5), entry("m1", input_tokens=10, output_tokens=7), b"no json")
    assert tokens_in(b"\n".join((*lines, entry("m2", cache_creation_input_tokens=3)))) == 20


def test_tokens_read_from_the_cache_do_not_count() -> None:
    assert tokens_in(entry("m1", input_tokens=10, cache_read_input_tokens=90_000)) == 10


def test_a_transcript_that_tells_no_tokens_leaves_them_unknown() -> None:
    assert tokens_in(b'{"message": {"id": "m1", "content": "usage"}}') is None
