"""Edit, MultiEdit, Write and NotebookEdit."""

from tests.cases.case import Case, bash, edit, multi_edit, tool, write

SESSION_PY = """import time


class Session:
    def __init__(self, token, expires):
        self.token = token
        self.expires = expires

    def is_valid(self):
        return self.expires > time.time() * 1000

    def old_renew(self):
        self.expires += 60


def load(path):
    return open(path).read()
"""
CONFIG = """[server]
port = 8080
workers = 2

[cache]
ttl = 60
"""
USER_TS = """import { db } from "./db";

export class UserStore {
  async find(id: string) {
    return db.get(id);
  }

  async remove(id: string) {
    return db.delete(id);
  }
}

export const isAdmin = (user: User) => {
  return user.role === "admin";
};
"""
SERVICE_JAVA = """package com.acme;

public class OrderService {
    private final Orders orders;

    public Order place(Basket basket) {
        return orders.save(basket.toOrder());
    }
}
"""
STYLES = ".button {\n  color: #333;\n}\n"
COMPONENT = """export function Badge({ text }) {
  return <span className="badge">{text}</span>;
}
"""


def _session_edits() -> list[tuple[str, str]]:
    return [
        ("time.time() * 1000", "time.time()"),
        (
            "    def old_renew(self):\n        self.expires += 60\n",
            "    def renew(self, seconds):\n        self.expires += seconds\n",
        ),
        ("    return open(path).read()", "    return Path(path).read_text()"),
    ]


CASES = (
    Case(
        "functions are changed, added and removed",
        "Sessions expire too early, and renewing should take the seconds",
        [
            edit("shop/session.py", SESSION_PY, *_session_edits()[0]),
            edit("shop/session.py", SESSION_PY, *_session_edits()[1]),
            edit("shop/session.py", SESSION_PY, *_session_edits()[2]),
        ],
        "Sessions compare seconds with seconds now.",
        facts=(
            "shop/session.py",
            "Session.is_valid modified",
            "Session.renew new",
            "Session.old_renew deleted",
            "load modified",
        ),
    ),
    Case(
        "many edits of one file are one memory",
        "Clean up the session module",
        [multi_edit("shop/session.py", SESSION_PY, *_session_edits())],
        "Cleaned up.",
        facts=("shop/session.py", "Session.is_valid modified", "Session.renew new", "load modified"),
    ),
    Case(
        "a class in TypeScript gets a method",
        "Users must be found by e-mail too",
        [
            edit(
                "src/users.ts",
                USER_TS,
                "  async remove(id: string) {",
                "  async findByEmail(email: string) {\n    return db.query({ email });\n  }\n\n"
                "  async remove(id: string) {",
            )
        ],
        "`UserStore.findByEmail` queries the index on email.",
        facts=("src/users.ts", "UserStore.findByEmail new"),
    ),
    Case(
        "a method in Java is changed",
        "Refuse empty baskets",
        [
            edit(
                "src/main/java/com/acme/OrderService.java",
                SERVICE_JAVA,
                "        return orders.save",
                "        if (basket.isEmpty()) throw new EmptyBasket();\n        return orders.save",
            )
        ],
        "Empty baskets are refused with `EmptyBasket`.",
        facts=("src/main/java/com/acme/OrderService.java", "OrderService.place modified", "EmptyBasket"),
    ),
    Case(
        "settings are changed",
        "Use four workers and cache for five minutes",
        [
            edit("config/shop.toml", CONFIG, "workers = 2", "workers = 4"),
            edit("config/shop.toml", CONFIG.replace("workers = 2", "workers = 4"), "ttl = 60", "ttl = 300"),
        ],
        "Done.",
        facts=("config/shop.toml", "workers = 2 -> workers = 4", "ttl = 60 -> ttl = 300"),
    ),
    Case(
        "a style is changed",
        "Make the buttons darker",
        [edit("src/app.css", STYLES, "#333", "#111")],
        "The buttons are darker.",
        facts=("src/app.css", "color: #333; -> color: #111;"),
    ),
    Case(
        "a new file is written",
        "Write a rate limiter, sliding window",
        [
            write(
                "shop/limits.py",
                "import time\n\nWINDOW_S = 60\n\n\nclass SlidingWindow:\n    def allow(self, key):\n        return True\n\n\n"
                "def limiter_for(user):\n    return SlidingWindow()\n",
            )
        ],
        "The limiter counts calls of the last sixty seconds per user.",
        facts=("shop/limits.py", "SlidingWindow new", "limiter_for new", "new file"),
    ),
    Case(
        "a file is written over",
        "Rewrite the badge as an arrow function with a colour",
        [
            write(
                "src/Badge.jsx",
                "export const Badge = ({ text, colour }) => {\n  return <span className={`badge ${colour}`}>{text}</span>;\n};\n",
                COMPONENT,
            )
        ],
        "Rewritten.",
        facts=("src/Badge.jsx", "Badge modified"),
    ),
    Case(
        "a notebook cell is replaced",
        "Use polars in the notebook",
        [
            tool(
                "NotebookEdit",
                {
                    "notebook_path": "/home/dev/shop/analysis/sales.ipynb",
                    "cell_id": "c4",
                    "new_source": "import polars as pl\n\ndef load_sales(path):\n    return pl.read_csv(path)",
                },
                {
                    "new_source": "import polars as pl\n\ndef load_sales(path):\n    return pl.read_csv(path)",
                    "old_source": "import pandas as pd\n\ndef load_sales(path):\n    return pd.read_csv(path)",
                    "cell_type": "code",
                    "language": "python",
                    "edit_mode": "replace",
                    "cell_id": "c4",
                    "error": "",
                    "notebook_path": "/home/dev/shop/analysis/sales.ipynb",
                    "original_file": '{"cells": []}',
                    "updated_file": '{"cells": []}',
                },
            )
        ],
        "The notebook reads with polars.",
        facts=("analysis/sales.ipynb", "load_sales", "import pandas as pd -> import polars as pl"),
        never=('"cells"',),
    ),
    Case(
        "a notebook cell is added",
        "Plot the revenue by month",
        [
            tool(
                "NotebookEdit",
                {
                    "notebook_path": "/home/dev/shop/analysis/sales.ipynb",
                    "cell_id": "c4",
                    "cell_type": "code",
                    "edit_mode": "insert",
                    "new_source": "def plot_revenue(sales):\n    sales.plot(x='month', y='revenue')",
                },
                {
                    "new_source": "def plot_revenue(sales):\n    sales.plot(x='month', y='revenue')",
                    "cell_type": "code",
                    "language": "python",
                    "edit_mode": "insert",
                    "cell_id": "d1",
                    "error": "",
                    "notebook_path": "/home/dev/shop/analysis/sales.ipynb",
                },
            )
        ],
        facts=("analysis/sales.ipynb", "plot_revenue"),
    ),
    Case(
        "files are moved and deleted",
        "Move the mail code into its own package",
        [
            bash("mkdir -p shop/mail && git mv shop/mailer.py shop/mail/sender.py && git rm -q shop/smtp_old.py"),
            edit("shop/app.py", "from shop.mailer import send\n\nsend()\n", "shop.mailer", "shop.mail.sender"),
        ],
        "Mail lives in `shop.mail` now.",
        facts=("shop/mailer.py", "shop/mail/sender.py", "shop/smtp_old.py", "deleted", "shop/app.py"),
    ),
    Case(
        "a file is patched by a command",
        "Bump the version to 1.9.0",
        [
            bash('sed -i \'s/version = "1.8.0"/version = "1.9.0"/\' pyproject.toml'),
            bash("grep -n version pyproject.toml", '3:version = "1.9.0"\n'),
        ],
        "The version is 1.9.0 now.",
        facts=("pyproject.toml", "1.9.0"),
    ),
)
