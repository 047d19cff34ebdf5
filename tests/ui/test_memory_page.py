"""The page of one memory, and what can be done there: in this process, with a real worker behind it."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from shutil import rmtree
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from claude_mem_lite.responses.encoding import from_json
from claude_mem_lite.responses.memories import MemoryRecord
from claude_mem_lite.ui.actions import mark_of
from tests.support.running import Json, Machine
from tests.worker.working_repository import WorkingRepository

SCRIPT = "<script>alert('title')</script>"


def remember(machine: Machine, text: str, kind: str = "rule", **more: Json) -> Json:
    return machine.post("/api/memories", {"kind": kind, "text": text, "cwd": "/", **more})


def shown(page: TestClient, path: str) -> str:
    answer = page.get(f"/part{path}")
    assert answer.status_code == 200, answer.text
    return answer.text


def do(page: TestClient, name: str, **given: Json) -> Json:
    answer = page.post(f"/do/{name}", json=given)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(page: TestClient, name: str, **given: Json) -> str:
    answer = page.post(f"/do/{name}", json=given)
    assert answer.status_code == 409, answer.text
    return str(answer.json()["error"])


def edit(page: TestClient, memory: Json, **changes: Json) -> Json:
    fields = {name: memory[name] for name in ("id", "title", "kind", "scope")}
    whole = {
        **fields,
        "text": memory["summary"],
        "tags": ", ".join(memory["tags"]),
        "mark": mark_of(from_json(MemoryRecord, memory)),
    }
    return {**whole, **changes}


def stored(machine: Machine, id_: str) -> Json:
    return machine.get(f"/api/memories/{id_}")


def test_all_of_a_memory_is_shown(served: Machine, page: TestClient) -> None:
    kept = remember(served, "Wombats are counted twice\nin the evening", "gotcha", tags=["zoo"])
    html = shown(page, f"/memories/{kept['id']}")
    for told in ("Wombats are counted twice", "in the evening", "gotcha", "zoo", kept["id"], "no session yet"):
        assert told in html


def test_script_in_a_memory_is_shown_as_text(served: Machine, page: TestClient) -> None:
    kept = remember(served, f"{SCRIPT} is a title\"'><img src=x>", "note", tags=[SCRIPT])
    for path in (f"/memories/{kept['id']}", f"/memories/{kept['id']}?all=1"):
        html = shown(page, path)
        assert "<script" not in html
        assert "<img" not in html
    assert "&lt;script&gt;" in html


def test_an_unknown_memory_is_told_in_plain_words(page: TestClient) -> None:
    answer = page.get("/part/memories/nowhere99")
    assert answer.status_code == 404
    assert "nowhere99" in answer.text


def test_a_long_text_is_cut_and_can_be_seen_whole(served: Machine, page: TestClient) -> None:
    kept = remember(served, "A tale of ferrets", "note")
    detail = "ferrets " * 20_000 + "THE END"
    with closing(sqlite3.connect(served.home.memory_db)) as db, db:
        db.execute("update memories set detail = ? where id = ?", (detail, kept["id"]))
    html = shown(page, f"/memories/{kept['id']}")
    assert len(html) < 60_000
    assert "THE END" not in html
    assert f'href="/memories/{kept["id"]}?all=1"' in html
    assert "too long to be edited" in html
    assert "THE END" in shown(page, f"/memories/{kept['id']}?all=1")


def test_it_is_edited_as_the_command_does(served: Machine, page: TestClient) -> None:
    kept = remember(served, "The test database listens on 5433", "note", tags=["db", "old"])
    do(page, "edit", **edit(page, kept, text="The test database listens on 5434", kind="gotcha", tags="db, port"))
    now = stored(served, kept["id"])
    assert (now["summary"], now["kind"], now["tags"]) == ("The test database listens on 5434", "gotcha", ["db", "port"])
    assert now["title"] == kept["title"]


def test_saving_without_a_change_changes_nothing(served: Machine, page: TestClient) -> None:
    kept = remember(served, "Lines\n\nof a poem about otters", "note")
    typed = edit(page, kept, text="Lines\r\n\r\nof a poem about otters\r\n")
    assert do(page, "edit", **typed)["message"] == "Nothing was changed."
    assert stored(served, kept["id"])["last_seen_at"] == kept["last_seen_at"]


def test_what_was_changed_meanwhile_is_not_written_over(served: Machine, page: TestClient) -> None:
    kept = remember(served, "Badgers sleep by day", "note")
    served.ask("PATCH", f"/api/memories/{kept['id']}", {"text": "Badgers sleep by night"})
    assert "while you edited" in refused(page, "edit", **edit(page, kept, text="Badgers never sleep"))
    assert stored(served, kept["id"])["summary"] == "Badgers sleep by night"


def test_without_words_nothing_is_saved(served: Machine, page: TestClient) -> None:
    kept = remember(served, "Lynxes are shy", "note")
    assert "needs a title" in refused(page, "edit", **edit(page, kept, text="  "))


@pytest.mark.parametrize("name", ["pin", "confirm", "retire", "edit", "replace", "forget"])
@pytest.mark.parametrize("id_", ["", "  ", None, 7])
def test_without_an_id_nothing_is_done(page: TestClient, name: str, id_: Json) -> None:
    assert refused(page, name, id=id_, text="words") == "it was not said which memory: load the page again"


def test_it_is_pinned_confirmed_and_retired(served: Machine, page: TestClient) -> None:
    kept = remember(served, "Capybaras swim", "note")
    do(page, "pin", id=kept["id"], pinned=True)
    assert stored(served, kept["id"])["pinned"] is True
    assert ">Unpin</button>" in shown(page, f"/memories/{kept['id']}")
    do(page, "pin", id=kept["id"], pinned=False)
    do(page, "retire", id=kept["id"], reason="they moved away")
    html = shown(page, f"/memories/{kept['id']}")
    assert "because they moved away" in html
    assert ">Confirm: it holds again</button>" in html
    do(page, "confirm", id=kept["id"])
    assert stored(served, kept["id"])["status"] == "active"


def test_it_is_replaced_by_new_words_which_hold_where_it_did(served: Machine, page: TestClient) -> None:
    kept = remember(served, "Tapirs eat leaves", "note", scope="language:python", tags=["zoo"])
    answer = do(page, "replace", id=kept["id"], text="The tapir keeper brings apples")
    old = stored(served, kept["id"])
    new = stored(served, old["superseded_by"])
    assert answer["go"] == f"/memories/{new['id']}"
    assert (old["status"], new["status"], new["summary"]) == ("superseded", "active", "The tapir keeper brings apples")
    assert (new["kind"], new["scope"], new["tags"]) == ("note", "language:python", ["zoo"])
    assert "It replaced" in shown(page, f"/memories/{new['id']}")
    assert f"/memories/{new['id']}" in shown(page, f"/memories/{old['id']}")


def test_it_is_replaced_by_another_that_is_named(served: Machine, page: TestClient) -> None:
    old = remember(served, "Gibbons sing at noon", "note")
    new = remember(served, "Gibbons are quiet on rainy days", "note")
    do(page, "replace", id=old["id"], successor=f"#{new['id'][:6]}")
    assert stored(served, old["id"])["superseded_by"] == new["id"]
    assert "own place" in refused(page, "replace", id=new["id"], successor=new["id"])
    assert "superseded" in refused(page, "replace", id=new["id"], successor=old["id"])
    assert "nothing was given" in refused(page, "replace", id=new["id"])


def test_what_is_forgotten_is_gone_from_every_file(served: Machine, page: TestClient) -> None:
    kept = remember(served, "The pangolin house has a quokkaphone", "note", tags=["zoo"])
    assert do(page, "forget", id=kept["id"]) == {"message": "Forgotten for good.", "go": "/"}
    assert page.get(f"/part/memories/{kept['id']}").status_code == 404
    assert served.files_with("quokkaphone") == []


def test_forgetting_stands_last_and_asks_first(page: TestClient, developing: WorkingRepository) -> None:
    """The question names all that goes: the turn's own words, receipts and backups too."""
    kept = anchored_to_code(developing)
    developing.session("Look at the total once more", {}, "Looked.")
    html = shown(page, f"/memories/{kept['id']}")
    doing = html.partition('class="doing"')[2].partition("</section>")[0]
    buttons = re.findall(r'data-do="(\w+)"', doing.partition("<template")[0])
    assert buttons == ["confirm", "pin", "retire", "edit", "replace", "replace", "retire", "forget"]
    assert 'id="forget" data-asks="ask-forget" data-yes="Forget" aria-haspopup="dialog" data-delay="Forgotten"' in doing
    question = doing.partition('<template id="ask-forget">')[2]
    for told in (
        "the memory",
        "in the turn it came from: “Round the total of a basket”",
        "what the session&#39;s summary and other memories say" if "&#39;" in question else "the session's summary",
        "1 entry in receipts",
        "backups that hold it",
        "databases that a restore or a repair put aside",
        "You have ten seconds to undo that",
    ):
        assert told in question
    assert 'data-do="retire"' in question


def test_undo_brings_back_nothing_that_was_retired_before(served: Machine, page: TestClient) -> None:
    before = remember(served, "Quokkas are fed at noon", "gotcha")
    kept = remember(served, "Quokkas are counted at night", "gotcha")
    do(page, "retire", id=before["id"], reason="they are fed at dawn")
    undo = do(page, "retire_all", ids=[before["id"], kept["id"]])["undo"]
    do(page, undo["do"], **undo["with"])
    assert [stored(served, one["id"])["status"] for one in (before, kept)] == ["retired", "active"]
    assert "undo" not in do(page, "retire", id=before["id"])


def test_a_retirement_is_undone_without_a_trace(served: Machine, page: TestClient) -> None:
    kept = stored(served, remember(served, "Potoroos dig for truffles", "gotcha")["id"])
    undo = do(page, "retire", id=kept["id"])["undo"]
    assert stored(served, kept["id"])["status"] == "retired"
    do(page, undo["do"], **undo["with"])
    assert {**stored(served, kept["id"]), "seq": 0} == {**kept, "seq": 0}
    do(page, undo["do"], **undo["with"])  # twice is as good as once
    assert stored(served, kept["id"])["status"] == "active"


def test_a_title_that_its_summary_repeats_stands_once(served: Machine, page: TestClient) -> None:
    kept = remember(served, "Quendas nest below the fig tree", "note")
    html = shown(page, f"/memories/{kept['id']}")
    shown_before_editing = html.partition('class="doing"')[0]
    assert shown_before_editing.count("Quendas nest") == 1


def test_shell_lines_and_markdown_are_shown_as_such(served: Machine, page: TestClient) -> None:
    text = "Feeding time\n\n$ make feed\n- **hay** for `tapirs`\n```\n<b>raw</b>\n```\n"
    kept = remember(served, text, "note")
    html = shown(page, f"/memories/{kept['id']}")
    assert "<pre><code>$ make feed</code></pre>" in html
    assert "<ul><li><strong>hay</strong> for <code>tapirs</code></li></ul>" in html
    assert "<pre><code>&lt;b&gt;raw&lt;/b&gt;</code></pre>" in html


@pytest.fixture
def developing(served: Machine, tmp_path: Path) -> WorkingRepository:
    # The name of the folder is in those of its sessions: each test has its own.
    made = WorkingRepository.begin(served, tmp_path, {"README.md": "A shop.\n"})
    code = "def total(basket):\n    return round(sum(basket), 2)\n"
    made.session("Round the total of a basket", {"cart.py": code}, "Rounded the total of a basket.")
    return made


def anchored_to_code(developing: WorkingRepository) -> Json:
    found = developing.machine.get(f"/api/memories?cwd={developing.root}")["memories"]
    return next(one for one in found if any(anchor.startswith("code:") for anchor in one["anchors"]))


def test_how_it_stands_with_its_code_is_told_and_confirmed_from_its_own_folder(
    page: TestClient, developing: WorkingRepository
) -> None:
    kept = anchored_to_code(developing)
    path = f"/memories/{kept['id']}"
    html = shown(page, path)
    assert "cart.py: total" in html
    assert "It matches the code." in html
    assert f'href="/context?{urlencode({"project": kept["project"]})}"' in html
    assert "Round the total of a basket" in html
    developing.replace("cart.py", ", 2)", ", 3)")
    assert "It may be stale" in shown(page, path)
    do(page, "confirm", id=kept["id"])
    assert "It matches the code." in shown(page, path)


def test_what_is_confirmed_when_its_folder_is_gone_stays_tied_to_what_it_was_tied_to(
    served: Machine, page: TestClient, developing: WorkingRepository
) -> None:
    kept = anchored_to_code(developing)
    rmtree(developing.root)
    do(page, "confirm", id=kept["id"])
    now = stored(served, kept["id"])
    assert now["confidence"] >= kept["confidence"]
    assert {name: now[name] for name in ("anchors", "branch", "commit")} == {
        name: kept[name] for name in ("anchors", "branch", "commit")
    }
