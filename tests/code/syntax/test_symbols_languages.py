"""What is found in a source of each language, against lists that were counted by reading the sources."""

from pathlib import Path

import pytest

from claude_mem_lite.code.syntax.changes import Symbol
from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.code.syntax.symbols import read_symbols

SOURCES = Path(__file__).parent / "sources"

# first-last kind name, in the order of the text
FOUND = {
    "kiosk.js": """
        10-12 function gross
        14-21 function readPrices
        16-19 function readPrices.parseLine
        23-25 function numbers
        28-28 function toCoins
        30-32 function discount
        32-32 function surcharge
        34-71 class Order
        37-39 method Order.onPaid
        41-45 method Order.constructor
        44-44 function Order.constructor.close
        47-49 method Order.total
        55-58 method Order.create
        60-62 method Order.#check
        64-66 method Order.[Symbol.iterator]
        68-70 method Order.add-line
        75-78 method printer.print
        76-76 function printer.print.cut
        79-81 method printer.reset
        82-82 method printer.self-test
        84-86 method printer.colours.red
        90-94 class Queue
        91-93 method Queue.push
        96-98 method Order.describe
        100-100 function Order.compare
        102-104 function tick
        107-109 function vat
        112-114 function open
    """,
    "storage.ts": """
        3-6 class Store
        8-8 class Listener
        10-13 class Mode
        16-16 function nativeHash
        18-18 function open
        24-40 class BaseStore
        27-27 method BaseStore.constructor
        29-29 method BaseStore.load
        31-31 method BaseStore.decode
        33-35 method BaseStore.size
        37-39 method BaseStore.get
        43-76 class FileStore
        47-49 method FileStore.notify
        51-51 method FileStore.from
        58-61 method FileStore.load
        63-65 method FileStore.decode
        67-71 method FileStore.limit
        73-75 method FileStore.#shrink
        78-90 class Paths.Posix
        81-83 function Paths.Posix.join
        85-89 class Paths.Posix.Walker
        86-88 method Paths.Posix.Walker.next
        92-97 class legacy-store
        93-93 function legacy-store.connect
        94-96 class legacy-store.Client
        95-95 method legacy-store.Client.close
        99-102 function read
        100-100 function read.decode
        104-106 function default
    """,
    "board.tsx": """
        3-6 class CardProps
        8-8 class Column
        10-13 class Priority
        15-26 function Card
        18-18 function Card.toggle
        28-39 function Board
        29-37 function Board.renderColumn
        41-59 class ErrorBoundary
        44-46 method ErrorBoundary.getDerivedStateFromError
        48-50 method ErrorBoundary.report
        52-54 method ErrorBoundary.componentDidCatch
        56-58 method ErrorBoundary.render
    """,
    "server.go": """
        16-19 class Handler
        23-23 class ID
        25-28 class Item
        30-30 class lookup
        33-33 class HandlerFunc
        35-35 class Alias
        37-39 method HandlerFunc.Handle
        41-45 class Server
        47-53 function New
        56-75 method Server.Start
        60-63 class Server.Start.answer
        77-85 method Server.ServeHTTP
        87-87 method Item.Kind
        89-91 method Item.String
        93-96 class Ring
        98-105 method Ring.Push
        107-107 method Ring.Len
        109-115 function Map
        117-117 function init
        120-120 function register
    """,
    "ledger.rs": """
        9-12 class LedgerError
        15-18 class Ledger
        20-20 class Amount
        22-22 class Marker
        25-28 class Word
        30-39 class Store
        34-34 method Store.read
        36-38 method Store.exists
        42-44 method Ledger.new
        48-67 method Ledger.transfer
        57-62 function Ledger.transfer.checked
        71-76 method LedgerError.fmt
        80-82 method Amount.from
        86-88 method u64.from
        93-97 function amounts
        100-100 function native_time
        105-107 class audit.log.Line
        110-112 method audit.log.Line.len
        116-119 function audit.sign
        127-129 function tests.transfers_move_money
    """,
    "Library.java": """
        9-63 class Library
        14-16 method Library.Library
        23-29 method Library.lend
        35-50 method Library.inverted
        36-42 class Library.inverted.Pair
        39-41 method Library.inverted.Pair.swap
        45-47 method Library.inverted.compare
        52-52 method Library.close
        54-62 class Library.Shelf
        55-55 method Library.Shelf.length
        57-57 method Library.Shelf.shake
        59-61 class Library.Shelf.Label
        65-76 class Lender
        68-68 method Lender.lend
        70-72 method Lender.lends
        74-75 class Lender.Strict
        78-101 class Member
        81-83 method Member.GUEST.limit
        90-92 method Member.Member
        98-100 method Member.limit
        103-116 class Loan
        104-106 method Loan.Loan
        108-110 method Loan.none
        113-115 method Loan.compareTo
        118-120 class Service
    """,
    "ring.c": """
        6-6 function MIN
        7-10 function FOR_EACH
        12-21 class node
        18-20 class node.position
        23-26 class ring
        28-31 class callback
        33-33 class state
        35-35 class colour
        37-40 class word
        46-46 function next
        48-57 function ring_push
        59-62 function ring_new
        64-70 function names
        72-76 function handler_for
        79-79 function ticks
        87-92 function old_style
        94-102 function main
        96-96 class main.local
    """,
    "tree.h": """
        10-10 function TREE_MAX
        12-16 class tree_node
        20-20 class tree_order
        25-28 function tree_depth
        30-33 function tree_new
    """,
    "shapes.cpp": """
        6-6 function SQUARE
        10-10 class geometry.Colour
        12-15 class geometry.Point
        14-14 method geometry.Point.operator+
        17-36 class geometry.Shape
        19-19 method geometry.Shape.Shape
        20-20 method geometry.Shape.~Shape
        24-24 method geometry.Shape.name
        25-25 method geometry.Shape.operator bool
        27-27 method geometry.Shape.operator==
        29-32 class geometry.Shape.Visitor
        38-47 class geometry.Circle
        49-52 method geometry.Circle.Circle
        54-54 method geometry.Circle.~Circle
        56-59 method geometry.Circle.area
        61-61 method geometry.Circle.unit
        63-67 method geometry.Shape.Visitor.visit
        70-77 class geometry.Pool
        73-73 method geometry.Pool.give
        80-83 method geometry.Pool.take
        91-94 function geometry.larger
        98-98 function geometry.detail.hidden
        102-102 function geometry.operator<<
        104-104 function geometry.scale
        110-110 function geometry.io.read
        113-116 class Exported
        115-115 method Exported.area
        118-118 function shapes_version
        120-125 function main
        121-123 class main.Local
        122-122 method main.Local.run
    """,
    "mailer.rb": """
        8-96 class Mailing
        12-14 method Mailing.Address.to_s
        17-17 class Mailing.Error
        19-27 class Mailing.Countable
        20-22 method Mailing.Countable.count
        24-26 method Mailing.Countable.count=
        29-91 class Mailing.Mailer
        34-36 method Mailing.Mailer.default
        40-42 method Mailing.Mailer.reset!
        45-47 method Mailing.Mailer.open
        49-52 method Mailing.Mailer.initialize
        54-71 method Mailing.Mailer.deliver
        63-65 function Mailing.Mailer.deliver.helper_inside
        73-73 method Mailing.Mailer.full?
        75-78 method Mailing.Mailer.<<
        80-82 method Mailing.Mailer.[]
        84-86 method Mailing.Mailer.log
        93-95 class Mailing.Mailer.Queue
        94-94 method Mailing.Mailer.Queue.push
        98-102 class Mailing.Report
        99-101 method Mailing.Report.deliver
        104-106 function mail_now
        109-111 method printer.print
    """,
}


def symbols_in(file: str) -> tuple[Symbol, ...]:
    found = read_symbols((SOURCES / file).read_text("utf-8"), language_of(file))
    assert found is not None
    return found


@pytest.mark.parametrize("file", FOUND)
def test_every_function_method_and_class_is_found_by_name_kind_and_lines(file: str) -> None:
    found = [f"{one.first}-{one.last} {one.kind} {one.name}" for one in symbols_in(file)]
    assert found == [line.strip() for line in FOUND[file].strip().splitlines()]
