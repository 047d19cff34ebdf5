"""How far a long command is, where no terminal shows a bar."""

import pytest

from claude_mem_lite.cli.output import progress


def test_without_a_terminal_a_line_tells_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    moment = 0
    with progress("400 transcripts", 400, clock=lambda: moment) as advance:
        for done in range(0, 401, 50):
            advance(done)
            moment += 1
    shown = capsys.readouterr()
    assert shown.err.splitlines() == ["400 transcripts: 62% done, about 3 s left"]
    assert shown.out == ""


def test_what_is_soon_done_is_not_talked_about(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("3 rows", 3, clock=lambda: 0.0) as advance:
        advance(3)
    with progress("Exporting", 3, shown=False, clock=lambda: 9e9) as advance:
        advance(1)
    assert capsys.readouterr() == ("", "")


def test_progress_without_a_terminal_prints_no_line_twice(capsys: pytest.CaptureFixture[str]) -> None:
    moment = 0.0
    with progress("shop: sessions", 4, clock=lambda: moment) as advance:
        for done in (1, 1, 1, 2):
            moment += 1000.0
            advance(done)
    assert capsys.readouterr().err.splitlines() == [
        "shop: sessions: 25% done, about 50 min left",
        "shop: sessions: 50% done, about 67 min left",
    ]


def test_progress_of_nothing_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("Exporting", 0, clock=lambda: 9e9) as advance:
        advance(0)
    assert capsys.readouterr() == ("", "")
