"""`python -m tests.cases`: the facts that do not survive; `python -m tests.cases WORD`: what is stored of the cases."""

import sys

from tests.cases.case import Case, store
from tests.cases.every import CASES, lost_facts, table


def show(case: Case) -> None:
    stored = store(case)
    print(f"== {case.name}: {case.prompt}")
    for draft in stored.digest.drafts:
        print(f"[{draft.kind}] {draft.title}\n  {draft.summary}")
        for line in draft.detail.split("\n") if draft.detail else ():
            print(f"  | {line}")
        for fact in draft.facts:
            print(f"  - {fact}")
        symbols = " ".join(f"{symbol.name}:{symbol.action}" for symbol in draft.symbols)
        print(f"  {' '.join(draft.files)} {symbols}".rstrip())
    for fact in lost_facts(case, stored):
        print(f"  LOST {fact}")
    for text in case.never:
        if text in stored.text:
            print(f"  STORED {text!r}")
    if case.memories not in (None, len(stored.digest.drafts)):
        print(f"  MEMORIES {len(stored.digest.drafts)} instead of {case.memories}")


if len(sys.argv) > 1:
    for case in CASES:
        if any(word in case.name for word in sys.argv[1:]):
            show(case)
else:
    print(table())
