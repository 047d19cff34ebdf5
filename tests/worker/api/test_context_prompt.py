"""The API that tells what a prompt would be given."""

from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.support.running import Json, Machine
from tests.worker.trigger_events import ask, receipts, remember

DECISION = "Keep the shopping carts in SQLite, because one file is easy to back up"
ABOUT_IT = "where do we keep the shopping carts, and why SQLite?"


@pytest.fixture
def told(machine: Machine, tmp_path: Path) -> Machine:
    machine.start_worker()
    remember(machine, str(tmp_path), "decision", DECISION)
    remember(machine, str(tmp_path), "note", "The shopping street is closed on Mondays")
    return machine


def look(machine: Machine, cwd: Path, prompt: str, **more: str) -> Json:
    return machine.get(f"/api/prompt-context?{urlencode({'cwd': str(cwd), 'prompt': prompt, **more})}")


def test_it_tells_what_the_hook_would_give_and_nothing_counts_as_given(told: Machine, tmp_path: Path) -> None:
    first, second = look(told, tmp_path, ABOUT_IT), look(told, tmp_path, ABOUT_IT)
    assert first["context"] == second["context"] == ask(told, "s-1", str(tmp_path), ABOUT_IT)
    assert (first["budget"], first["why_silent"], first["candidates"]) == (2000, "", [])
    (item,) = first["items"]
    assert item["layer"] == "decision"
    told.drain()
    assert len(receipts(told)) == 1


def test_each_candidate_is_explained_by_its_parts(told: Machine, tmp_path: Path) -> None:
    for prompt, parts in (("back up the shopping carts, a SQLite file", "weight match"), (ABOUT_IT, "words cosine")):
        explained = look(told, tmp_path, prompt, explain="true")
        best, *others = explained["candidates"]
        assert best["title"] == DECISION
        assert best["score"] >= best["floor"]
        assert best["left_out"] == ""
        assert set(parts.split()) <= set(best["parts"])
        assert all(one["left_out"] for one in others)


def test_silence_has_a_reason(told: Machine, tmp_path: Path) -> None:
    assert look(told, tmp_path, "hello")["why_silent"] == "the prompt says too little to go by"
    told.home.config.write_text(f'exclude = ["{tmp_path}"]\n')
    assert look(told, tmp_path, ABOUT_IT)["why_silent"] == "this folder is excluded"
    told.home.config.write_text("prompt_budget_tokens = 0\n")
    assert look(told, tmp_path, ABOUT_IT)["why_silent"] == "prompt_budget_tokens is 0, so prompts are given nothing"


@pytest.mark.parametrize(("setting", "fits"), [(40, 26), (1, 0)], ids=["40", "1"])
def test_a_budget_that_is_too_small_for_anything_is_named(
    told: Machine, tmp_path: Path, setting: int, fits: int
) -> None:
    told.home.config.write_text(f"prompt_budget_tokens = {setting}\n")
    why = look(told, tmp_path, ABOUT_IT)["why_silent"]
    assert why == f"no item fits into {fits} tokens (prompt_budget_tokens)"


def test_a_floor_is_told_only_where_something_was_weighed(told: Machine, tmp_path: Path) -> None:
    assert look(told, tmp_path, "hello")["floor"] is None
    assert look(told, tmp_path, ABOUT_IT)["floor"] > 0


def test_a_broken_configuration_is_named(told: Machine, tmp_path: Path) -> None:
    told.home.config.write_text("prompt_budget_tokens = \n")
    answer = told.ask("GET", f"/api/prompt-context?{urlencode({'cwd': str(tmp_path), 'prompt': ABOUT_IT})}")
    assert answer.status == 400
    assert "configuration is broken" in answer.body["error"]["message"]


def test_own_synonyms_are_used_from_the_next_prompt_on_and_a_broken_file_is_only_logged(
    told: Machine, tmp_path: Path
) -> None:
    asked = "hold the trolleys in sqlite"
    before = look(told, tmp_path, asked, explain="true")["candidates"]
    told.home.synonyms.write_text('trolleys = ["carts", "shopping"]\nhold = ["keep"]\n')
    after = look(told, tmp_path, asked, explain="true")["candidates"]
    assert after[0]["score"] > before[0]["score"]
    told.home.synonyms.write_text("trolleys = \n")
    assert look(told, tmp_path, asked, explain="true")["candidates"] == before
    look(told, tmp_path, asked)
    assert sum("synonyms" in line["what"] for line in told.log_lines()) == 1
