"""The benchmark with a small model as reader: its labels, its notes, and how answers are scored."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from benchmarks.reader import Scored, all_figures, default_figures
from benchmarks.reader_model import Reader, messages_of
from benchmarks.reader_notes import Notes, all_notes, cut
from benchmarks.reader_questions import ReaderQuestion, Verdict, normalised, reader_questions
from benchmarks.reader_sheets import sheet
from benchmarks.transcripts import Data, RawTurn

from claude_mem_lite.context.render import estimate_tokens
from tests.support.past_sessions import LONG_AGO, fixed_bug

PORT = ReaderQuestion("shop", "later", "earlier", "number", "Which port?", (r"\b8080\b",))
NOWHERE = ReaderQuestion("shop", "later", "", "unknown", "Which price?", ())


def test_labels_are_closed_questions_and_others_that_nothing_answers() -> None:
    known = reader_questions()
    closed = [one for one in known if one.is_answerable]
    assert len(closed) >= 60
    assert len(known) - len(closed) >= 20
    assert all(one.text.endswith("?") for one in known)
    assert all(re.compile(pattern).pattern == pattern.lower() for one in closed for pattern in one.patterns)
    assert len({one.text for one in known}) == len(known)


def test_a_question_does_not_hold_its_own_answer() -> None:
    answered = [one.text for one in reader_questions() if one.verdict(one.text) == Verdict.RIGHT]
    assert answered == []


def test_all_questions_of_a_project_are_asked_in_one_session_that_answers_none_of_them() -> None:
    known = reader_questions()
    for project in {one.project for one in known}:
        (asked_in,) = {one.asked_in for one in known if one.project == project}
        assert asked_in not in {one.session for one in known}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("8080", Verdict.RIGHT),
        ("The port is `8080`.", Verdict.RIGHT),
        ("18080", Verdict.WRONG),
        ("It is 9090", Verdict.WRONG),
        ("Unknown.", Verdict.UNKNOWN),
        ("The notes do not mention a port", Verdict.UNKNOWN),
        ("The port isn't given; not specified", Verdict.UNKNOWN),
        ("", Verdict.UNKNOWN),
    ],
)
def test_an_answer_is_right_wrong_or_unknown(answer: str, expected: Verdict) -> None:
    assert PORT.verdict(answer) == expected


def test_any_answer_is_wrong_where_nothing_is_known() -> None:
    assert NOWHERE.verdict("12 dollars") == Verdict.WRONG
    assert NOWHERE.verdict("unknown") == Verdict.UNKNOWN


def test_case_quotes_spaces_and_punctuation_at_the_end_are_normalised() -> None:
    assert normalised(' "Hook_Registry.go" \n  **now**. ') == "hook_registry.go now"


def test_the_past_is_cut_to_a_number_of_tokens() -> None:
    text = "word " * 1000
    assert estimate_tokens(cut(text, 100)) <= 100 < estimate_tokens(cut(text, 100) + "word")
    assert cut("short", 100) == "short"


def test_notes_know_the_sessions_that_ended_before_and_no_other(tmp_path: Path) -> None:
    data, listed = tmp_path / "shop", []
    for number in range(4):
        at = LONG_AGO + timedelta(days=number)
        fixed_bug(f"s{number}", number, at).write(data / "sessions", packed=True)
        listed.append({"session": f"s{number}", "started": at.isoformat(), "files": []})
    (data / "sessions.json").write_text(json.dumps(listed))
    question = ReaderQuestion("shop", "s2", "s1", "name", "Why did `total_1` fail?", ("total_1",))

    (made,) = (one.by_condition for one in all_notes(Data(data), tmp_path / "walk", [question]))
    assert made["none"] == ""
    assert made["past"].index("total_1") < made["past"].find("total_0") or "total_0" not in made["past"]
    assert estimate_tokens(made["past"]) <= estimate_tokens(made["product"])
    assert "total_1" in made["product"]
    assert len(made["headlines"].splitlines()) == 2
    assert not [name for name, notes in made.items() if "total_2" in notes or "total_3" in notes]


def test_conditions_differ_in_their_notes_alone() -> None:
    with_notes, without = messages_of("- port 8080", "Which port?"), messages_of("", "Which port?")
    assert with_notes[0] == without[0]
    assert with_notes[1]["content"].replace("- port 8080", "(none)") == without[1]["content"]


def test_an_answer_in_the_file_is_not_asked_for_again(tmp_path: Path) -> None:
    notes = [Notes(PORT, {"product": "- port 8080"})]
    with _server() as url:
        (first,) = Reader(url, tmp_path / "answers.jsonl").answers(notes, "product")
    (again,) = Reader(url, tmp_path / "answers.jsonl").answers(notes, "product")
    assert (first.said, first.tokens) == ("8080", 40)
    assert again == first


def test_answers_come_in_the_order_of_the_questions_whatever_is_asked_first(tmp_path: Path) -> None:
    notes = [Notes(PORT, {"product": "- port 8080"}), Notes(NOWHERE, {"product": ""})]
    with _server() as url:
        answers = Reader(url, tmp_path / "answers.jsonl").answers(notes, "product")
    assert [one.said for one in answers] == ["8080", "unknown"]


def test_other_notes_are_another_question(tmp_path: Path) -> None:
    with _server() as url:
        reader = Reader(url, tmp_path / "answers.jsonl")
        keys = {reader.answers([Notes(PORT, {"product": text})], "product")[0].key for text in ("", "- port 8080")}
    assert len(keys) == 2


def test_only_a_server_on_this_machine_is_asked(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="on this machine"):
        Reader("https://example.com", tmp_path / "answers.jsonl")


def test_scores_are_told_by_condition_and_by_project_with_paired_differences() -> None:
    nothing = [Scored(PORT, Verdict.UNKNOWN, 60, False), Scored(NOWHERE, Verdict.UNKNOWN, 60, False)]
    scores = {
        "headlines": nothing,
        "past": nothing,
        "none": [Scored(PORT, Verdict.WRONG, 50, False), Scored(NOWHERE, Verdict.UNKNOWN, 50, False)],
        "product": [Scored(PORT, Verdict.RIGHT, 150, True), Scored(NOWHERE, Verdict.WRONG, 250, False)],
    }
    figures = {one.name: one.value for one in all_figures(scores)}
    assert figures["product, all projects: right, of questions with an answer"] == 1.0
    assert figures["none, all projects: wrong, of questions with an answer"] == 1.0
    assert figures["product, all projects: unknown, of questions without an answer"] == 0.0
    assert figures["product, all projects: tokens sent, mean"] == 200.0
    assert figures["product, all projects: the answer stands in the notes"] == 1.0
    assert figures["product against none: difference of right"] == 1.0
    assert figures["product, shop: right"] == 1.0


def test_the_default_budget_is_told_by_what_its_notes_hold() -> None:
    notes = [
        Notes(PORT, {"product": "- a", "default": "- port 8080"}),
        Notes(NOWHERE, {"product": "- a", "default": "- a"}),
    ]
    found, tokens = default_figures(notes)
    assert (found.value, found.note[:6]) == (1.0, "1 of 1")
    assert tokens.value == 2.5


def test_a_sheet_shows_a_turn_to_write_a_question_about() -> None:
    lines = list(sheet(RawTurn("s1", "Which\nport?", ["It is", "8080."])))
    assert lines == ["=== s1", "PROMPT: Which port?", "It is\n8080."]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        said = "8080" if PORT.text in asked else "unknown"
        told = {"choices": [{"message": {"content": said}}], "usage": {"prompt_tokens": 40}}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(told).encode())


@contextmanager
def _server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
