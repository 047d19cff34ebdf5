"""Tests of reading ahead of the requests of a long command."""

import threading
from collections.abc import Iterator

import pytest

from claude_mem_lite.cli.transfer.read_ahead import read_ahead


def test_items_come_in_order() -> None:
    assert list(read_ahead(range(20), 3)) == list(range(20))


def test_items_are_made_while_the_caller_works() -> None:
    made = threading.Semaphore(0)

    def items() -> Iterator[int]:
        for number in range(5):
            made.release()
            yield number

    reading = read_ahead(items(), 2)
    assert next(reading) == 0
    assert made.acquire(timeout=30)
    assert made.acquire(timeout=30), "the second item is made though nobody asked for it"
    reading.close()


def test_no_more_items_are_made_than_the_depth_allows() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for number in range(50):
            made.append(number)
            yield number

    reading = read_ahead(items(), 3)
    next(reading)
    reading.close()
    assert len(made) <= 3


def test_closing_waits_for_the_item_under_way_alone() -> None:
    made: list[int] = []
    is_under_way, may_go_on = threading.Event(), threading.Event()

    def items() -> Iterator[int]:
        for number in range(50):
            made.append(number)
            if number == 1:
                is_under_way.set()
                may_go_on.wait(30)
            yield number

    reading = read_ahead(items(), 20)
    assert next(reading) == 0
    assert is_under_way.wait(30)
    threading.Timer(0.3, may_go_on.set).start()  # while the generator is closed, which cancels the others first
    reading.close()
    assert made == [0, 1], "an import that is stopped must not read on"


def test_an_error_is_raised_in_place_of_its_item() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("unreadable")

    reading = read_ahead(items(), 3)
    assert next(reading) == 1
    with pytest.raises(OSError, match="unreadable"):
        next(reading)
