"""`claude-mem-lite remember` as a person runs it, with a real worker: what it makes of the words, and what it says."""

import json
from pathlib import Path

import pytest

from tests.support.running import Json, Machine, leave, payload
from tests.worker.commands import run_here, run_raw_here

TOKEN = "ghp_" + "a8Kd93jfLq02MzXc7VbN5tYpRw61HsGeUoIi"


@pytest.fixture
def machine(unserved: Machine) -> Machine:
    unserved.start_worker()
    return unserved


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with a file in it."""
    root = (tmp_path / "shop").resolve()
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "src").mkdir()
    (root / "src" / "jwt.py").write_text("def renew():\n    return 1\n")
    return root


def remembered(machine: Machine, folder: Path, *words: str) -> Json:
    return json.loads(run_here(machine, "remember", *words, "--json", cwd=folder).stdout)


def by_prompt(machine: Machine, folder: Path, prompt: str) -> Json:
    """The memory that a prompt leaves."""
    leave(machine.home, payload("UserPromptSubmit", "s-1", str(folder), prompt=prompt))
    leave(machine.home, payload("Stop", "s-1", str(folder), last_assistant_message="Noted."))
    machine.drain()
    found = machine.get("/api/memories?all_projects=true")["memories"]
    (memory,) = [one for one in found if one["origin"] == "user"]
    return memory


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Never commit to main", "rule"),
        ("Use tabs in Go files", "rule"),
        ("I prefer small commits", "preference"),
        ("Don't use axios because it is slow", "anti_pattern"),
        ("This repo uses conventional commits", "convention"),
        ("We decided to keep carts in SQLite", "decision"),
        ("The test database listens on port 5433", "note"),
    ],
)
def test_a_kind_that_is_not_given_is_guessed_and_said(machine: Machine, shop: Path, words: str, kind: str) -> None:
    first, last, *_ = run_here(machine, "remember", words, cwd=shop).stdout.splitlines()
    assert f" ({kind}, guessed, " in first
    assert last.endswith("--kind KIND`.")


def test_words_need_no_quotes_and_a_kind_before_them_is_one(machine: Machine, shop: Path) -> None:
    assert remembered(machine, shop, "Never", "commit", "to", "main")["title"] == "Never commit to main"
    made = remembered(machine, shop, "Anti-Pattern", "Mocks", "of", "the", "database")
    assert (made["kind"], made["title"], made["is_guessed"]) == ("anti_pattern", "Mocks of the database", False)


def test_standard_input_needs_no_kind_either(machine: Machine, shop: Path) -> None:
    done = run_raw_here(machine, "remember", "-", "--json", cwd=shop, given=b"Never commit to main\nAsk Ann.\n")
    made = json.loads(done.stdout)
    assert (made["kind"], made["summary"]) == ("rule", "Never commit to main\nAsk Ann.")


def test_a_repeat_is_said(machine: Machine, shop: Path) -> None:
    id_ = remembered(machine, shop, "rule", "Never commit to main")["id"]
    said = run_here(machine, "remember", "rule", "Never commit to main", cwd=shop).stdout
    assert said == f"Known already as {id_} (rule, universal), said 2 times now: Never commit to main\n"


def test_the_project_is_said_by_its_name(machine: Machine, shop: Path) -> None:
    id_ = remembered(machine, shop, "note", "Carts are sorted by colour")["id"]
    run_here(machine, "projects", "rename", "shop", "store")
    said = run_here(machine, "remember", "note", "Tests need port 5433", cwd=shop).stdout
    assert said.endswith(" (note, in project store).\n")
    changed = run_here(machine, "edit", id_, "--kind", "decision", cwd=shop).stdout
    assert changed == f"Changed {id_} (decision, in project store).\n"


def test_a_secret_that_was_taken_out_is_said(machine: Machine, shop: Path) -> None:
    said = run_here(machine, "remember", "note", f"The deploy key is {TOKEN}", cwd=shop).stdout
    assert said.splitlines()[1] == "A secret in the text was taken out before it was stored."
    assert machine.files_with(TOKEN) == []


def test_a_private_passage_is_taken_out_and_that_is_said(machine: Machine, shop: Path) -> None:
    said = run_here(machine, "remember", "note", "Ann's dog <private>is called Rex</private> bites", cwd=shop).stdout
    assert said.splitlines()[1] == "A private passage in the text was taken out before it was stored."
    assert machine.files_with("called Rex") == []
    assert "Ann's dog [private] bites" in run_here(machine, "list", cwd=shop).stdout


def test_a_text_that_is_all_private_is_not_remembered(machine: Machine, shop: Path) -> None:
    refused = run_here(machine, "remember", "note", "<private>The dog is called Rex</private>", cwd=shop, status=1)
    assert "there is no text to remember" in refused.stderr
    assert machine.files_with("called Rex") == []


def test_an_edit_keeps_no_private_passage_either(machine: Machine, shop: Path) -> None:
    id_ = remembered(machine, shop, "note", "Ann has a dog")["id"]
    run_here(machine, "edit", id_, "--text", "Ann's dog <private>is called Rex</private> bites", cwd=shop)
    run_here(machine, "edit", id_, "--text", "<private>It is called Rex</private>", cwd=shop, status=1)
    assert machine.files_with("called Rex") == []
    assert "Ann's dog [private] bites" in run_here(machine, "show", id_, cwd=shop).stdout


@pytest.mark.parametrize(
    "words",
    [
        "never commit to main",
        "in this project, never commit to main",
        "I prefer small commits",
        "in Python, use pathlib",
        "in all my projects: squash commits",
        "never edit src/jwt.py by hand",
        "the staging database is wiped every Sunday",
    ],
)
def test_what_is_to_be_remembered_holds_in_the_same_place_by_prompt_and_by_command(
    machine: Machine, shop: Path, words: str
) -> None:
    by_command = remembered(machine, shop, words)
    run_here(machine, "forget", by_command["id"])
    asked = by_prompt(machine, shop, f"remember that {words}")
    assert (asked["kind"], asked["scope"]) == (by_command["kind"], by_command["scope"])


@pytest.mark.parametrize("words", ["Never commit to main", "In all my projects: squash commits"])
def test_a_rule_that_is_stated_in_passing_holds_where_the_command_has_it_hold(
    machine: Machine, shop: Path, words: str
) -> None:
    by_command = remembered(machine, shop, words)
    run_here(machine, "forget", by_command["id"])
    assert by_prompt(machine, shop, f"{words}.")["scope"] == by_command["scope"]


@pytest.mark.parametrize(
    ("words", "scope"),
    [
        ("Never commit to main", "universal"),
        ("Never commit to main in this repo", "project"),
        ("In Python, never use os.path", "language"),
        ("Never edit src/jwt.py by hand", "project"),
    ],
)
def test_a_rule_that_is_named_one_holds_everywhere_unless_its_words_say_otherwise(
    machine: Machine, shop: Path, words: str, scope: str
) -> None:
    assert remembered(machine, shop, "rule", words)["scope"].partition(":")[0] == scope
    assert remembered(machine, shop, "rule", words, "--scope", "universal")["scope"] == "universal"


def test_a_file_that_it_is_about_is_kept_with_it(machine: Machine, shop: Path) -> None:
    made = remembered(machine, shop / "src", "rule", "Tokens live for 5 minutes", "--file", "jwt.py")
    assert (made["files"], made["scope"].partition(":")[0]) == (["src/jwt.py"], "project")
    listed = json.loads(run_here(machine, "list", "--file", "src/jwt.py", "--json", cwd=shop).stdout)
    assert [one["id"] for one in listed] == [made["id"]]
