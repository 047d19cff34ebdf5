"""Sentences of users -> proposals of guards, or none."""

import pytest

from claude_mem_lite.guards.matching import example_call, matched
from claude_mem_lite.guards.proposal import propose
from claude_mem_lite.guards.rule import Rule

FORCED = ("git push --force", "git push -f", "git push --force-with-lease")
NO_VERIFY = ("git commit --no-verify", "git commit -n", "git push --no-verify", "git merge --no-verify")
RULES = {
    "use pnpm, not npm": Rule(commands=("npm",)),
    "Use pnpm instead of npm.": Rule(commands=("npm",)),
    "never touch vendor/": Rule(paths=("vendor/",)),
    "no force push": Rule(commands=FORCED),
    "don't commit to main": Rule(commands=("git commit",), branches=("main",)),
    "don't push to main or master": Rule(commands=("git push",), branches=("main", "master")),
    "never use --no-verify": Rule(commands=NO_VERIFY),
    "don't import moment, use date-fns": Rule(imports=("moment",)),
    "never edit generated files in src/gen": Rule(paths=("src/gen",)),
    "never run terraform apply": Rule(commands=("terraform apply",)),
    "don't use sudo": Rule(commands=("sudo",)),
    "use rg instead of grep": Rule(commands=("grep",)),
    "use `uv run pytest`, never bare pytest": Rule(commands=("pytest",), excepts=("uv run",)),
    "Don't use cat, use the Read tool": Rule(commands=("cat",), excepts=("|",)),
    "nutze pnpm statt npm": Rule(commands=("npm",)),
    "niemals auf main pushen": Rule(commands=("git push",), branches=("main",)),
    "vendor/ nicht anfassen": Rule(paths=("vendor/",)),
    "使用 pnpm 而不是 npm": Rule(commands=("npm",)),
}


@pytest.mark.parametrize("sentence", RULES)
def test_a_rule_that_names_something_concrete_becomes_a_guard(sentence: str) -> None:
    proposal = propose(sentence)
    assert proposal is not None
    assert proposal.rule == RULES[sentence]


@pytest.mark.parametrize("sentence", RULES)
def test_a_proposal_has_an_example_that_fires_and_one_that_does_not(sentence: str) -> None:
    proposal = propose(sentence)
    assert proposal is not None
    assert matched(proposal.rule, example_call(proposal.fires_on, "/somewhere"))
    assert not matched(proposal.rule, example_call(proposal.passes_on, "/somewhere"))
