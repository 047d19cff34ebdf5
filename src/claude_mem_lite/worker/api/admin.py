"""The API of settings: what is in force in a folder and who said so, and a trial of the model that they name."""

import os
from dataclasses import asdict

from claude_mem_lite.config_loader import settings_told
from claude_mem_lite.models import JsonObject
from claude_mem_lite.worker.api.routing import Router
from claude_mem_lite.worker.api.status import Running

_ANSWER_WITHIN_S = 125.0
router = Router(prefix="/api")


@router.get("/settings")
def settings(loop: Running, cwd: str) -> JsonObject:
    """Every setting as this worker has it, with its own environment, in a folder."""
    return settings_told(loop.home.config, os.environ, cwd)


@router.post("/model/try")
def try_model(loop: Running) -> dict[str, object]:
    """Ask the model for one word, within the caps; what came of it."""
    tried = loop.call(lambda _: loop.modelling.try_out()).result(_ANSWER_WITHIN_S).result(_ANSWER_WITHIN_S)
    return asdict(tried)
