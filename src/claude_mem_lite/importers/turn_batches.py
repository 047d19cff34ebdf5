"""Batches of turns, each for one request to the worker."""

from collections.abc import Iterable, Iterator

from claude_mem_lite.importers.transcript_turns import TranscriptTurn

# The worker carries out a request in one go, and hooks wait meanwhile.
BATCH_BYTES = 2 * 1024 * 1024


def batches(turns: Iterable[TranscriptTurn]) -> Iterator[list[TranscriptTurn]]:
    """Yield whole turns in batches of about `BATCH_BYTES`."""
    batch: list[TranscriptTurn] = []
    size = 0
    for turn in turns:
        batch.append(turn)
        size += turn.text_length
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
