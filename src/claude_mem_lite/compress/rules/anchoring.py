"""What ties a memory to the code it tells of, so that it can be told later whether that is still there."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.code.anchors import MOST_CODE_ANCHORS, anchor_to
from claude_mem_lite.code.values import CodeChange
from claude_mem_lite.models import Draft

_NAME = re.compile(r"[A-Za-z_$][\w$]*")
# Said in prose, a plain word such as `load` is no name of a function.
_TELLING_NAME = re.compile(r"[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w_\w|\d")


def anchored(draft: Draft, code: Sequence[CodeChange]) -> Draft:
    """A draft with anchors to the functions it names as changed, and to the files of which it names none.

    One that tells of no file, a decision say, is tied to what the turn changed and it speaks of by name."""
    found = list(_by_name(draft, code)) if not draft.files else list(_by_change(draft, code))
    anchors = dict.fromkeys(map(anchor_to, found[:MOST_CODE_ANCHORS]))
    return replace(draft, anchors=(*draft.anchors, *anchors)) if anchors else draft


def _by_change(draft: Draft, code: Sequence[CodeChange]) -> Iterator[CodeChange]:
    told = {(symbol.file, symbol.name) for symbol in draft.symbols}
    symbols = [change for change in code if change.name and (change.file, change.name) in told]
    yield from symbols
    covered = {change.file for change in symbols}
    yield from (one for one in code if not one.name and one.file in draft.files and one.file not in covered)


def _by_name(draft: Draft, code: Sequence[CodeChange]) -> Iterator[CodeChange]:
    said = set(_NAME.findall(f"{draft.title} {draft.summary}"))
    for change in code:
        name = change.name.rsplit(".", 1)[-1]
        if name in said and _TELLING_NAME.search(name):
            yield change
