"""The signatures of a source of each language, written down by reading the sources; some of each."""

from pathlib import Path

import pytest

from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.code.syntax.symbols import read_symbols

SOURCES = Path(__file__).parent / "sources"
SIGNATURES = {
    "kiosk.js": {
        "gross": "function gross(net, rate = VAT)",
        "readPrices": "async function readPrices(path)",
        "numbers": "function* numbers(from)",
        "toCoins": "const toCoins = (amount) =>",
        "discount": "let discount = function (price)",
        "surcharge": "surcharge = (price) =>",
        "Order": "class Order extends EventEmitter",
        "Order.onPaid": "onPaid = () =>",
        "Order.total": "get total()",
        "Order.create": "static async create(ids)",
        "Order.[Symbol.iterator]": "*[Symbol.iterator]()",
        "Queue": "const Queue = class WaitingLine",
        "Order.describe": "Order.prototype.describe = function ()",
        "vat": "exports.vat = function vatOf(price)",
    },
    "storage.ts": {
        "Store": "interface Store<K, V>",
        "Listener": "type Listener<T> = (value: T) => void",
        "Mode": "const enum Mode",
        "nativeHash": "function nativeHash(text: string): number",
        "open": "function open(path: string): Store<string, string>",
        "BaseStore": "abstract class BaseStore<V> implements Store<string, V>",
        "BaseStore.constructor": "constructor(protected readonly path: string, private mode: Mode)",
        "BaseStore.decode": "protected abstract decode(text: string): V",
        "FileStore": "class FileStore extends BaseStore<string>",
        "FileStore.notify": "private notify = (value: string): void =>",
        "FileStore.load": "async load(): Promise<void>",
        "FileStore.limit": "set limit(value: number)",
        "FileStore.#shrink": "#shrink<T extends number>(to: T): void",
        "Paths.Posix": "namespace Paths.Posix",
        "legacy-store": 'module "legacy-store"',
        "default": "async function (url: string)",
    },
    "board.tsx": {
        "CardProps": "interface CardProps",
        "Card": "function Card({ title, onMove }: CardProps): JSX.Element",
        "Board": "const Board = <T extends Column>({ columns }: { columns: T[] }) =>",
        "ErrorBoundary": "class ErrorBoundary extends React.Component<{ name: string }>",
    },
    "server.go": {
        "Handler": "type Handler interface",
        "ID": "ID string",
        "Item": "Item struct",
        "HandlerFunc": "type HandlerFunc func(ctx context.Context, name string) (int, error)",
        "Alias": "type Alias = Item",
        "HandlerFunc.Handle": "func (f HandlerFunc) Handle(ctx context.Context, name string) (int, error)",
        "Server.Start": "func (s *Server) Start(ctx context.Context, address string) error",
        "Ring": "type Ring[T any] struct",
        "Map": "func Map[T, U any](values []T, change func(T) U) []U",
        "register": "func register(name string)",
    },
    "ledger.rs": {
        "LedgerError": "pub enum LedgerError",
        "Ledger": "pub struct Ledger<'a, S: Store = MemoryStore>",
        "Amount": "pub struct Amount(pub u64)",
        "Marker": "struct Marker",
        "Store.read": "fn read(&self, key: &Self::Key) -> Option<u64>",
        "Ledger.transfer": "pub async fn transfer(&mut self, from: &'a str, to: &'a str, amount: Amount)"
        " -> Result<u64, LedgerError> where S: Send",
        "amounts": "macro_rules! amounts",
        "audit.sign": "pub(crate) fn sign(line: &log::Line) -> u8",
    },
    "Library.java": {
        "Library": "public class Library<T extends Comparable<T>> extends Base implements Lender, AutoCloseable",
        "Library.Library": "public Library()",
        "Library.lend": "public Loan lend(String isbn, Member member) throws NotFound",
        "Library.inverted": "static <K, V> Map<V, K> inverted(Map<K, V> map)",
        "Library.close": "public void close()",
        "Library.Shelf.length": "abstract int length()",
        "Lender.lends": "default boolean lends()",
        "Loan": "record Loan(Book book, Member member) implements Comparable<Loan>",
        "Loan.Loan": "Loan",
        "Service": "@interface Service",
    },
    "ring.c": {
        "MIN": "#define MIN(a, b)",
        "ring": "struct ring",
        "callback": "typedef struct callback",
        "colour": "typedef enum colour",
        "next": "static inline size_t next(size_t at)",
        "ring_push": "int ring_push(ring_t *ring, uint8_t byte)",
        "ring_new": "ring_t *ring_new(void)",
        "names": "static const char *const *names(int kind, ...)",
        "handler_for": "void (*handler_for(enum state state))(int)",
        "old_style": "int old_style(a, b) int a; char *b",
    },
    "tree.h": {
        "tree_node": "struct tree_node",
        "tree_depth": "static inline int tree_depth(const struct tree_node *node)",
        "tree_new": "static inline void *tree_new(int private)",
    },
    "shapes.cpp": {
        "geometry.Colour": "enum class Colour : int",
        "geometry.Point.operator+": "Point operator+(const Point &other) const",
        "geometry.Shape.Shape": "explicit Shape(std::string name)",
        "geometry.Shape.~Shape": "virtual ~Shape()",
        "geometry.Circle": "class Circle final : public Shape",
        "geometry.Circle.Circle": "Circle::Circle(double radius)",
        "geometry.Pool": "class Pool",
        "geometry.Pool.take": "T *Pool<T, Size>::take()",
        "geometry.larger": "constexpr const T &larger(const T &a, const T &b)",
        "geometry.io.read": "auto read(const std::string &text) -> geometry::Point",
        "Exported": "class GEOMETRY_API Exported : public geometry::Shape",
    },
    "mailer.rb": {
        "Mailing": "module Mailing",
        "Mailing.Error": "class Error < StandardError",
        "Mailing.Countable.count=": "def count=(value)",
        "Mailing.Mailer.open": "def self.open(host, port: 25, **options, &block)",
        "Mailing.Mailer.full?": "def full?",
        "Mailing.Mailer.<<": "def <<(mail)",
        "Mailing.Mailer.log": "def log(line)",
        "Mailing.Report": "class Mailing::Report < Mailing::Mailer",
        "Mailing.Report.deliver": "def deliver(...)",
        "printer.print": "def printer.print(text)",
    },
}


@pytest.mark.parametrize("file", SIGNATURES)
def test_a_signature_is_all_before_the_body_on_one_line_without_decorators_and_comments(file: str) -> None:
    found = read_symbols((SOURCES / file).read_text("utf-8"), language_of(file))
    assert found is not None
    signatures = {one.name: one.signature for one in found if one.name in SIGNATURES[file]}
    assert signatures == SIGNATURES[file]
