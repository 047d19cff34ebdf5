"""The page of one session, and that of one of its turns."""

import re
from html import unescape
from urllib.parse import quote

import pytest
from markupsafe import escape
from starlette.testclient import TestClient

from tests.support.commit_turns import ending
from tests.support.fakes import NOW, Store
from tests.support.running import Json, Machine, leave, open_machine, payload, turn
from tests.ui.conftest import browser_of

SCRIPT = "<script>alert(1)</script>"


def edited(session: str, prompt: str, file: str = "/src/cart.py") -> list[Json]:
    """A turn in which something was changed."""
    asked, *_ = turn(session, prompt)
    change = payload(
        "PostToolUse",
        session,
        tool_name="Edit",
        tool_input={"file_path": file, "old_string": "return 1", "new_string": "return len(basket)"},
        tool_response={"filePath": file, "structuredPatch": []},
    )
    return [asked, change, *ending(session, "/", prompt, file)]


def worked(machine: Machine, session: str, *prompts: str) -> None:
    for prompt in prompts:
        for given in edited(session, prompt):
            leave(machine.home, given)
    machine.drain()


def shown(page: TestClient, path: str) -> str:
    answer = page.get(f"/part{path}")
    assert answer.status_code == 200, answer.text
    return answer.text


def test_a_session_tells_its_summary_its_turns_and_what_is_remembered(served: Machine, page: TestClient) -> None:
    worked(served, "s-told", "Count the wombats in the basket", "Count the ferrets in the basket")
    html = shown(page, "/sessions/s-told")
    for told in ("Asked for", "Files changed", "/src/cart.py", "Count the ferrets in the basket", "2 turns"):
        assert told in html
    assert "was given nothing" in html
    assert html.index("Count the wombats") < html.rindex("Count the ferrets")
    assert 'href="/memories/' in html
    assert 'href="/context?project=' in html


def test_what_it_was_given_is_told_with_the_reason_and_what_came_of_it(served: Machine, page: TestClient) -> None:
    kept = served.post("/api/memories", {"kind": "rule", "text": "Quokkas are never sold", "cwd": "/"})
    served.hook("SessionStart", payload("SessionStart", "s-given", source="startup"))
    worked(served, "s-given", "Rename the shop")
    html = shown(page, "/sessions/s-given")
    assert "When it started" in html
    assert f"/memories/{kept['id']}" in html
    assert "not known yet" in html
    assert "1 context, not judged yet." in html
    story = shown(page, f"/memories/{kept['id']}")
    assert "/sessions/s-given#given-" in story


def test_of_a_session_that_ended_it_is_told_what_was_used_and_what_was_ignored(
    served: Machine, page: TestClient
) -> None:
    used, ignored = (
        served.post("/api/memories", {"kind": "rule", "text": text, "cwd": "/judged"})
        for text in ("Numbats eat termites only", "Echidnas are weighed at dawn")
    )
    served.hook("SessionStart", payload("SessionStart", "s-judged", "/judged", source="startup"))
    for given in turn("s-judged", f"Feed them as #{used['id']} says", cwd="/judged"):
        leave(served.home, given)
    leave(served.home, payload("SessionEnd", "s-judged", "/judged", reason="other"))
    served.drain()
    html = shown(page, "/sessions/s-judged")
    given = {row.partition('"')[0]: row.partition("</tr>")[0] for row in html.split('href="/memories/')[1:]}
    assert '<strong class="good">used</strong>' in given[used["id"]]
    assert '<span class="quiet">ignored</span>' in given[ignored["id"]]
    assert ", 1 of them used." in html
    assert "Given 1 time: used 1, ignored 0, unknown 0." in shown(page, f"/memories/{used['id']}")
    assert "Given 1 time: used 0, ignored 1, unknown 0." in shown(page, f"/memories/{ignored['id']}")


@pytest.mark.parametrize(
    ("id_", "prompt"),
    [
        ("a/b", "Brush the llama"),
        ("x?y#z", "Shear forty sheep"),
        ("#ab", "Mend a broken fence"),
        ("c&d=e f", "Water every plant"),
        ('s"<b>', "Paint those doors green"),
        ("s1", "Order more hay"),
        ("../up", "Sweep under the stairs"),
    ],
)
def test_an_id_may_be_anything(served: Machine, page: TestClient, id_: str, prompt: str) -> None:
    worked(served, id_, prompt)
    link = f"/sessions/{quote(id_, safe='')}"
    assert f'<h2><a href="{link}">' in shown(page, "/")
    html = shown(page, link)
    assert f"<code>{escape(id_)}</code>" in html
    (turn_, *_) = [part.partition('"')[0] for part in html.split('href="/turns/')[1:]]
    assert f'href="{link}"' in shown(page, f"/turns/{turn_}")
    (memory, *_) = [part.partition('"')[0] for part in html.split('href="/memories/')[1:]]
    assert f'href="{link}"' in shown(page, f"/memories/{memory}")


def test_script_that_was_asked_is_shown_as_text(served: Machine, page: TestClient) -> None:
    worked(served, "s-script", f"Explain {SCRIPT} to me, and count it")
    html = shown(page, "/sessions/s-script")
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_turn_is_shown_with_all_that_was_said(served: Machine, page: TestClient) -> None:
    worked(served, "s-long", "Tell a long story.\n" + "Of badgers. " * 2_500 + "The moral counts.")
    (asked, *_) = served.get("/api/timeline?id=s-long")["items"]
    assert asked["kind"] == "turn"
    assert f"/turns/{asked['id']}" in shown(page, "/sessions/s-long")
    html = shown(page, f"/turns/{asked['id']}")
    assert html.count("Tell a long story.") > 1
    assert "/sessions/s-long" in html
    assert "The moral counts." not in html
    assert "The moral counts." in shown(page, f"/turns/{asked['id']}?all=1")


def test_many_turns_come_a_page_at_a_time(served: Machine, page: TestClient) -> None:
    for number in range(52):
        asked, *_, last = turn("s-many", f"Question number {number} about the aviary")
        for given in (asked, last):
            leave(served.home, given)
    served.drain()
    first = shown(page, "/sessions/s-many")
    assert 'href="/sessions/s-many?from=50&amp;only=turns"' in first
    assert "“Question number 49 " in first
    assert "“Question number 50 " not in first
    rest = shown(page, "/sessions/s-many?from=50&only=turns")
    assert "“Question number 50 " in rest
    assert "“Question number 49 " not in rest
    assert "<h1" not in rest


@pytest.mark.parametrize("place", ["9" * 5_000, "-1", "²", "x", ""])
def test_a_place_that_is_none_is_the_beginning(served: Machine, page: TestClient, place: str) -> None:
    worked(served, "s-place", "Comb the alpaca")
    assert "“Comb the alpaca”" in shown(page, f"/sessions/s-place?from={place}&only=turns")


def test_however_long_a_session_is_all_of_it_can_be_read() -> None:
    with open_machine() as machine:
        with Store(machine.home.memory_db) as store:
            for number in range(600):
                store.turn(f"t{number}", f"Question {number:04}", "ok", session="s-endless", at=NOW)
            for number in range(450):
                store.remember(f"Answer {number:04}", turn="t599", session="s-endless", created_at=NOW)
        machine.start_worker()
        page = browser_of(machine)
        seen, link = "", "/sessions/s-endless"
        while link:
            html = shown(page, unescape(link))
            assert html.count('<section class="turn">') <= 50
            seen += html
            link = html.partition('data-more="turns" href="')[2].partition('"')[0]
    assert re.findall(r"“Question (\d+)”", seen) == [f"{number:04}" for number in range(600)]
    assert re.findall(r"</span>Answer (\d+), because it was asked for</a>", seen) == [
        f"{number:04}" for number in range(450)
    ]
    assert seen.count("More of the last one") == 2


@pytest.mark.parametrize("path", ["/sessions/nothing-by-that-name", "/turns/nothing-by-that-name"])
def test_what_is_not_there_is_told_in_plain_words(page: TestClient, path: str) -> None:
    answer = page.get(f"/part{path}")
    assert answer.status_code == 404
    assert "nothing-by-that-name" in answer.text


def test_a_memory_is_no_session(served: Machine, page: TestClient) -> None:
    kept = served.post("/api/memories", {"kind": "note", "text": "Okapis hum", "cwd": "/"})
    for path in ("sessions", "turns"):
        assert page.get(f"/part/{path}/{kept['id']}").status_code == 404
