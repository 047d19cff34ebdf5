"""Text that others wrote -> one harmless line: for whatever a model is going to read."""

import re

from claude_mem_lite.text import one_line

_TAG = re.compile(r"<(?=[/!?a-z])(?:([^<>\n]{0,200})>)?", re.I)
# Control and format characters, private ones, halves of pairs, variants and fillers: nobody sees what is written with
# them, a model does. White space is not among them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
# Three of them look like the frame of a block.
_RULE = re.compile("-{3,}")


def without_tags(text: str) -> str:
    """Text in which no tag opens or closes a block: each keeps its words, between other brackets."""
    return _TAG.sub(lambda found: "‹" if found[1] is None else f"‹{found[1]}›", text)


def harmless(text: str) -> str:
    """Text on one line, with nothing in it that is not seen, unable to open or close any block, ours included."""
    return without_tags(one_line(_UNSEEN.sub("", text)))


def unframed(text: str) -> str:
    """Text that cannot be taken for the frame of a block."""
    return _RULE.sub("–", text)
