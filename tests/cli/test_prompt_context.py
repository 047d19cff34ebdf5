"""`context --prompt`: what a prompt would be given, and why."""

import json
from collections.abc import Iterator

import pytest

from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home
from tests.support.fake_worker import FakeWorker, fake_worker, run

ANSWER: dict[str, JsonValue] = {
    "context": "<claude-mem-lite>\n[decision] Keep carts\n</claude-mem-lite>",
    "tokens": 40,
    "budget": 2000,
    "why_silent": "",
    "asked": "prompt 2.3 = 2 × 1 (carts, sqlite) + 1 × 0.3 (test); the floor is 1",
    "floor": 2.5,
    "items": [{"source": "k7f3a9", "layer": "decision", "reason": "words carts", "tokens": 12, "score": 3.1}],
    "candidates": [
        {
            "id": "k7f3a9",
            "kind": "decision",
            "title": "Keep carts",
            "score": 3.1,
            "parts": {"weight": 0.974, "match": 3.2},
            "floor": 1.25,
            "explained": ["score 3.1 = match 3.2 × weight 0.974", "floor 1.25 = 2.5 × 0.5 (learned or decided)"],
            "words": ["carts", "sqlite"],
            "left_out": "",
        },
        {
            "id": "m9x2b4",
            "kind": "note",
            "title": "Carts\x1b[31m are red",
            "score": 1.2,
            "parts": {"weight": 0.74, "match": 2.0},
            "floor": 2.5,
            "explained": ["score 1.2 = match 2 × weight 0.74", "floor 2.5"],
            "words": [],
            "left_out": "below the floor",
        },
    ],
    "build_ms": 2.5,
}
SILENT: dict[str, JsonValue] = {
    **ANSWER,
    "context": "",
    "items": [],
    "candidates": [],
    "floor": None,
    "why_silent": "the prompt says too little to go by",
    "asked": "prompt 0; the floor is 1",
}


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        yield worker


def test_the_text_for_a_prompt_is_printed_alone(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/prompt-context", ANSWER)
    assert run("context", "--prompt", "where are the carts?") == 0
    assert capsys.readouterr().out == f"{ANSWER['context']}\n"
    assert ("prompt", "where are the carts?") in worker.last("/api/prompt-context").query


def test_silence_is_explained_beside_the_output(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/prompt-context", SILENT)
    assert run("context", "--prompt", "hello") == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "This prompt gets no memory: the prompt says too little to go by.\n"


def test_an_explained_silence_is_told_in_one_stream_without_a_floor(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/prompt-context", SILENT)
    assert run("context", "--prompt", "hello", "--explain") == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out == (
        "This prompt gets no memory: the prompt says too little to go by.\n\n40 of 2000 tokens by estimate\n"
        "prompt 0; the floor is 1\n"
    )


def test_while_memory_is_off_it_says_so_beside_the_text(
    worker: FakeWorker, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/prompt-context", ANSWER)
    home.off_switch.touch()
    run("context", "--prompt", "carts")
    shown = capsys.readouterr()
    assert shown.out == f"{ANSWER['context']}\n"
    assert shown.err.startswith("Memory is switched off: nothing is given until `claude-mem-lite on`.")
    run("context", "--prompt", "carts", "--json", "--explain")
    json.loads(capsys.readouterr().out)


def test_an_option_without_its_value_points_to_the_help_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("context", "--prompt") == 2
    assert "requires an argument (see `claude-mem-lite context --help`)" in capsys.readouterr().err


def test_an_explained_prompt_shows_each_candidate_with_its_score_and_its_floor(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/prompt-context", ANSWER)
    run("context", "--prompt", "carts", "--explain")
    shown = capsys.readouterr().out
    assert "40 of 2000 tokens by estimate; the floor is 2.5, unless a candidate says otherwise\n" in shown
    assert (
        "in   k7f3a9\n     [decision] Keep carts (carts, sqlite)\n     score 3.1 = match 3.2 × weight 0.974\n"
        "     floor 1.25 = 2.5 × 0.5 (learned or decided)\n"
    ) in shown
    assert "out  m9x2b4, below the floor\n" in shown
    assert "\x1b" not in shown
    assert ("explain", "true") in worker.last("/api/prompt-context").query


def test_json_has_the_candidates_when_it_is_explained(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/prompt-context", ANSWER)
    run("context", "--prompt", "carts", "--json")
    plain = json.loads(capsys.readouterr().out)
    run("context", "--prompt", "carts", "--json", "--explain")
    explained = json.loads(capsys.readouterr().out)
    assert list(plain) == ["text", "tokens", "budget", "why_silent", "floor", "items", "build_ms"]
    assert explained == {**plain, "asked": ANSWER["asked"], "candidates": ANSWER["candidates"]}


@pytest.mark.parametrize("more", [("--preset", "codes"), ("--budget", "300")], ids=["preset", "budget"])
def test_a_prompt_has_no_layers_and_its_own_budget(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], more: tuple[str, str]
) -> None:
    assert run("context", "--prompt", "carts", *more) == 2
    assert "leave out --preset and --budget" in capsys.readouterr().err


def test_of_a_prompt_of_a_megabyte_the_beginning_is_asked_about(worker: FakeWorker) -> None:
    worker.answer("GET /api/prompt-context", SILENT)
    assert run("context", "--prompt", "カート" * 300_000) == 0
    asked = dict(worker.last("/api/prompt-context").query)["prompt"]
    assert len(asked) == 4_000
