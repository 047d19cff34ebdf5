"""What a repository says of itself, as the worker obeys it; and what the worker tells of settings and of the model."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.errors import ModelRefused
from claude_mem_lite.paths import Home
from claude_mem_lite.project_config import NAME
from claude_mem_lite.responses.status import EffectiveSetting
from claude_mem_lite.worker.answers.prompt import prompt_context
from claude_mem_lite.worker.answers.session_start import start_context
from claude_mem_lite.worker.api import admin, context
from claude_mem_lite.worker.api.request_project import choose_folder
from claude_mem_lite.worker.services import Services
from tests.support.fakes import FakeProvider
from tests.support.running import leave, payload, query, spool_name, turn
from tests.worker.conftest import SetClock
from tests.worker.trigger_events import now_name


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository, as far as its folder tells."""
    root = (tmp_path / "shop").resolve()
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "clients" / "acme").mkdir(parents=True)
    return root


def work(home: Home, loop: Services, session: str, cwd: Path, what: str) -> None:
    for event in turn(session, what, cwd=str(cwd)):
        leave(home, event, name=spool_name(event["hook_event_name"]))
    assert loop.passes.wait_until_idle(30)


def start(home: Home, loop: Services, cwd: Path) -> str:
    """What a session that starts is given."""
    name = leave(home, payload("SessionStart", "s-new", str(cwd), source="startup"), name=now_name("SessionStart", 1.0))
    reply = start_context(loop, name, b"")
    return str(json.loads(reply)["hookSpecificOutput"]["additionalContext"]) if reply else ""


def test_nothing_of_a_folder_that_its_repository_excludes_is_kept_or_given(
    home: Home, loop: Services, shop: Path
) -> None:
    (shop / NAME).write_text('exclude = ["clients/*"]\n')
    work(home, loop, "s-1", shop / "clients" / "acme", "mellonbright")
    assert query(home.inbox_db, "select count(*) from inbox") == [(0,)]
    work(home, loop, "s-2", shop / "clients", "build the basket")
    assert query(home.inbox_db, "select count(*) from inbox")[0][0] > 0
    assert start(home, loop, shop / "clients" / "acme") == ""
    assert "build the basket" in start(home, loop, shop)


def test_what_was_rendered_for_a_folder_goes_when_its_repository_excludes_it(
    home: Home, loop: Services, shop: Path
) -> None:
    work(home, loop, "s-1", shop / "clients", "build the basket")
    rendered = home.rendered_for(str(shop / "clients"))
    assert rendered.exists()
    (shop / NAME).write_text('exclude = ["clients"]\n')
    work(home, loop, "s-2", shop, "paint the basket")
    assert not rendered.exists()


def test_budgets_and_the_layout_are_those_of_the_repository(home: Home, loop: Services, shop: Path) -> None:
    (shop / NAME).write_text('budget_tokens = 321\nprompt_budget_tokens = 0\npreset = "codes"\nprovider = "openai"\n')
    here = choose_folder(loop, str(shop))
    built = context.context(loop, here)
    assert (built.budget, built.preset) == (321, "codes")
    assert context.context(loop, choose_folder(loop, str(shop.parent))).budget == 2000
    assert context.prompt_context(loop, "why SQLite?", here).why_silent.startswith("prompt_budget_tokens is 0")
    given = payload("UserPromptSubmit", "s-1", str(shop), prompt="where do we keep the carts, and why SQLite?")
    name = leave(home, given, name=now_name("UserPromptSubmit", 1.0))
    assert prompt_context(loop, name, b"") is None
    assert loop.settings.config.provider == "rules"


def test_calls_of_tools_that_a_repository_ignores_are_not_used(home: Home, loop: Services, shop: Path) -> None:
    (shop / NAME).write_text('ignored_tools = ["Bash"]\n')
    work(home, loop, "s-1", shop, "build the basket")
    work(home, loop, "s-2", shop.parent, "build the basket")
    assert query(home.inbox_db, "select session from inbox where reason like 'tool Bash is ignored%'") == [("s-1",)]


def test_a_file_made_to_be_slow_or_wrong_does_not_keep_anything_from_being_captured(
    home: Home, loop: Services, shop: Path
) -> None:
    (shop / NAME).write_text("a" + ".a" * 7000 + " = 1\n")
    work(home, loop, "s-1", shop, "build the basket")
    assert query(home.memory_db, "select count(*) from prompts") == [(1,)]


def test_settings_are_told_with_what_was_left_out(home: Home, loop: Services, shop: Path) -> None:
    home.config.write_text("budget_tokens = 900\n")
    (shop / NAME).write_text("budget_tokens = 500\ndebug = true\n")
    settings = admin.settings(loop, str(shop / "clients"))
    assert (settings.file, settings.project_file) == (str(home.config), str(shop / NAME))
    assert settings.problems == (
        "a project may not set debug; it may say "
        + ", ".join(("budget_tokens", "prompt_budget_tokens", "preset", "exclude", "ignored_tools")),
    )
    assert settings.settings[0] == EffectiveSetting("budget_tokens", 500, ("project file",), "CLAUDE_MEM_LITE_BUDGET")


def test_the_model_is_tried_with_one_small_question_that_is_counted(
    home: Home, model_loop: Services, provider: FakeProvider
) -> None:
    assert model_loop.passes.wait_until_idle(30)
    trial = admin.try_model(model_loop)
    assert (trial.model, trial.problem, trial.tokens) == (provider.name, "", 2_300)
    assert len(provider.asked) == 1
    assert query(home.memory_db, "select session, outcome from model_calls") == [("doctor", "told")]
    provider.answers = [ModelRefused("the key is wrong", "set another")]
    trial = admin.try_model(model_loop)
    assert (trial.problem, trial.next_step) == ("the key is wrong", "set another")


def test_a_model_is_not_tried_over_a_cap_nor_when_there_is_none(
    home: Home, clock: SetClock, model_loop: Services, provider: FakeProvider
) -> None:
    home.config.write_text('provider = "anthropic"\ndaily_tokens = 10\n')
    model_loop.writes.wake()
    assert model_loop.passes.wait_until_idle(30)
    assert admin.try_model(model_loop).problem == "the day's cap of 10 tokens is reached"
    home.config.write_text("")
    model_loop.writes.wake()
    assert model_loop.passes.wait_until_idle(30)
    assert admin.try_model(model_loop).problem == "no model is configured"
    assert provider.asked == []


def test_damage_of_a_word_index_is_found_and_mended(home: Home, loop: Services, shop: Path) -> None:
    work(home, loop, "s-1", shop, "build the basket")
    assert admin.damage(loop).damaged == ()
    with closing(sqlite3.connect(home.memory_db, timeout=10)) as db:
        db.execute("delete from passages_fts_docsize")
        db.commit()
    assert admin.damage(loop).damaged == ("passages",)
    admin.rebuild(loop)
    assert loop.passes.wait_until_idle(30)
    assert admin.damage(loop).damaged == ()
