"""The page about the first run shows what the program shows."""

from tests.docs.first_run_recording import page
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "first-run.md"


def test_the_page_is_what_the_program_shows() -> None:
    told = "run `python -m tests.docs.first_run_recording > docs/first-run.md`"
    assert PAGE.read_text("utf-8") == page(), told
