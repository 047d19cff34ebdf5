"""One number for whatever can be found: memories have the even ones, passages the odd."""


def of_memory(seq: int) -> int:
    return 2 * seq


def of_passage(seq: int) -> int:
    return 2 * seq + 1


def is_passage(document: int) -> bool:
    return document % 2 == 1


def seq_of(document: int) -> int:
    return document // 2
