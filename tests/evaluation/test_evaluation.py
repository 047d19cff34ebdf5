"""Tests of `evaluation/report.py`, `evaluation/measurement.py`, `evaluation/trigger_walk.py`,
`evaluation/session_walk.py`, `evaluation/coverage.py`, `evaluation/variants.py`, `evaluation/failures.py`,
`evaluation/walk_folder.py`, `evaluation/replay_home.py`, `evaluation/in_process_worker.py` and
`evaluation/intervals.py`: made-up sessions, walked in time."""

import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import pytest
from benchmarks import eval_speed, injection
from benchmarks.project_walk import walked

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.evaluation.in_process_worker import noted_problems
from claude_mem_lite.evaluation.measurement import MIN_SESSIONS, NOTHING, PRODUCT
from claude_mem_lite.evaluation.project_recordings import of_paths
from claude_mem_lite.evaluation.report import ProjectReport, Report, evaluate, keep_report
from claude_mem_lite.evaluation.session_walk import FIRST
from claude_mem_lite.evaluation.variants import Variant
from claude_mem_lite.evaluation.walk_folder import walk_folder
from claude_mem_lite.paths import Home
from claude_mem_lite.timestamps import utc_now
from tests.support.past_sessions import LONG_AGO, SHOP, PastSession, fixed_bug

SESSIONS = 14
VARIANTS = [Variant("without sessions", without=("sessions",)), Variant("within 60 tokens", 60)]


def recorded(folder: Path) -> Path:
    """A data folder of sessions on three files in turn, the last of which meets the failure of the second again."""
    listed = []
    for number in range(SESSIONS):
        at = LONG_AGO + timedelta(days=number * 3)
        session = fixed_bug(f"s{number:02d}", number % 3, at)
        session.at += timedelta(minutes=5)
        session.prompt(f"Does total_{number % 3} of an empty cart still cost 0?").says("Yes, it does.")
        session.write(folder / "sessions", packed=True)
        listed.append({"session": session.id, "started": at.isoformat(), "files": [f"total_{number % 3}.py"]})
    (folder / "sessions.json").write_text(json.dumps(listed))
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("recorded"))


@pytest.fixture(scope="module")
def report(data: Path) -> ProjectReport:
    (project,) = of_paths([data], utc_now())
    return evaluate(project, VARIANTS, None, lambda _: None)


def test_every_figure_equals_that_of_the_benchmarks_to_the_last_digit(data: Path, report: ProjectReport) -> None:
    of_eval = eval_speed.shared_figures(json.loads(json.dumps(asdict(report.whole))))
    of_benchmarks = eval_speed.benchmarked(data.name, walked(data, injection.variants()))
    assert of_eval == of_benchmarks
    assert of_eval["prompts: prompts"] > 0


@pytest.mark.parametrize(
    ("of_eval", "of_benchmarks", "different"),
    [
        ({"a": 0.1, "b": 2.0}, {"a": 0.1, "b": 2.0}, ""),
        ({"a": 0.1 + 0.2}, {"a": 0.3}, "a"),
        ({"a": 0.0}, {}, "a"),
        ({"b": 0.0}, {"a": 0.0}, "a; b"),
    ],
    ids=["equal", "last digit", "missing", "other names"],
)
def test_a_figure_that_differs_in_the_last_digit_or_is_missing_is_named(
    of_eval: dict[str, float], of_benchmarks: dict[str, float], different: str
) -> None:
    figure = eval_speed._equality("shop", of_eval, of_benchmarks)
    assert figure.note.partition("unrounded")[2].lstrip("; ") == different
    assert figure.holds() is (different == "")


@pytest.fixture
def load() -> Iterator[None]:
    """Threads that leave the worker little of the processor."""
    is_over = threading.Event()

    def spin() -> None:
        while not is_over.is_set():
            sum(range(10_000))

    threads = [threading.Thread(target=spin) for _ in range(4)]
    for thread in threads:
        thread.start()
    yield
    is_over.set()
    for thread in threads:
        thread.join()


@pytest.mark.usefixtures("load")
def test_a_walk_on_a_busy_machine_beside_another_walk_has_the_same_figures(data: Path, report: ProjectReport) -> None:
    (project,) = of_paths([data], utc_now())
    with walk_folder():
        assert evaluate(project, VARIANTS, None, lambda _: None) == report


def test_what_the_worker_complains_of_is_noted_with_its_number() -> None:
    with noted_problems() as problems:
        for layer in ("sessions", "project"):
            logging.getLogger("claude_mem_lite.context").warning("layer failed", extra={"layer": layer})
    assert problems.counts == {"layer failed": 2}


def test_a_walk_without_trouble_has_no_problems(report: ProjectReport) -> None:
    assert not report.problems


def test_a_context_covers_more_than_nothing_and_few_sessions_are_said_to_be_few(report: ProjectReport) -> None:
    assert report.whole.starts[PRODUCT].coverage.mean > report.whole.starts[NOTHING].coverage.mean == 0.0
    assert report.whole.sessions == SESSIONS - 10 < MIN_SESSIONS
    assert not report.whole.is_enough


def test_a_variant_is_compared_by_session_in_the_same_walk(report: ProjectReport) -> None:
    smaller = report.whole.differences["within 60 tokens"]
    assert report.whole.starts["within 60 tokens"].max_tokens <= 60
    assert smaller.tokens.high < 0
    assert set(report.whole.differences) == {"without sessions", "within 60 tokens"}


def test_a_failure_that_comes_back_is_counted_with_its_known_fix(report: ProjectReport) -> None:
    assert report.whole.failures_repeated == SESSIONS - 10
    assert report.whole.failures_share.low < report.whole.failures_share.mean <= report.whole.failures_share.high
    assert 0 < report.whole.failures_offered <= report.whole.failures_repeated


def test_months_hold_all_sessions(report: ProjectReport) -> None:
    assert sum(month.sessions for month in report.months.values()) == report.whole.sessions
    assert len(report.months) == 1 or all(month.sessions for month in report.months.values())


def test_sessions_before_a_time_are_remembered_and_not_measured(data: Path) -> None:
    (project,) = of_paths([data], utc_now())
    later = evaluate(project, [], LONG_AGO + timedelta(days=(SESSIONS - 1) * 3), lambda _: None)
    assert later.whole.sessions == 1


def test_an_interrupt_keeps_the_part_that_was_measured(data: Path) -> None:
    (project,) = of_paths([data], utc_now())

    def stop(reached: int) -> None:
        if reached == 12:
            raise KeyboardInterrupt

    partial = evaluate(project, [], None, stop)
    assert partial.is_partial
    assert partial.whole.sessions == 2


def test_progress_advances_while_the_first_sessions_fill_the_memory(data: Path) -> None:
    (project,) = of_paths([data], utc_now())
    reached: list[int] = []
    evaluate(project, [], None, reached.append)
    assert list(dict.fromkeys(reached)) == list(range(FIRST, SESSIONS + 1))


def test_too_few_sessions_give_a_report_without_figures(tmp_path: Path) -> None:
    fixed_bug("only").write(tmp_path)
    (project,) = of_paths([tmp_path], utc_now())
    empty = evaluate(project, [], None, lambda _: None)
    assert (empty.sessions, empty.whole.sessions, empty.whole.is_enough) == (1, 0, False)


def test_the_report_is_kept_for_the_user_alone(tmp_path: Path, report: ProjectReport) -> None:
    home = Home(tmp_path / "home")
    home.make()
    for _ in range(2):
        keep_report(Report("2026-05-01T00:00:00+00:00", [report]), home)
    assert home.evaluation.stat().st_mode & 0o777 == 0o600
    kept = json.loads(home.evaluation.read_text())
    assert kept["projects"][0]["whole"]["prompts"] == asdict(report.whole.prompts)


def test_a_report_that_cannot_be_kept_is_an_error_with_the_file(tmp_path: Path, report: ProjectReport) -> None:
    home = Home(tmp_path / "home")
    home.make()
    home.evaluation.mkdir()
    with pytest.raises(MemoryLiteError, match=r"evaluation\.json cannot be written"):
        keep_report(Report("2026-05-01T00:00:00+00:00", [report]), home)


def test_files_of_a_session_without_a_list_are_the_files_that_it_edited(tmp_path: Path) -> None:
    session = PastSession("a").prompt("change both").edits(f"{SHOP}/a.py", "x", "y")
    session.edits(f"{SHOP}/.claude/worktrees/w/b/c.py", "x", "y").edits("/elsewhere/d.py", "x", "y").says("Done.")
    session.write(tmp_path)
    (project,) = of_paths([tmp_path], utc_now())
    assert [listed.files for listed in project.recording.listed] == [{"a.py", "b/c.py"}]
    assert not project.recording.has_list
