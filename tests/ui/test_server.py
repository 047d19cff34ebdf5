"""Routes of `ui/server.py` against the screens that the browser tests visit."""

from starlette.routing import compile_path

from claude_mem_lite.ui.server import PARTS
from tests.e2e.page.screens import PAGES, TEAM_PAGES


def test_the_browser_tests_visit_a_screen_of_every_route() -> None:
    screens = [screen.partition("?")[0] for screen in (*PAGES, *TEAM_PAGES)]
    unvisited = [route for route in PARTS if not any(compile_path(route)[0].match(screen) for screen in screens)]
    assert unvisited == []
