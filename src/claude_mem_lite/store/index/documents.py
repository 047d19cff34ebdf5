"""One number for whatever can be found: memories have the even ones, passages the odd."""

import sqlite3
from collections.abc import Iterable

ALL_DOCUMENTS = "select 2 * seq as document from memories union all select 2 * seq + 1 from passages"
"""The number of every document there is, as SQL."""


def of_memory(seq: int) -> int:
    return 2 * seq


def of_passage(seq: int) -> int:
    return 2 * seq + 1


def is_passage(document: int) -> bool:
    return document % 2 == 1


def seq_of(document: int) -> int:
    return document // 2


def apart(documents: Iterable[int]) -> tuple[list[int], list[int]]:
    """The row numbers of those that are memories, and of those that are passages, in their order."""
    seqs: tuple[list[int], list[int]] = [], []
    for document in documents:
        seqs[is_passage(document)].append(seq_of(document))
    return seqs


def count(db: sqlite3.Connection) -> int:
    (number,) = db.execute("select (select count(*) from memories) + (select count(*) from passages)").fetchone()
    return int(number)
