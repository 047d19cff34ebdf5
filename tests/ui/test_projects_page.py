"""The page of projects: in this process, with a real worker behind it."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.support.running import Json, Machine, open_machine
from tests.ui.conftest import browser_of

OLD, NEW = "/elsewhere/zoo", "/elsewhere/aviary"


@pytest.fixture
def machine() -> Iterator[Machine]:
    with open_machine() as made:
        made.start_worker()
        yield made


@pytest.fixture
def page(machine: Machine) -> TestClient:
    return browser_of(machine)


def remember(machine: Machine, text: str, cwd: str) -> str:
    return str(machine.post("/api/memories", {"kind": "gotcha", "text": text, "cwd": cwd})["project"])


def shown(page: TestClient, path: str = "/projects") -> str:
    answer = page.get(f"/part{path}")
    assert answer.status_code == 200, answer.text
    return answer.text


def do(page: TestClient, action: str, /, **given: Json) -> Json:
    answer = page.post(f"/do/{action}", json=given)
    assert answer.status_code == 200, answer.text
    return answer.json()


def undo(page: TestClient, told: Json) -> Json:
    return do(page, told["undo"]["do"], **told["undo"]["with"])


def projects(machine: Machine) -> dict[str, int]:
    return {one["name"]: one["memories"] for one in machine.get("/api/projects")["projects"]}


def test_a_home_without_projects_says_how_one_comes_about(page: TestClient) -> None:
    assert "There are no projects yet." in shown(page)


def test_projects_are_listed_with_what_they_hold(machine: Machine, page: TestClient) -> None:
    remember(machine, "The wombats bite", OLD)
    html = shown(page)
    assert "zoo" in html
    assert "1 memory" in html
    assert OLD in html


def test_a_project_is_renamed_and_that_undone(machine: Machine, page: TestClient) -> None:
    project = remember(machine, "The wombats bite", OLD)
    told = do(page, "rename_project", project=project, name="menagerie")
    assert projects(machine) == {"menagerie": 1}
    assert "was renamed to menagerie" in shown(page, "/projects?only=list")
    undo(page, told)
    assert projects(machine) == {"zoo": 1}
    assert "was renamed to" not in shown(page)


def test_a_new_name_stands_in_the_feed_and_in_what_is_found(machine: Machine, page: TestClient) -> None:
    remember(machine, "Prices are in cents", "/srv/shop")
    do(page, "rename_project", project="/srv/shop", name="webshop")
    for path in ("/", "/search?query=cents", "/search?query=cents&project=/srv/shop"):
        assert 'title="/srv/shop">webshop</a>' in shown(page, path)
    assert "found in webshop" in shown(page, "/search?query=cents&project=/srv/shop")


def test_two_projects_are_merged_and_that_undone(machine: Machine, page: TestClient) -> None:
    source, into = remember(machine, "The wombats bite", OLD), remember(machine, "The parrots shout", NEW)
    told = do(page, "merge_project", source=source, into=into)
    assert projects(machine) == {"aviary": 2}
    assert "zoo was merged into aviary" in shown(page, "/projects?only=list")
    undo(page, told)
    assert projects(machine) == {"zoo": 1, "aviary": 1}


def test_a_folder_is_split_from_its_project_and_that_undone(machine: Machine, page: TestClient) -> None:
    source, into = remember(machine, "The wombats bite", OLD), remember(machine, "The parrots shout", NEW)
    assert "Make a project of" not in shown(page)
    do(page, "merge_project", source=source, into=into)
    assert "Make a project of" in shown(page)
    told = do(page, "split_project", folder=OLD, name="wombats")
    assert projects(machine) == {"aviary": 1, "wombats": 1}
    assert "wombats was split from aviary" in shown(page, "/projects?only=list")
    undo(page, told)
    assert projects(machine) == {"aviary": 2}


def test_a_merge_without_a_second_project_is_refused_in_plain_words(machine: Machine, page: TestClient) -> None:
    source = remember(machine, "The wombats bite", OLD)
    answer = page.post("/do/merge_project", json={"source": source, "into": source})
    assert answer.status_code == 409
    assert "claude-mem-lite projects" in answer.json()["error"]


def test_a_name_of_a_project_is_never_html(machine: Machine, page: TestClient) -> None:
    project = remember(machine, "The wombats bite", OLD)
    do(page, "rename_project", project=project, name="<u>zoo<u>")
    html = shown(page)
    assert "<u>" not in html
    assert "&lt;u&gt;zoo" in html
