"""What the benchmarks of recorded sessions count, and how."""

import pytest
from benchmarks.drawing import Fact
from benchmarks.evidence import without_evidence
from benchmarks.facts import can_be_read
from benchmarks.figures import Figure
from benchmarks.ranking import added, measure
from benchmarks.title_checks import is_verb_and_path, why_worthless
from benchmarks.transcripts import Query


def test_session_scores_are_added_with_halving_weights() -> None:
    assert added([("a", 1.0), ("b", 0.9), ("b", 0.8)]) == ["b", "a"]


def test_recall_is_the_share_of_the_wanted_sessions() -> None:
    measured = measure([Query("x", ("a", "b"))], lambda _: ["a", "c", "d", "e", "f", "b"])
    assert measured["R@5"].mean == 0.5
    assert measured["R@10"].mean == 1.0
    assert measured["MRR"].mean == 1.0


def test_commands_that_made_the_commit_go_with_their_results() -> None:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "git add . && git commit -m x"}}
    lines: list[dict[str, object]] = [
        {"type": "assistant", "message": {"content": [call]}},
        {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "[main 1] x"}]},
            "toolUseResult": {"stdout": "[main 1] x"},
        },
        {"type": "progress", "parentToolUseID": "t", "data": "x"},
    ]
    kept = list(without_evidence(iter(lines), []))
    assert [line["message"] for line in kept] == [{"content": []}, {"content": []}]
    assert all("toolUseResult" not in line for line in kept)


def test_lines_with_the_subject_go_wherever_they_stand() -> None:
    said: dict[str, object] = {
        "type": "assistant",
        "message": {"content": [{"type": "text", "text": "Done.\n- Let old tokens expire"}]},
    }
    asked: dict[str, object] = {"type": "user", "message": {"content": "let old tokens expire\nand log it"}}
    kept = without_evidence(iter([said, asked]), ["let old tokens expire"])
    assert [line["message"] for line in kept] == [
        {"content": [{"type": "text", "text": "Done."}]},
        {"content": "and log it"},
    ]


@pytest.mark.parametrize(
    "title",
    ["Bash", "Used the Edit tool", "mcp__x__get", "src/auth/jwt.py", "`a.py`, b.py", "Fix the issue", "Yes", "42"],
)
def test_titles_that_say_nothing_are_told(title: str) -> None:
    assert why_worthless(title)


@pytest.mark.parametrize(
    "title", ["Let old tokens expire", "Fix parseToken in src/auth.py", "Bash arithmetic fails under set -e"]
)
def test_titles_that_say_something_pass(title: str) -> None:
    assert not why_worthless(title)


def test_a_verb_and_a_path_is_noticed() -> None:
    assert is_verb_and_path("Update src/auth.py")
    assert not is_verb_and_path("Update the expiry in src/auth.py")


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("lint found 3 issues", True),
        ("3 lint issues", True),
        ("issues: 3", True),
        ("13 issues", False),
        ("3.5 issues", False),
    ],
)
def test_a_number_is_read_beside_what_it_counts(text: str, is_read: bool) -> None:
    assert can_be_read(Fact("number", "s", "", ("3", "issues")), text) is is_read


def test_a_name_is_read_as_a_word_of_its_own() -> None:
    fact = Fact("function", "s", "", ("parseToken",))
    assert can_be_read(fact, "changed parsetoken() in auth")
    assert not can_be_read(fact, "changed parsetokens")


def test_a_figure_is_judged_by_the_least_and_by_the_most_it_may_be() -> None:
    assert Figure("a", 1, "", bar=1).holds()
    assert not Figure("a", 1.1, "", bar=1).holds()
    assert not Figure("a", 0.9, "", floor=1).holds()
