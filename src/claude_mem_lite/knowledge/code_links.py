"""What is asked to be remembered, tied to the files and functions that it names, so that it can be told later whether
they are as they were. Called when it is stored, in the job thread."""

import os
import time
from collections.abc import Callable
from dataclasses import replace

from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.compress.prose.mentions import files_named, names_said
from claude_mem_lite.knowledge.named import find_named
from claude_mem_lite.models import MOST_ANCHORS, MOST_FILES, Memory, Place

Tie = Callable[[Memory, Place, str], Memory]
"""A memory, where it was asked for, and the folder: the same memory, tied."""
# Whoever asks for something to be remembered waits for it; of 1,000 files it takes 60 ms.
_LONGEST_S = 0.5


def tie(cache: CodeCache, memory: Memory, place: Place, folder: str) -> Memory:
    """A memory with the files and functions of this place that it names, as they are now; as it was when it holds
    elsewhere too."""
    if not place.root or memory.scope != f"project:{place.project}":
        return memory
    words = f"{memory.title}\n{memory.summary}"
    paths, names = list(dict.fromkeys((*memory.files, *files_named(words)))), names_said(words)
    if not paths and not names:
        return memory
    real = os.path.realpath(folder)
    inside = real[len(place.root) + 1 :] if real.startswith(f"{place.root}/") else ""
    found = find_named(cache, place.root, inside, paths, names, time.monotonic() + _LONGEST_S)
    files = (*(found.files.get(path, path) for path in paths), *(anchor.file for anchor in found.anchors))
    return replace(
        memory,
        files=tuple(dict.fromkeys(files))[:MOST_FILES],
        anchors=tuple(dict.fromkeys((*memory.anchors, *found.texts())))[:MOST_ANCHORS],
    )
