"""The words that all parts of the page share."""

import pytest

from claude_mem_lite.scopes import project_name
from claude_mem_lite.text import counted
from claude_mem_lite.ui.templating import render
from tests.ui.html_checks import faults


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("event",), "0 events"),
        (1, ("event",), "1 event"),
        (1_200, ("event",), "1,200 events"),
        (1, ("memory", "memories"), "1 memory"),
        (2, ("memory", "memories"), "2 memories"),
    ],
)
def test_one_is_one_and_many_are_many(number: int, words: tuple[str, ...], told: str) -> None:
    assert counted(number, *words) == told


def test_a_project_is_called_by_the_end_of_its_path() -> None:
    assert [project_name(one) for one in ("/srv/shop/", "example.com/zoo", "/")] == ["shop", "zoo", "/"]


def test_a_problem_is_a_sentence_with_commands_as_code_and_leads_to_the_feed() -> None:
    html = render("problem.html", message="there is no memory <b>", next_step="`claude-mem-lite list` shows the ids")
    assert faults(html) == []
    assert '<p class="problem">There is no memory &lt;b&gt;.</p>' in html
    assert "<p><code>claude-mem-lite list</code> shows the ids.</p>" in html
    assert '<a href="/">Back to the feed</a>' in html
