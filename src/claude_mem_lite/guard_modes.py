"""Modes of guards: what a guard does about a call that it matches."""

from typing import Literal, get_args

Mode = Literal["auto", "remind", "ask", "deny"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""`auto` asks in interactive sessions and reminds in others."""


def mode_in_words(mode: str) -> str:
    """Return a mode as people read it."""
    return "ask or remind" if mode == "auto" else mode
