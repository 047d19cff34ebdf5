"""Which of our projects a project of claude-mem is."""

from pathlib import Path

from claude_mem_lite.importers.claude_mem_db import ClaudeMemSession
from claude_mem_lite.importers.claude_mem_rows import ProjectLookup, ProjectMatch
from claude_mem_lite.responses.imports import KnownSession
from tests.support.past_sessions import PastSession

SHOP = ClaudeMemSession("s-1", "shop", cwd="/home/dev/shop")


def projects(*sessions: ClaudeMemSession, **more: object) -> ProjectLookup:
    given = {"chosen": {}, "seen": {}, "named": {}, "transcripts": [], "imported": {}, **more}
    return ProjectLookup(sessions=sessions, **given)  # type: ignore[arg-type]


def test_a_session_is_of_the_project_that_it_worked_in() -> None:
    assert projects(SHOP).of("shop", "s-1") == ProjectMatch("/home/dev/shop", "/home/dev/shop", "session")


def test_other_sessions_of_the_name_are_of_the_same_project_while_there_is_but_one() -> None:
    other = ClaudeMemSession("s-2", "shop")
    assert projects(SHOP, other).of("shop", "s-2").project == "/home/dev/shop"
    twin = ClaudeMemSession("s-3", "shop", cwd="/srv/shop")
    several = projects(SHOP, other, twin)
    assert several.of("shop", "s-2") == ProjectMatch("shop", "", "own")
    assert several.candidates("shop") == ["/home/dev/shop", "/srv/shop"]


def test_a_session_that_we_know_ourselves_says_it_best() -> None:
    seen = {"s-1": KnownSession("example.org/me/shop", "/home/dev/shop")}
    assert projects(SHOP, seen=seen).of("shop", "s-1").project == "example.org/me/shop"


def test_the_only_project_of_ours_that_is_called_so_is_meant_when_no_folder_is_known() -> None:
    named = {"shop": "example.org/me/shop"}
    assert projects(named=named).of("shop", "s-9") == ProjectMatch("example.org/me/shop", "", "name")
    assert projects(SHOP, named=named).of("shop", "s-9").project == "/home/dev/shop"


def test_a_worktree_is_of_its_repository() -> None:
    assert projects(SHOP).of("shop/feature-x", "s-9").project == "/home/dev/shop"
    assert projects(SHOP, chosen={"shop": "/srv/shop"}).of("shop/feature-x", "s-9").project == "/srv/shop"


def test_the_users_word_goes_before_all_else() -> None:
    assert projects(SHOP, chosen={"shop": "/srv/shop"}).of("shop", "s-1") == ProjectMatch(
        "/srv/shop", "/srv/shop", "option"
    )


def test_what_a_session_kept_of_another_project_is_not_of_its_own() -> None:
    assert projects(SHOP).of("blog", "s-1") == ProjectMatch("blog", "", "own")


def test_a_transcript_of_the_client_tells_the_folder(tmp_path: Path) -> None:
    session = PastSession("s-2", cwd="/home/dev/blog").prompt("hello").says("hi")
    session.write(tmp_path / "projects" / "-home-dev-blog")
    found = projects(ClaudeMemSession("s-2", "blog"), transcripts=[tmp_path / "projects"])
    assert found.of("blog", "s-2").project == "/home/dev/blog"
    assert found.folders == {"s-2": "/home/dev/blog"}


def test_a_session_that_an_earlier_import_brought_is_where_it_is() -> None:
    blog = ClaudeMemSession("s-2", "blog")
    earlier = {"s-2": KnownSession("/srv/blog", "/srv/blog")}
    found = projects(blog, ClaudeMemSession("s-3", "blog"), imported=earlier)
    assert found.of("blog", "s-2") == ProjectMatch("/srv/blog", "/srv/blog", "there")
    assert found.of("blog", "s-3").project == "/srv/blog"
    assert found.folders == {"s-2": "/srv/blog"}
    assert projects(SHOP, imported={"s-1": KnownSession("/srv/shop", "/srv/shop")}).of("shop", "s-1") == ProjectMatch(
        "/srv/shop", "/srv/shop", "there"
    )


def test_one_that_came_in_by_its_name_alone_goes_where_more_is_known() -> None:
    by_name = {"s-1": KnownSession("shop", "")}
    assert projects(SHOP, imported=by_name).of("shop", "s-1").how == "session"
    assert projects(ClaudeMemSession("s-1", "shop"), imported=by_name).of("shop", "s-1") == ProjectMatch(
        "shop", "", "own"
    )
