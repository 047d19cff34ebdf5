"""The forecast: which files the coming session will probably touch, by the sessions before it."""

import pytest

from claude_mem_lite.context.project_setting import EditedFiles, Forecast, forecast

OTHERS = tuple(EditedFiles("main", (f"other_{number}.py",)) for number in range(8))


def edited(*files: str, branch: str = "main") -> EditedFiles:
    return EditedFiles(branch, files)


def test_nothing_is_expected_where_nothing_was_done() -> None:
    made = forecast((), "main", ())
    assert made.shares == {}
    assert made.share(["a.py"]) == 0
    assert made.most_expected(["b.py", "a.py"], 1) == ["b.py"]


def test_the_shares_of_all_files_are_the_whole_of_the_coming_work() -> None:
    made = forecast([edited("a.py", "b.py"), edited("b.py"), *OTHERS], "main", ["c.py"])
    assert made.share(made.shares) == pytest.approx(1)
    assert min(made.shares.values()) > 0


def test_after_one_session_its_files_are_all_of_the_coming_work() -> None:
    made = forecast([edited("a.py", "b.py")], "main", ())
    assert made.shares == pytest.approx({"a.py": 0.5, "b.py": 0.5})


def test_when_every_session_touched_the_same_file_it_is_expected_again() -> None:
    assert forecast([edited("a.py")] * 3, "main", ()).shares == pytest.approx({"a.py": 1.0})


def test_a_file_edited_lately_is_expected_more_than_one_edited_before() -> None:
    shares = forecast([edited("new.py"), *OTHERS, edited("old.py")], "main", ()).shares
    assert shares["new.py"] > shares["old.py"]


def test_a_file_edited_twice_is_expected_more_than_one_edited_once() -> None:
    shares = forecast([edited("once.py", "twice.py"), edited("twice.py"), *OTHERS], "main", ()).shares
    assert shares["twice.py"] > shares["once.py"]


def test_a_file_that_every_session_touches_is_worth_less_than_one_of_few() -> None:
    shares = forecast([edited("all.py", f"{number}.py") for number in range(10)], "main", ()).shares
    assert shares["all.py"] < shares["0.py"]


@pytest.mark.parametrize(("branch", "counts_more"), [("feature/tax", True), ("main", False), ("", False)])
def test_work_on_the_same_branch_counts_more_unless_all_work_is_there(branch: str, counts_more: bool) -> None:
    past = [edited("elsewhere.py", branch="other"), edited("here.py", branch=branch), *OTHERS]
    shares = forecast(past, branch, ()).shares
    assert (shares["here.py"] > shares["elsewhere.py"]) is counts_more


def test_a_file_with_uncommitted_changes_is_expected_more_than_the_newest_edited() -> None:
    shares = forecast([edited("new.py"), *OTHERS], "main", ["touched.py"]).shares
    assert shares["touched.py"] > shares["new.py"]


def test_a_file_that_a_session_names_twice_counts_once() -> None:
    assert forecast([edited("a.py", "a.py", "b.py")], "main", ()).shares == pytest.approx({"a.py": 0.5, "b.py": 0.5})
    assert Forecast({"a.py": 0.5}).share(["a.py", "a.py"]) == 0.5


def test_the_most_telling_files_stand_in_their_own_order() -> None:
    made = Forecast({"a.py": 0.1, "b.py": 0.3, "c.py": 0.6})
    assert made.most_expected(["a.py", "b.py", "c.py", "b.py"], 2) == ["b.py", "c.py"]
