"""A project in which much happened, for the situations that are about choosing."""

from datetime import timedelta
from pathlib import Path

from claude_mem_lite.code.syntax.changes import ABSENT, CodeChange
from claude_mem_lite.compress.lessons.lesson import GENERAL
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Location, SessionSummary, SymbolAction, Turn
from claude_mem_lite.store import symbol_changes
from tests.support.fakes import NOW, SHOP, Store

TOLD = SessionSummary(
    headline="Freeze the clock in the login test",
    request="Make the login test pass again",
    learned="The token expired in the test because the clock ran on.",
    completed="The clock is frozen in the login test. The token lives for ten minutes there.",
    next_steps=("Freeze it in the logout test too.",),
    files_edited=("tests/test_login.py",),
    notes="The staging server was down, so nothing was tried there.",
    key_decisions=("Keep freezegun out of the production dependencies.",),
)
_WORK = (
    ("Add a cart to the shop", "src/cart.py", "add_item"),
    ("Count the tax into the sum", "src/tax.py", "add_tax"),
    ("Send invoices by mail", "src/mail.py", "send_invoice"),
    ("Retry the payment when the bank is busy", "src/payment.py", "retry_payment"),
    ("Show orders by day", "src/orders.py", "by_day"),
    ("Import products from a spreadsheet", "src/products.py", "import_products"),
    ("Let people log in by a link", "src/login.py", "send_link"),
    ("Expire carts after a week", "src/cart.py", "expire"),
    ("Speed up the search for products", "src/products.py", "find"),
    ("Translate the start page", "src/pages.py", "translated"),
    ("Log what webhooks send", "src/webhooks.py", "log_payload"),
    ("Cut the images to size", "src/images.py", "resized"),
)


def python_project(root: Path) -> Location:
    """The shop as a folder that is really there."""
    (root / "pyproject.toml").touch()
    return Location(SHOP.project, SHOP.name, str(root), "main", "abc")


def change(file: str, name: str, action: SymbolAction) -> CodeChange:
    before, after = ABSENT if action == "new" else "a", ABSENT if action == "deleted" else "b"
    return CodeChange(file, name, "function", action, f"def {name}(order: Order) -> None", "", before, after)


def changed(store: Store, session: str, *changes: CodeChange) -> None:
    turn = Turn("", session, SHOP.project, "", ())
    with atomic(store.db):
        symbol_changes.add(store.db, f"turn-{session}", turn, "main", changes, NOW - timedelta(hours=2))


def fill(store: Store) -> None:
    """Twelve sessions with their work, and knowledge of every scope."""
    for number, (title, file, name) in enumerate(_WORK, 1):
        at, session = NOW - timedelta(days=number), f"s{number}"
        told = SessionSummary(headline=title, request=title, completed=f"{title} works.", files_edited=(file,))
        store.session(session, told, at=at)
        summary = f"{name}() does it, because customers asked for it."
        store.remember(title, kind="feature", summary=summary, session=session, created_at=at, last_seen_at=at)
        changed(store, session, change(file, name, "new" if number % 3 else "modified"))
    store.session("s0", TOLD)
    decide(store, "s0")
    know(store)


def decide(store: Store, session: str, place: Location = SHOP) -> None:
    """The decision that a session's summary tells, which is a memory as well."""
    store.remember(TOLD.key_decisions[0].rstrip("."), kind="decision", session=session, place=place)


def know(store: Store) -> None:
    """Knowledge that was stated, decided, seen often and seen once."""
    long_ago = NOW - timedelta(days=200)
    store.remember("Write sums in cents", kind="rule", origin="user", confidence=GENERAL, last_seen_at=long_ago)
    store.remember("Prefer small commits", kind="preference", scope="universal", origin="user", confidence=GENERAL)
    store.remember("Use dataclasses for values", kind="convention", scope="language:python", pinned=True)
    store.remember("Use gofmt", kind="convention", scope="language:go", origin="user")
    store.remember("Keep carts in SQLite", kind="decision", created_at=NOW - timedelta(days=3), session="s3")
    store.remember("The bank answers 503 on Sundays", kind="gotcha", times_seen=5)
    store.remember("The mail server is slow on Mondays", kind="gotcha", times_seen=1)
    store.remember("Start it with make serve", kind="project_fact", origin="code")
    store.remember("Poison in a page", kind="rule", origin="web")
