"""API of contexts: the text that a new session or a prompt would get, and every candidate."""

from contextlib import closing
from typing import Annotated

from pydantic import Field

from claude_mem_lite.agents.save_permission import may_save
from claude_mem_lite.config import in_folder, is_excluded
from claude_mem_lite.context.builder import Context, LayerItem
from claude_mem_lite.context.presets import LAYERS, SILENT, Preset, all_presets, find_preset
from claude_mem_lite.context.prompt.builder import CandidateMemory, no_item_fits
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.selection import FULL_BUDGET
from claude_mem_lite.responses.context import (
    ContextItem,
    ContextResponse,
    LayerShare,
    OmittedItem,
    PromptCandidate,
    PromptContextResponse,
    SkippedLayer,
)
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.worker.answers.hook_request import LazyCheckoutView
from claude_mem_lite.worker.answers.prompt import budget_of_prompt, build_now
from claude_mem_lite.worker.answers.session_start import build_start
from claude_mem_lite.worker.api.request_project import RequestFolder
from claude_mem_lite.worker.api.routing import Router, Running, require_settings

_OTHERWISE = "sessions are given nothing"
Budget = Annotated[int, Field(ge=1, le=100_000)]
router = Router(prefix="/api")


@router.get("/context")
def context(
    services: Running,
    chosen_folder: RequestFolder,
    budget: Budget | None = None,
    preset: str = "",
    explain: bool = False,
) -> ContextResponse:
    """Return the context of a new session in a folder, with `explain` all candidates. Writes no receipt."""
    require_settings(services, _OTHERWISE)
    cwd, place = chosen_folder
    excluded = is_excluded(services.settings.config, cwd)
    config = in_folder(services.settings.config, cwd)
    requested = find_preset(config, preset)
    is_allowed = may_save(config, cwd)
    context_request = ContextRequest(place, services.clock(), explained=explain, may_save=is_allowed)
    built = build_start(services, context_request, budget or config.budget_tokens, SILENT if excluded else requested)
    return ContextResponse(
        context=built.text,
        tokens=built.tokens,
        budget=built.budget,
        preset=requested.name,
        presets=tuple(all_presets(config)),
        truncated=built.truncated,
        layers=built.layers,
        layers_skipped=tuple(SkippedLayer(skipped.layer, skipped.reason) for skipped in built.layers_skipped),
        shares=_shares(built, requested),
        excluded=excluded,
        items=tuple(_item(placed) for placed in built.chosen),
        left_out=tuple(_omitted(placed) for placed in built.left_out),
        build_ms=built.build_ms,
    )


@router.get("/prompt-context")
def prompt_context(
    services: Running, prompt: str, chosen_folder: RequestFolder, explain: bool = False
) -> PromptContextResponse:
    """Return the text that a prompt in a new session would get, with `explain` all candidates. Writes no receipt."""
    require_settings(services, _OTHERWISE)
    cwd, place = chosen_folder
    excluded = is_excluded(services.settings.config, cwd)
    config = in_folder(services.settings.config, cwd)
    budget = 0 if excluded else budget_of_prompt(config, 0)
    with closing(services.readers.open()) as db:
        context_request = ContextRequest(
            place, services.clock(), checkout=LazyCheckoutView(services, db, place), explained=explain
        )
        built = build_now(services, db, prompt, context_request, (), budget)
    why = built.why_silent
    if excluded:
        why = "this folder is excluded"
    elif not config.prompt_budget_tokens:
        why = "prompt_budget_tokens is 0, so prompts are given nothing"
    elif not budget:
        why = no_item_fits(budget)
    return PromptContextResponse(
        context=built.text,
        tokens=built.tokens,
        budget=budget,
        why_silent="" if built.text else why,
        asked=built.asked,
        floor=built.floor.value if built.candidates else None,
        items=built.items,
        candidates=tuple(_candidate(candidate) for candidate in built.candidates) if explain else (),
        build_ms=built.build_ms,
    )


def _shares(built: Context, preset: Preset) -> tuple[LayerShare, ...]:
    """Return the tokens of each layer with its header, and its cap before other layers leave their room to it."""
    caps = {
        layer.name: None if preset.by_value else round(layer.cap_tokens * built.budget / FULL_BUDGET)
        for layer in preset.layers
    }
    lines = {name: [one.item.line for one in built.chosen if one.layer == name] for name in (*caps, *built.layers)}
    return tuple(
        LayerShare(
            layer=name,
            tokens=estimate_tokens("\n".join((LAYERS[name][0], *chosen_lines))) if chosen_lines else 0,
            cap=caps.get(name, 0),
        )
        for name, chosen_lines in lines.items()
    )


def _candidate(candidate: CandidateMemory) -> PromptCandidate:
    return PromptCandidate(
        id=candidate.memory.id,
        kind=candidate.memory.kind,
        title=candidate.memory.title,
        score=candidate.value,
        parts=candidate.parts(),
        floor=None if candidate.floor.exception else candidate.floor.value,
        explained=candidate.explained(),
        words=candidate.found,
        left_out=candidate.left_out,
    )


def _item(placed: LayerItem) -> ContextItem:
    item, score = placed.item, placed.item.score
    return ContextItem(
        layer=placed.layer,
        source=item.source,
        memory=item.memory,
        reason=item.reason,
        line=item.line,
        score=score.total if score else None,
        parts=score.parts() if score else {},
        explained=item.explained(),
    )


def _omitted(placed: LayerItem) -> OmittedItem:
    return response_from(OmittedItem, _item(placed), left_out=placed.item.left_out)
