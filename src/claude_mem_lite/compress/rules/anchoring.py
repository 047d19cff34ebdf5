"""What ties a memory to the code it tells of, so that it can be told later whether that is still there."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.code.syntax.anchors import MOST_CODE_ANCHORS, anchor_to
from claude_mem_lite.code.syntax.values import CodeChange
from claude_mem_lite.compress.prose.mentions import CALLED, NAME, TELLING_NAME
from claude_mem_lite.models import Draft


def anchored(draft: Draft, code: Sequence[CodeChange]) -> Draft:
    """A draft with anchors to the functions it names as changed; of a file of which it names none, to all that changed
    there, or to the file when no function did.

    One that tells of no file, a decision say, is tied to what the turn changed and it speaks of by name."""
    found = list(_by_name(draft, code)) if not draft.files else list(_by_change(draft, code))
    anchors = dict.fromkeys(map(anchor_to, found[:MOST_CODE_ANCHORS]))
    return replace(draft, anchors=(*draft.anchors, *anchors)) if anchors else draft


def _by_change(draft: Draft, code: Sequence[CodeChange]) -> Iterator[CodeChange]:
    told = {(symbol.file, symbol.name) for symbol in draft.symbols}
    named = [change for change in code if change.name and (change.file, change.name) in told]
    yield from named
    # What tells of a whole piece of work leaves the functions to the memories of its parts, and is about all of them.
    rest = [change for change in code if change.file in draft.files and change.file not in {one.file for one in named}]
    read = {change.file for change in rest if change.name}
    yield from (change for change in rest if change.name or change.file not in read)


def _by_name(draft: Draft, code: Sequence[CodeChange]) -> Iterator[CodeChange]:
    told = f"{draft.title} {draft.summary}"
    said, called = set(NAME.findall(told)), set(CALLED.findall(told))
    for change in code:
        name = change.name.rsplit(".", 1)[-1]
        if name in called or change.name in called or (name in said and TELLING_NAME.search(name)):
            yield change
