"""Commands that did something by themselves, where no file was edited: packages, migrations, tags, pull requests."""

from collections.abc import Sequence

from claude_mem_lite.compress.language.drafts import make_draft, whole_sentences, why
from claude_mem_lite.compress.language.titles import cut
from claude_mem_lite.compress.tools.steps import Ran
from claude_mem_lite.models import Draft


def performed(runs: Sequence[Ran], prompt: str) -> Draft | None:
    """One memory of all that a turn's commands did, named after the last that tells what it was."""
    told = [ran for ran in runs if ran.outcome and (ran.outcome.title or ran.outcome.results)]
    named = [ran for ran in told if ran.outcome and ran.outcome.title]
    if not named or not named[-1].outcome:
        return None
    title = cut(named[-1].outcome.title, 14)
    results = [result for ran in told if ran.outcome for result in ran.outcome.results]
    summary = whole_sentences(
        [result for result in results if result not in title][:2] or [f"Ran {named[-1].typed}"], 300
    )
    return make_draft("change", title, f"{summary} {why(prompt, summary)}", origin="command")
