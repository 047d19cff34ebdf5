"""The API of the start context: the text that a new session would be given, and every candidate for it."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from claude_mem_lite.config import is_excluded
from claude_mem_lite.context.builder import Placed
from claude_mem_lite.context.occasion import Occasion
from claude_mem_lite.context.presets import SILENT, chosen
from claude_mem_lite.errors import ConfigError
from claude_mem_lite.places import find_place
from claude_mem_lite.worker.api import Running
from claude_mem_lite.worker.building import build_start

_CONFIG_LOOK_S = 1.0
Budget = Annotated[int, Query(ge=1, le=100_000)]
router = APIRouter(prefix="/api")


@router.get("/context")
def context(
    loop: Running, cwd: str, budget: Budget | None = None, preset: str = "", explain: bool = False
) -> dict[str, object]:
    """What a new session in this folder would be told, and with `explain` all candidates; nothing counts as given."""
    if loop.problem or not loop.knows_settings():
        loop.settle(_CONFIG_LOOK_S)  # they were changed just now, and a session that starts would know
    if loop.problem:
        raise ConfigError(
            f"the configuration is broken: {loop.problem}", "until it is mended, sessions are given nothing"
        )
    excluded = is_excluded(loop.config, cwd)
    wanted = chosen(loop.config, preset)
    occasion = Occasion(find_place(cwd), loop.clock(), explained=explain)
    built = build_start(loop, occasion, budget or loop.config.budget_tokens, SILENT if excluded else wanted)
    return {
        "context": built.text,
        "tokens": built.tokens,
        "budget": built.budget,
        "preset": wanted.name,
        "truncated": built.truncated,
        "layers": built.layers,
        "layers_skipped": [asdict(one) for one in built.layers_skipped],
        "excluded": excluded,
        "items": [_placed(one) for one in built.chosen],
        "left_out": [{**_placed(one), "left_out": one.item.left_out} for one in built.left_out],
        "build_ms": built.build_ms,
    }


def _placed(one: Placed) -> dict[str, object]:
    """A candidate, with its score by parts where it has one."""
    score = one.item.score
    return {
        "layer": one.layer,
        "source": one.item.source,
        "reason": one.item.reason,
        "line": one.item.line,
        "score": score.total if score else None,
        "parts": score.parts() if score else {},
        "explained": score.told() if score else "",
    }
