"""The feed: by session and by what was asked, a page at a time, narrowed by choices."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from shutil import rmtree
from urllib.parse import parse_qsl, quote

import pytest
from starlette.testclient import TestClient

from tests.support.commit_turns import ending
from tests.support.running import Json, Machine, leave, open_machine, payload, turn
from tests.ui.conftest import browser_of
from tests.ui.html_checks import faults
from tests.worker.working_repository import WorkingRepository

SHOP, ZOO = "/srv/shop", "/srv/zoo"
AT = "2026-03-01T12:00:00+00:00"
ROUNDED = "def total(basket):\n    return round(sum(basket), 2)\n"


def worked(machine: Machine, session: str, prompt: str, file: str, cwd: str) -> None:
    """A turn in which a file was changed, of which something is remembered."""
    asked, *_ = turn(session, prompt, cwd=cwd)
    change = payload(
        "PostToolUse",
        session,
        cwd,
        tool_name="Edit",
        tool_input={"file_path": file, "old_string": "return 1", "new_string": "return len(basket)"},
        tool_response={"filePath": file, "structuredPatch": []},
    )
    for given in (asked, change, *ending(session, cwd, prompt, file)):
        leave(machine.home, given)
    machine.drain()


@pytest.fixture(scope="module")
def kept(served: Machine) -> Json:
    """A session of two turns, what the user said of two projects outside of any, and one thing that was retired."""
    worked(served, "s-feed", "Count the wombats in the basket", f"{SHOP}/cart.py", SHOP)
    worked(served, "s-feed", "Count the ferrets in the basket", f"{SHOP}/cage.py", SHOP)
    notes = {
        "shop": served.post("/api/memories", {"kind": "rule", "text": "Prices are in cents", "cwd": SHOP}),
        "zoo": served.post("/api/memories", {"kind": "gotcha", "text": "Gates close at six", "cwd": ZOO}),
        "gone": served.post("/api/memories", {"kind": "note", "text": "Llamas are for sale", "cwd": ZOO}),
    }
    served.ask("PATCH", f"/api/memories/{notes['gone']['id']}", {"status": "retired"})
    return notes


def shown(page: TestClient, **query: str) -> str:
    answer = page.get("/part/", params=query)
    assert answer.status_code == 200, answer.text
    assert faults(answer.text) == []
    return answer.text


def sections(html: str) -> list[str]:
    return html.split('<section class="session">')[1:]


def test_what_is_of_one_session_and_turn_stands_together(page: TestClient, kept: Json) -> None:
    (session,) = [one for one in sections(shown(page)) if 'href="/sessions/s-feed"' in one]
    later, earlier = session.split('<div class="turn">')[1:]
    assert "Count the ferrets in the basket" in later
    assert "cage.py" in later
    assert "Count the wombats in the basket" in earlier
    assert "cart.py" in earlier
    assert f'<a href="/?project={quote(SHOP, safe="")}" title="{SHOP}">shop</a>' in session


def visible(html: str) -> str:
    """The text of a part, without what is read out only and what shows on hover."""
    return unescape(re.sub(r"<[^>]*>", "", html))


def test_a_lesson_is_said_once(served: Machine, page: TestClient) -> None:
    """Headline, prompt, title and summary of such a session are one and the same sentence."""
    lesson = "Always run the aardvark checks before a commit"
    for given in turn("s-lesson", lesson, cwd=SHOP):
        leave(served.home, given)
    served.drain()
    (session,) = [one for one in sections(shown(page, project=SHOP)) if 'href="/sessions/s-lesson"' in one]
    assert visible(session).lower().count("aardvark checks") == 1
    assert "Session of " in visible(session)


def test_it_begins_with_the_project_of_the_folder(served: Machine, kept: Json) -> None:
    here = browser_of(served, folder=ZOO)
    html = shown(here)
    assert f'<option value="{ZOO}" selected>' in html
    assert f'href="/memories/{kept["zoo"]["id"]}"' in html
    assert f'href="/memories/{kept["shop"]["id"]}"' not in html
    assert 'data-fresh="/?only=list"' in html
    everywhere = shown(here, project="*")
    assert f'href="/memories/{kept["shop"]["id"]}"' in everywhere
    assert 'data-fresh="/?project=%2A&amp;only=list"' in everywhere
    assert f'href="/memories/{kept["shop"]["id"]}"' in shown(here, project=SHOP)


@pytest.mark.parametrize("folder", ["", "/srv/nowhere", "relative", "/srv/\0"])
def test_in_a_folder_without_memories_it_begins_with_all_of_them(served: Machine, kept: Json, folder: str) -> None:
    html = shown(browser_of(served, folder=folder))
    assert all(f'href="/memories/{kept[name]["id"]}"' in html for name in ("shop", "zoo"))


def test_further_choices_are_out_of_sight_until_one_is_made(page: TestClient, kept: Json) -> None:
    assert '<details id="more-choices"><summary>More</summary>' in shown(page, kind="rule")
    for choice in ({"status": "retired"}, {"origin": "user"}, {"since": "2020-01-01"}, {"until": "2099-01-01"}):
        assert '<details id="more-choices" open>' in shown(page, **choice)


def test_kinds_have_the_colour_of_their_group(page: TestClient, kept: Json) -> None:
    html = shown(page)
    assert '<span class="kind k0" title="What was done">feature</span>' in html
    assert '<span class="kind k1" title="What was taught">rule</span>' in html


def test_a_pin_is_shown(served: Machine, page: TestClient, kept: Json) -> None:
    served.ask("PATCH", f"/api/memories/{kept['zoo']['id']}", {"pinned": True})
    assert '<span class="flag pin">pinned</span>' in shown(page, project=ZOO)
    served.ask("PATCH", f"/api/memories/{kept['zoo']['id']}", {"pinned": False})
    assert '<span class="flag pin">' not in shown(page, project=ZOO)


def test_what_code_made_stale_is_marked(served: Machine, page: TestClient, tmp_path: Path) -> None:
    developing = WorkingRepository.begin(served, tmp_path, {"README.md": "A shop.\n"})
    said = "Round the total of a basket"
    developing.session(
        said, {"cart.py": "def total(basket):\n    return round(sum(basket), 2)\n"}, "Rounded the total of a basket."
    )
    project = served.get(f"/api/place?cwd={developing.root}")["project"]
    assert "may be stale" not in shown(page, project=project)
    developing.replace("cart.py", ", 2)", ", 3)")
    assert ">may be stale</span>" in shown(page, project=project)
    assert "may be stale" not in shown(page, project=ZOO)


def test_of_a_folder_that_is_not_here_nothing_is_called_stale(own: tuple[Machine, TestClient], tmp_path: Path) -> None:
    """As after an import from another machine."""
    machine, page = own
    developing = WorkingRepository.begin(machine, tmp_path, {"README.md": "A shop.\n"})
    developing.session(
        "Round it",
        {"cart.py": "def total(basket):\n    return round(sum(basket), 2)\n"},
        "Rounded the total of a basket.",
    )
    rmtree(developing.root)
    html = shown(page, project="*")
    assert "cart.py" in html
    assert "its code is gone" not in html
    assert "may be stale" not in html


def retire_all(page: TestClient, *ids: str) -> Json:
    answer = page.post("/do/retire_all", json={"ids": list(ids)})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_several_are_retired_at_once_and_that_is_undone(own: tuple[Machine, TestClient]) -> None:
    machine, page = own
    made = [
        machine.post("/api/memories", {"kind": "gotcha", "text": text, "cwd": ZOO})
        for text in ("Emus outrun the keeper", "Dingoes dig below fences", "Wallabies eat the roses")
    ]
    made = [machine.get(f"/api/memories/{one['id']}") for one in made]
    html = shown(page)
    assert all(f'<input type="checkbox" class="select" name="ids" id="select-{one["id"]}"' in html for one in made)
    told = retire_all(page, *(one["id"] for one in made[:2]))
    assert told["message"] == "Retired 2 memories: found under the status “retired”."
    left = shown(page)
    assert [one["id"] in left for one in made] == [False, False, True]
    assert "Dingoes" in shown(page, status="retired")
    undone = page.post(f"/do/{told['undo']['do']}", json=told["undo"]["with"])
    assert undone.json()["message"] == "2 memories are active again, as before."
    now = [machine.get(f"/api/memories/{one['id']}") for one in made]
    assert [{**one, "seq": 0} for one in now] == [{**one, "seq": 0} for one in made]


def test_one_that_cannot_be_retired_keeps_none_of_the_others(own: tuple[Machine, TestClient]) -> None:
    machine, page = own
    kept = machine.post("/api/memories", {"kind": "note", "text": "Quolls are shy", "cwd": ZOO})
    told = retire_all(page, "nowhere999", kept["id"])
    assert told["message"].startswith("Retired 1 memory")
    assert "1 other was not: " in told["message"]
    assert told["undo"]["with"]["ids"] == [kept["id"]]
    refused: list[Json] = [{"ids": []}, {}, {"ids": "all"}, {"ids": [kept["id"]] * 501}]
    for given in refused:
        assert page.post("/do/retire_all", json=given).status_code == 409
    assert page.post("/do/retire_all", json={"ids": ["nowhere999"]}).status_code == 409


def test_what_is_of_no_session_names_its_project_and_leads_to_it(page: TestClient, kept: Json) -> None:
    (outside,) = [one for one in sections(shown(page)) if "<h2>Outside a session</h2>" in one]
    for project in (SHOP, ZOO):
        link = f'<a href="/?project={quote(project, safe="")}" title="{project}">'
        assert f"· {link}{project.rpartition('/')[2]}</a>" in outside


@pytest.mark.parametrize(
    ("choice", "found"),
    [
        ({}, {"shop", "zoo"}),
        ({"project": ZOO}, {"zoo"}),
        ({"kind": "rule"}, {"shop"}),
        ({"origin": "user"}, {"shop", "zoo"}),
        ({"origin": "web"}, set()),
        ({"status": "retired"}, {"gone"}),
        ({"status": "any"}, {"shop", "zoo", "gone"}),
        ({"status": "active"}, {"shop", "zoo"}),
        ({"kind": "whale", "origin": "mars", "status": "dead"}, {"shop", "zoo"}),
        ({"since": (date.today() - timedelta(days=2)).isoformat()}, {"shop", "zoo"}),
        ({"since": "2099-01-01"}, set()),
        ({"until": "2020-01-01"}, set()),
    ],
)
def test_choices_narrow_it(page: TestClient, kept: Json, choice: dict[str, str], found: set[str]) -> None:
    html = shown(page, **choice)
    assert {name for name, one in kept.items() if f'href="/memories/{one["id"]}"' in html} == found
    fresh = unescape(html.partition('data-fresh="')[2].partition('"')[0])
    offered = {name: value for name, value in choice.items() if value not in ("active", "whale", "mars", "dead")}
    assert dict(parse_qsl(fresh.partition("?")[2])) == {**offered, "only": "list"}


def test_the_last_day_of_a_choice_counts_to_its_end(page: TestClient, kept: Json) -> None:
    html = shown(page, until=date.today().isoformat())
    assert f'href="/memories/{kept["shop"]["id"]}"' in html


def test_nothing_that_fits_is_told_with_a_way_back(page: TestClient, kept: Json) -> None:
    html = shown(page, since="2099-01-01")
    assert 'Nothing fits what you chose. <a href="/?project=*">Show everything</a>' in html


@pytest.mark.parametrize("day", ["yesterday", "2026-02-31", "9999-99-99", "<b>"])
def test_what_is_no_day_is_told_so(page: TestClient, day: str) -> None:
    for name in ("since", "until"):
        answer = page.get("/part/", params={name: day})
        assert answer.status_code == 502
        assert "is no day" in answer.text
        assert "<b>" not in answer.text


def test_a_project_that_is_not_in_the_list_stays_chosen(page: TestClient, kept: Json) -> None:
    assert '<option value="/srv/elsewhere" selected>elsewhere</option>' in shown(page, project="/srv/elsewhere")


@pytest.fixture
def own() -> Iterator[tuple[Machine, TestClient]]:
    """A machine of one test's own, with an open page on it."""
    with open_machine() as machine:
        machine.start_worker()
        yield machine, browser_of(machine)


def test_an_empty_home_is_told_what_to_do_whichever_status_is_the_usual_one(own: tuple[Machine, TestClient]) -> None:
    for choice in ({}, {"status": "active"}, {"status": ""}):
        assert "Nothing is remembered yet." in shown(own[1], **choice)
    assert "Nothing fits what you chose." in shown(own[1], status="any")


def test_older_ones_follow_without_a_gap_or_a_repetition(own: tuple[Machine, TestClient]) -> None:
    machine, page = own
    told = [
        {"memory": {"kind": "note", "id": f"older{number:03}", "title": f"Note {number:03}", "summary": "It holds"}}
        for number in range(60)
    ]
    machine.post("/api/import/memories", {"project": ZOO, "at": AT, "lines": told, "trust": True})
    first = shown(page, kind="note")
    (link,) = [part.partition('"')[0] for part in first.split('data-more="feed" href="')[1:]]
    machine.post("/api/memories", {"kind": "note", "text": "Something came in between", "cwd": ZOO})
    rest = page.get(f"/part{unescape(link)}")
    assert rest.status_code == 200
    assert "<h1" not in rest.text
    assert "kind=note" in link
    assert "data-more" not in rest.text
    seen = [part.partition('"')[0] for part in (first + rest.text).split('href="/memories/')[1:]]
    assert len(seen) == 60
    assert set(seen) == {f"older{number:03}" for number in range(60)}


def test_a_place_that_is_none_is_told_so(page: TestClient) -> None:
    answer = page.get("/part/", params={"before": "nowhere"})
    assert answer.status_code == 502
    assert "The cursor of the feed is invalid." in answer.text
