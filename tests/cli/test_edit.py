"""What edit, pin, confirm and retire ask of the worker, what they print, and how they meet mistakes."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home
from tests.cli.test_commands import Terminal
from tests.support.fake_worker import MEMORY, FakeWorker, fake_worker, run

ADDRESS = "/api/memories/k7f3a9"
OTHER: dict[str, JsonValue] = {
    "id": "b21c77",
    "title": "Use npm",
    "last_seen_at": "2026-01-05T12:00:00+00:00",
    "pinned": True,
}


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        worker.answer(f"GET {ADDRESS}", MEMORY)
        worker.answer(f"PATCH {ADDRESS}", MEMORY)
        yield worker


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that does what the script says that the test writes there, and a person at a terminal."""
    script = tmp_path / "editing.py"
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    return script


def replacing(script: Path, *pairs: tuple[str, str]) -> None:
    lines = ["import pathlib, sys", "file = pathlib.Path(sys.argv[1])", "text = file.read_text()"]
    lines += [f"assert {old!r} in text, text\ntext = text.replace({old!r}, {new!r})" for old, new in pairs]
    # A second later: an editor that saves is known by the time of the file.
    lines += ["file.write_text(text)", "import os", "os.utime(file, (2_000_000_000, 2_000_000_000))"]
    script.write_text("\n".join(lines))


def test_edit_sends_only_what_is_to_be_another(
    worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("edit", "#k7f3a9", "--text", "Use a lock", "--kind", "Rule", "--tag", "auth", "--untag", "old") == 0
    assert worker.last(ADDRESS).body == {
        "text": "Use a lock",
        "kind": "rule",
        "tags": ["auth"],
        "untags": ["old"],
        "cwd": str(tmp_path),
    }
    assert capsys.readouterr().out == "Changed k7f3a9 (bugfix, in project shop).\n"


def test_edit_says_what_the_memory_replaces_and_contradicts_now(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer(f"PATCH {ADDRESS}", {**MEMORY, "replaced": [{**OTHER, "pinned": False}], "conflicts": [OTHER]})
    run("edit", "k7f3a9", "--title", "Use pnpm")
    shown = capsys.readouterr().out
    assert "It replaces b21c77 (2026-01-05): Use npm" in shown
    assert "It contradicts b21c77 (2026-01-05, pinned): Use npm" in shown


def test_edit_without_options_needs_a_terminal(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("edit", "k7f3a9") == 2
    assert "--title, --text" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--title", "--text"])
def test_edit_needs_some_words(worker: FakeWorker, capsys: pytest.CaptureFixture[str], option: str) -> None:
    assert run("edit", "k7f3a9", option, " ") == 2
    assert "forget k7f3a9" in capsys.readouterr().err


def test_an_editor_shows_the_whole_memory_and_sends_what_was_changed(worker: FakeWorker, editor: Path) -> None:
    replacing(
        editor,
        ("title: Fix the token refresh race", "title: Lock the token refresh"),
        ("tags: auth", "tags: tokens, race"),
        ("- refresh takes 2 s", "- refresh takes 3 s"),
    )
    assert run("edit", "k7f3a9") == 0
    assert worker.last(ADDRESS).body == {
        "title": "Lock the token refresh",
        "text": "Two refreshes at once\nlogged users out.\n\nA lock around the refresh.\n\n- refresh takes 3 s",
        "tags": ["tokens", "race"],
        "untags": ["auth"],
        "cwd": str(Path.cwd()),
    }


def test_a_form_that_is_left_as_it_was_changes_nothing(
    worker: FakeWorker, editor: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replacing(editor)
    assert run("edit", "k7f3a9") == 0
    assert capsys.readouterr().out == "Nothing was changed.\n"
    assert [one.method for one in worker.seen if one.path == ADDRESS] == ["GET"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("title: Fix the token refresh race", "title:", "needs a title"),
        ("kind: bugfix", "kind: bugfixx", "did you mean bugfix"),
        ("kind: bugfix", "colour: red", "only title, kind, scope and tags"),
    ],
)
def test_a_form_that_cannot_be_read_changes_nothing(
    worker: FakeWorker, editor: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, told: str
) -> None:
    replacing(editor, (old, new))
    assert run("edit", "k7f3a9") != 0
    shown = capsys.readouterr().err
    assert told in shown
    assert [one.method for one in worker.seen if one.path == ADDRESS] == ["GET"]
    assert new in kept_form(shown)


def kept_form(shown: str) -> str:
    """What was typed, from the file that an error names."""
    path = Path(shown.split("what you wrote is in ")[1].split()[0].rstrip("."))
    text = path.read_text()
    path.unlink()
    return text


def test_an_editor_that_fails_is_told_as_such_and_what_was_typed_is_kept(
    worker: FakeWorker, editor: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replacing(editor, ("A lock around", "Two locks around"))
    editor.write_text(editor.read_text() + "\nsys.exit(3)\n")
    assert run("edit", "k7f3a9") == 1
    shown = capsys.readouterr().err
    assert "the editor ended with an error" in shown
    assert "Two locks around" in kept_form(shown)


def test_a_memory_that_changed_while_its_form_was_open_is_not_overwritten(
    worker: FakeWorker, editor: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replacing(editor, ("A lock around", "Two locks around"))
    opened = click.edit

    def edit(*, filename: str) -> None:
        opened(filename=filename)
        worker.answer(f"GET {ADDRESS}", {**MEMORY, "detail": "Somebody else was here."})

    monkeypatch.setattr(click, "edit", edit)
    assert run("edit", "k7f3a9") == 1
    shown = capsys.readouterr().err
    assert "k7f3a9 was changed while you edited it" in shown
    assert "Two locks around" in kept_form(shown)
    assert [one.method for one in worker.seen if one.path == ADDRESS] == ["GET", "GET"]


def test_what_the_worker_refuses_is_kept_as_it_was_typed(
    worker: FakeWorker, editor: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replacing(editor, ("A lock around", "Two locks around"))
    worker.refuse(f"PATCH {ADDRESS}", 400, "error", "that is no memory", "write less")
    assert run("edit", "k7f3a9") == 1
    assert "Two locks around" in kept_form(capsys.readouterr().err)


def test_a_title_that_was_left_in_the_form_stays(worker: FakeWorker, editor: Path) -> None:
    replacing(editor, ("A lock around", "Two locks around"))
    assert run("edit", "k7f3a9") == 0
    body = worker.last(ADDRESS).body
    assert isinstance(body, dict)
    assert body["title"] == "Fix the token refresh race"


def test_an_editor_that_is_not_there_is_told_with_the_next_step(
    worker: FakeWorker, editor: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    assert run("edit", "k7f3a9") == 1
    assert "set EDITOR, or use --title and --text" in capsys.readouterr().err


def test_pin_and_letting_go(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pin", "k7f3a9") == 0
    assert worker.last(ADDRESS).body == {"pinned": True}
    assert run("pin", "k7f3a9", "--off") == 0
    assert worker.last(ADDRESS).body == {"pinned": False}
    assert capsys.readouterr().out == (
        "Pinned k7f3a9: Fix the token refresh race\nLet go of k7f3a9: Fix the token refresh race\n"
    )


def test_confirm_names_the_folder_whose_code_is_meant(
    worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("confirm", "k7f3a9") == 0
    assert worker.last(ADDRESS).body == {"status": "active", "cwd": str(tmp_path)}
    assert capsys.readouterr().out == "k7f3a9 holds: Fix the token refresh race\n"


def test_retire_says_how_to_undo_it(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("retire", "k7f3a9", "--reason", "thrown out") == 0
    assert worker.last(ADDRESS).body == {"status": "retired", "reason": "thrown out"}
    assert "`claude-mem-lite confirm k7f3a9` brings it back." in capsys.readouterr().out


def test_retire_and_forget_name_what_had_been_replaced_and_how_it_holds_again(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {**MEMORY, "replaced": [{**OTHER, "pinned": False}]}
    worker.answer(f"PATCH {ADDRESS}", {**known, "status": "retired"})
    worker.answer("GET /api/records/k7f3a9", known)
    worker.answer("POST /api/forget", {"forgotten": ["k7f3a9"]})
    for command in ("retire", "forget"):
        assert run(command, "k7f3a9") == 0
        shown = capsys.readouterr().out
        assert "It had replaced b21c77 (2026-01-05): Use npm" in shown
        assert "`claude-mem-lite confirm b21c77` makes it hold again" in shown
    worker.answer("POST /api/forget", {"forgotten": ["k7f3a9", "b21c77"]})
    run("forget", "k7f3a9")
    assert capsys.readouterr().out.splitlines() == [
        "Forgot 2 memories.",
        "Not named, but older versions or repetitions of the same text: b21c77.",
    ]


def test_forget_names_what_an_older_version_that_went_along_had_replaced(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    version = {**OTHER, "id": "v1", "pinned": False}
    worker.answer("GET /api/records/k7f3a9", {**MEMORY, "replaced": [version]})
    worker.answer("GET /api/memories/v1", {**version, "replaced": [{**OTHER, "pinned": False}]})
    worker.refuse("GET /api/memories/b21c77", 404, "not_found", "there is no memory b21c77", "")
    worker.answer("POST /api/forget", {"forgotten": ["k7f3a9", "v1"]})
    assert run("forget", "k7f3a9") == 0
    assert capsys.readouterr().out.splitlines() == [
        "Forgot 2 memories.",
        "Not named, but older versions or repetitions of the same text: v1.",
        "It had replaced b21c77 (2026-01-05): Use npm",
        "  which stays replaced; `claude-mem-lite confirm b21c77` makes it hold again.",
    ]


@pytest.mark.parametrize("line", [["edit", "k7f3a9", "--kind", "note"], ["pin", "k7f3a9"], ["confirm", "k7f3a9"]])
def test_each_prints_the_memory_as_json(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], line: list[str]
) -> None:
    assert run(*line, "--json") == 0
    assert json.loads(capsys.readouterr().out) == MEMORY


def test_a_memory_that_is_not_there_is_told_in_a_sentence(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.refuse(f"PATCH {ADDRESS}", 404, "not_found", "there is no memory k7f3a9", "`claude-mem-lite list` shows ids")
    assert run("pin", "k7f3a9") == 1
    assert "there is no memory k7f3a9" in capsys.readouterr().err


def test_show_tells_what_replaced_it_since_when_and_what_contradicts_it(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = {
        **MEMORY,
        "status": "superseded",
        "superseded_by": "b21c77",
        "replaced_by": {**OTHER, "pinned": False},
        "replaced": [{**OTHER, "id": "a1", "pinned": False}],
        "conflicts": [{**OTHER, "id": "c3"}],
        "pinned": True,
    }
    worker.answer("GET /api/records/k7f3a9", shown)
    run("show", "k7f3a9")
    told = capsys.readouterr().out
    assert "superseded by: b21c77 (2026-01-05): Use npm" in told
    assert "replaced: a1 (2026-01-05): Use npm" in told
    assert "contradicted by: c3 (2026-01-05, pinned): Use npm" in told
    assert "state: pinned" in told


def test_show_tells_when_and_why_it_was_retired(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    retired = {
        **MEMORY,
        "status": "retired",
        "retired_because": "thrown out",
        "retired_at": "2026-02-01T12:00:00+00:00",
    }
    worker.answer("GET /api/records/k7f3a9", retired)
    run("show", "k7f3a9")
    assert "state: retired on 2026-02-01, because thrown out" in capsys.readouterr().out


def test_list_marks_what_is_pinned_contradicted_or_replaced(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [
        {**MEMORY, "pinned": True, "conflicts": [OTHER]},
        {**MEMORY, "status": "superseded", "superseded_by": "b21c77"},
        {**MEMORY, "status": "retired", "retired_because": "thrown out", "retired_at": "2026-02-01T12:00:00+00:00"},
    ]
    worker.answer("GET /api/memories", {"memories": found})
    run("list", "--status", "any")
    shown = " ".join(capsys.readouterr().out.split())
    assert "[pinned] [contradicted by b21c77]" in shown
    assert "[now b21c77]" in shown
    assert "[2026-02-01: thrown out]" in shown
