"""The API of contexts: the text that a new session or a prompt would be given, and every candidate for it."""

from contextlib import closing
from dataclasses import asdict
from typing import Annotated

from pydantic import Field

from claude_mem_lite.config import in_folder, is_excluded
from claude_mem_lite.context.builder import Context, Placed
from claude_mem_lite.context.presets import LAYERS, SILENT, Preset, chosen, known
from claude_mem_lite.context.prompt.builder import no_item_fits
from claude_mem_lite.context.prompt.candidates import Candidate
from claude_mem_lite.context.prompt.lesson_question import may_save
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.selection import FULL_BUDGET
from claude_mem_lite.worker.answers.hook_request import LaterCheckout
from claude_mem_lite.worker.answers.prompt import budget_of_prompt, build_now
from claude_mem_lite.worker.answers.session_start import build_start
from claude_mem_lite.worker.api.routing import Router
from claude_mem_lite.worker.api.status import Running, place_of, require_settings

_OTHERWISE = "sessions are given nothing"
Budget = Annotated[int, Field(ge=1, le=100_000)]
router = Router(prefix="/api")


@router.get("/context")
def context(
    loop: Running,
    cwd: str = "",
    project: str = "",
    budget: Budget | None = None,
    preset: str = "",
    explain: bool = False,
) -> dict[str, object]:
    """What a new session in this folder would be told, and with `explain` all candidates; nothing counts as given."""
    require_settings(loop, _OTHERWISE)
    cwd, place = place_of(loop, cwd, project)
    excluded = is_excluded(loop.config, cwd)
    config = in_folder(loop.config, cwd)
    wanted = chosen(config, preset)
    is_allowed = may_save(config, cwd)
    occasion = Occasion(place, loop.clock(), explained=explain, may_save=is_allowed)
    built = build_start(loop, occasion, budget or config.budget_tokens, SILENT if excluded else wanted)
    return {
        "context": built.text,
        "tokens": built.tokens,
        "budget": built.budget,
        "preset": wanted.name,
        "presets": list(known(config)),
        "truncated": built.truncated,
        "layers": built.layers,
        "layers_skipped": [asdict(one) for one in built.layers_skipped],
        "shares": _shares(built, wanted),
        "excluded": excluded,
        "items": [_placed(one) for one in built.chosen],
        "left_out": [{**_placed(one), "left_out": one.item.left_out} for one in built.left_out],
        "build_ms": built.build_ms,
    }


@router.get("/prompt-context")
def prompt_context(
    loop: Running, prompt: str, cwd: str = "", project: str = "", explain: bool = False
) -> dict[str, object]:
    """What a prompt typed now in a new session in this folder would be given, or why nothing; with `explain` every
    candidate. Nothing counts as given."""
    require_settings(loop, _OTHERWISE)
    cwd, place = place_of(loop, cwd, project)
    excluded = is_excluded(loop.config, cwd)
    config = in_folder(loop.config, cwd)
    budget = 0 if excluded else budget_of_prompt(config, 0)
    with closing(loop.readers.open()) as db:
        occasion = Occasion(place, loop.clock(), checkout=LaterCheckout(loop, db, place), explained=explain)
        built = build_now(loop, db, prompt, occasion, (), budget)
    why = built.why_silent
    if excluded:
        why = "this folder is excluded"
    elif not config.prompt_budget_tokens:
        why = "prompt_budget_tokens is 0, so prompts are given nothing"
    elif not budget:
        why = no_item_fits(budget)
    return {
        "context": built.text,
        "tokens": built.tokens,
        "budget": budget,
        "why_silent": "" if built.text else why,
        "asked": built.asked,
        "floor": built.floor.value if built.candidates else None,  # nothing was held against it
        "items": [asdict(item) for item in built.items],
        "candidates": [_candidate(one) for one in built.candidates] if explain else [],
        "build_ms": built.build_ms,
    }


def _shares(built: Context, preset: Preset) -> list[dict[str, object]]:
    """How much of the budget each layer takes, with its header, and what it may before others leave it their room;
    no cap where lines are told by their value."""
    caps = {
        layer.name: None if preset.by_value else round(layer.cap_tokens * built.budget / FULL_BUDGET)
        for layer in preset.layers
    }
    lines = {name: [one.item.line for one in built.chosen if one.layer == name] for name in (*caps, *built.layers)}
    return [
        {
            "layer": name,
            "tokens": estimate_tokens("\n".join((LAYERS[name][0], *told))) if told else 0,
            "cap": caps.get(name, 0),
        }
        for name, told in lines.items()
    ]


def _candidate(one: Candidate) -> dict[str, object]:
    """What was thought of for a prompt: its score by parts, the floor that held for it, and both as lines to check."""
    return {
        "id": one.memory.id,
        "kind": one.memory.kind,
        "title": one.memory.title,
        "score": one.value,
        "parts": one.parts(),
        "floor": None if one.floor.exception else one.floor.value,
        "explained": one.explained(),
        "words": one.found,
        "left_out": one.left_out,
    }


def _placed(one: Placed) -> dict[str, object]:
    """A candidate, with its score by parts or with what places it."""
    score = one.item.score
    return {
        "layer": one.layer,
        "source": one.item.source,
        "memory": one.item.memory,
        "reason": one.item.reason,
        "line": one.item.line,
        "score": score.total if score else None,
        "parts": score.parts() if score else {},
        "explained": one.item.explained(),
    }
