"""One session of real work, scripted: a failing check, its cause, the fix, a decision and what is left to do."""

from collections import Counter
from pathlib import Path

from tests.e2e.fake_messages_api import FakeMessagesApi, Step, say, use

PROMPT = "The split of a price loses a cent. Find out why and fix it."
CAUSE = "float division"
DECISION = "integer cents instead of Decimal"
NEXT_STEP = "refund report to cents"
FACTS = (CAUSE, DECISION, NEXT_STEP)
CLOSING = (
    "check.py passes now. The cause was that `split_price` used float division, which dropped the remainder. "
    "I decided to keep amounts as integer cents instead of Decimal, because the payment gateway sends cents. "
    "Next step: convert the refund report to cents as well."
)
FILE = "split.py"
EVENTS = Counter(SessionStart=1, UserPromptSubmit=1, PostToolUse=3, PostToolUseFailure=1, Stop=1, SessionEnd=1)

_BROKEN = "def split_price(cents, parts):\n    return [int(cents / parts)] * parts\n"
_BROKEN_LINE = "    return [int(cents / parts)] * parts\n"
_MENDED_LINE = "    share, rest = divmod(cents, parts)\n    return [share + (i < rest) for i in range(parts)]\n"
_CHECK = "from split import split_price\n\nassert sum(split_price(1000, 3)) == 1000, 'a cent is lost'\n"


def steps(repo: Path) -> tuple[Step, ...]:
    """What the model does about it: Write, a command that fails, Edit, the same command again."""
    (repo / "check.py").write_text(_CHECK)
    path = str(repo / FILE)
    return (
        use("Write", file_path=path, content=_BROKEN),
        use("Bash", command="python3 check.py"),
        use("Edit", file_path=path, old_string=_BROKEN_LINE, new_string=_MENDED_LINE),
        use("Bash", command="python3 check.py"),
        say(CLOSING),
    )


def script(api: FakeMessagesApi, repo: Path) -> None:
    api.script(PROMPT, *steps(repo))
