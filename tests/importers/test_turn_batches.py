"""Batches of turns for requests to the worker."""

from datetime import timedelta
from pathlib import Path

from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.importers.transcripts import find_transcripts, read_transcript
from claude_mem_lite.importers.turn_batches import BATCH_BYTES, batches
from tests.support.past_sessions import LONG_AGO, PastSession


def turns_of(folder: Path, sizes: list[int]) -> list[TranscriptTurn]:
    session = PastSession("b-one")
    for size in sizes:
        session.prompt(f"do {'x' * size}").says("Done.")
    (transcript,) = find_transcripts([session.write(folder)])
    return list(read_transcript(transcript, LONG_AGO + timedelta(days=30)))


def test_a_batch_ends_with_the_turn_that_fills_it(tmp_path: Path) -> None:
    turns = turns_of(tmp_path, [1, BATCH_BYTES, 1, BATCH_BYTES // 2, BATCH_BYTES // 2, 1])
    found = list(batches(turns))
    assert [len(batch) for batch in found] == [2, 3, 1]
    assert [turn for batch in found for turn in batch] == turns


def test_of_no_turns_there_is_no_batch() -> None:
    assert list(batches([])) == []
