"""Variants of the start context: another budget or preset, or without some layers. Built beside the plain context."""

from contextlib import closing
from dataclasses import replace

from claude_mem_lite.agents.save_permission import may_save
from claude_mem_lite.config import Config, in_folder
from claude_mem_lite.context.builder import Context
from claude_mem_lite.context.presets import LAYERS, Preset, find_preset
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.errors import ConfigError
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.answers.session_start import build_start
from claude_mem_lite.worker.services import Services


@frozen
class Variant:
    """Change of the start context; an empty field means the setting in force."""

    name: str
    budget_tokens: int | None = None
    preset: str = ""
    without: tuple[str, ...] = ()


def build_variant(services: Services, folder: str, variant: Variant) -> Context:
    """Build the start context of a folder by a variant, without a receipt."""
    config = in_folder(services.settings.config, folder)
    with closing(services.readers.open()) as db:
        location = lookup.locate(db, folder)
    request = ContextRequest(location, services.clock(), may_save=may_save(config, folder))
    preset = _without(find_preset(config, variant.preset), variant.without)
    return build_start(services, request, variant.budget_tokens or config.budget_tokens, preset)


def check_variant(variant: Variant) -> None:
    """Raise ConfigError for an unknown layer or preset: a walk takes minutes until it first builds a variant."""
    if unknown := [name for name in variant.without if name not in LAYERS]:
        raise ConfigError(f"there is no layer {unknown[0][:40]!r}", f"known are {', '.join(LAYERS)}")
    find_preset(Config(), variant.preset)


def _without(preset: Preset, names: tuple[str, ...]) -> Preset:
    return replace(preset, layers=tuple(layer for layer in preset.layers if layer.name not in names))
