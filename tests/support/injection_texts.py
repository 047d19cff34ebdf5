"""Texts with orders to an agent, and harmless ones, from `tests/data/injection_texts.toml`."""

import tomllib

from tests.support.data_files import DATA

_TEXTS: dict[str, list[str]] = tomllib.loads((DATA / "injection_texts.toml").read_text("utf-8"))
BEFORE_RULES = _TEXTS["before_rules"]
AFTER_RULES = _TEXTS["after_rules"]
THIRD_PERSON = _TEXTS["third_person"]
HARMLESS = _TEXTS["harmless"]
