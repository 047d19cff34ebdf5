"""Sentences of users -> proposals of guards, or none."""

from dataclasses import replace

import pytest

from claude_mem_lite.guards import named_things
from claude_mem_lite.guards import proposal as proposal_module
from claude_mem_lite.guards.matching import example_call, matched
from claude_mem_lite.guards.proposal import MAX_SENTENCE_LENGTH, propose
from claude_mem_lite.guards.rule import Rule
from tests.support.regex_steps import Count, Counted

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
    "use rg instead of grep": Rule(commands=("grep",), excepts=("<",)),
    "don't use grep": Rule(commands=("grep",)),
    "Use the Read tool instead of tail": Rule(
        commands=("tail",), excepts=("|", "tail -f", "tail -F", "tail --follow", "tail -c")
    ),
    "use `uv run pytest`, never bare pytest": Rule(commands=("pytest",), excepts=("uv run",)),
    "Don't use cat, use the Read tool": Rule(commands=("cat",), excepts=("|",)),
    "nutze pnpm statt npm": Rule(commands=("npm",)),
    "niemals auf main pushen": Rule(commands=("git push",), branches=("main",)),
    "vendor/ nicht anfassen": Rule(paths=("vendor/",)),
    "使用 pnpm 而不是 npm": Rule(commands=("npm",)),
    "Please always use uv instead of pip.": Rule(commands=("pip",)),
    "No, we use yarn here, never npm": Rule(commands=("npm",)),
    "Use pnpm (not npm).": Rule(commands=("npm",)),
    "Use pnpm. Never npm.": Rule(commands=("npm",)),
    "Don’t use npm — use pnpm.": Rule(commands=("npm",)),
    "never use npm, always pnpm": Rule(commands=("npm",)),
    "npm is forbidden, use pnpm": Rule(commands=("npm",)),
    "npm is forbidden here, use pnpm": Rule(commands=("npm",)),
    "don't ever push straight to master ok?": Rule(commands=("git push",), branches=("master",)),
    "plz never commit directly to main, thx!": Rule(commands=("git commit",), branches=("main",)),
    "we never use sudo here, ok": Rule(commands=("sudo",)),
    "hey, can you please stop using npm": Rule(commands=("npm",)),
    "this repo uses bun, not npm": Rule(commands=("npm",)),
    "no npm here, pnpm only": Rule(commands=("npm",)),
    "pnpm only, no npm or yarn": Rule(commands=("npm", "yarn")),
    "never use npm -- always pnpm": Rule(commands=("npm",)),
    "you keep using npm. use pnpm!": Rule(commands=("npm",)),
    "don't skip hooks with --no-verify": Rule(commands=NO_VERIFY),
    "never run `terraform apply`, you deleted the staging database": Rule(commands=("terraform apply",)),
    "prefer rg over grep": Rule(commands=("grep",), excepts=("<",)),
    "Never `npm install`": Rule(commands=("npm install",)),
    "never run `npm install` or `npm ci`": Rule(commands=("npm install", "npm ci")),
    "Don't ever run `docker compose down -v`": Rule(commands=("docker compose down -v",)),
    "don't use git add -A or git add .": Rule(commands=("git add -A", "git add .")),
    "never amend commits": Rule(commands=("git commit --amend",)),
    "never force-push": Rule(commands=FORCED),
    "Do not git push --force": Rule(commands=("git push --force", "git push -f")),
    "don't use git stash": Rule(commands=("git stash",), excepts=("git stash list", "git stash show")),
    "Stop using sudo": Rule(commands=("sudo",)),
    "Never merge PRs yourself": Rule(commands=("gh pr merge",)),
    "No commits to main": Rule(commands=("git commit",), branches=("main",)),
    "no direct pushes to `release`": Rule(commands=("git push",), branches=("release",)),
    "never push to main because it deploys when it is merged": Rule(commands=("git push",), branches=("main",)),
    "don't touch anything in `dist/`": Rule(paths=("dist/",)),
    "Never modify the vendor directory": Rule(paths=("vendor/",)),
    "don't edit package-lock.json by hand": Rule(paths=("package-lock.json",)),
    "leave .github/workflows alone": Rule(paths=(".github/workflows",)),
    "`src/generated` is off limits": Rule(paths=("src/generated",)),
    "Never touch migrations/": Rule(paths=("migrations/",)),
    "we never commit .env files": Rule(commands=("git add", "git commit"), arguments=(".env",)),
    "never import from `@/legacy`": Rule(imports=("@/legacy",)),
    "import dayjs, not moment": Rule(imports=("moment",)),
    "don't use pkill or kill": Rule(commands=("pkill", "kill")),
    "don't use grep/sed/awk": Rule(commands=("grep", "sed", "awk")),
    "Use the Edit tool instead of sed": Rule(commands=("sed -i",), excepts=("|",)),
    "don't call eslint directly, use `pnpm lint`": Rule(commands=("eslint",)),
    "use make build instead of go build": Rule(commands=("go build",)),
    "never run `./scripts/deploy.sh`": Rule(commands=("deploy.sh",)),
    "never use `python -c`": Rule(commands=("python -c",)),
    "Bitte immer pnpm statt npm verwenden": Rule(commands=("npm",)),
    "verwende niemals sudo": Rule(commands=("sudo",)),
    "Kein force push": Rule(commands=FORCED),
    "改用 pnpm，不要用 npm": Rule(commands=("npm",)),
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


@pytest.mark.parametrize(
    ("sentence", "instead"),
    [
        ("use pnpm, not npm", "use pnpm"),
        ("don't import moment, use date-fns", "use date-fns"),
        ("Don't use cat, use the Read tool", "use the Read tool"),
        ("use make build instead of go build", "use make build"),
        ("never use npm, always pnpm", "use pnpm"),
        ("use `just test` instead of cargo test", "use just test"),
        ("use just lint instead of ruff", "use just lint"),
        ("don't use npm, use just pnpm", "use pnpm"),
        ("we never use sudo here, ok", ""),
        ("Use the justfile: `just test` instead of cargo test", ""),
        ("Never use npm. That is what I said.", ""),
        ("never touch vendor/", ""),
    ],
)
def test_what_to_do_instead_is_told_if_the_sentence_names_it(sentence: str, instead: str) -> None:
    proposal = propose(sentence)
    assert proposal is not None
    assert proposal.instead == instead
    assert proposal.reason == sentence


def test_tests_by_a_task_of_the_project_forbid_every_runner() -> None:
    proposal = propose("run tests with make test")
    assert proposal is not None
    assert {"pytest", "go test", "npm test", "cargo test"} <= set(proposal.rule.commands)
    assert "make test" in proposal.rule.excepts


@pytest.mark.parametrize(
    "sentence",
    [
        "for tests use `just test`, not pytest",
        "tests: just test, never pytest directly",
        "for the tests, run just test",
    ],
)
def test_tests_are_named_before_the_command_that_runs_them(sentence: str) -> None:
    proposal = propose(sentence)
    assert proposal is not None
    assert "pytest" in proposal.rule.commands
    assert proposal.instead == "use just test"


def test_the_only_command_for_tests_may_be_said_at_the_end() -> None:
    sentence = "run tests via `make test` only"
    plain = propose("run tests via `make test`")
    assert plain is not None
    assert propose(sentence) == replace(plain, reason=sentence)


def test_tests_by_a_runner_forbid_those_of_its_language() -> None:
    proposal = propose("run the tests with uv run pytest")
    assert proposal is not None
    assert proposal.rule.commands == ("pytest", "unittest", "tox", "nox")
    assert "uv run" in proposal.rule.excepts


@pytest.mark.parametrize(
    "sentence",
    [
        "use npm only when deploying",
        "Don't push before reviewing",
        "never run terraform apply in production",
        "don't use sudo unless I say so",
        "should we use pnpm instead of npm?",
        "is npm ok?",
        "use pnpm instead of npm, or is that too slow?",
        "can you use pnpm instead of npm?",
        "can you run npm instead of pnpm",
        "this repo is not npm",
        "no docker, tests only",
        "you keep using git. use it less",
        "tests: 5 failed, not pytest",
        "never push with --verbose",
        "write short sentences, not long ones",
        "don't use `any`",
        "don't use `console.log`",
        "never use var",
        "Prefer composition over inheritance",
        "use tabs, not spaces",
        "keep functions small",
        "don't commit",
        "fix all but don't commit",
        "don't push yet",
        "don't run the tests for now",
        "never import lazily",
        "don't import it twice",
        "use postgres, not sqlite",
        "answer in German, not in English",
        "don't touch the API",
        "don't change the behaviour",
        "don't edit more than one file",
        "always write tests first",
        "use the existing helper, not a new one",
        "never push without asking me",
        "don't use npm for the backend",
        "don't run npm install when the lockfile is unchanged",
        "use pnpm instead of npm for the website",
        "don't use git for that",
        "never use mocks",
        "no comments",
        "no emojis please",
        "no",
        "stop",
        "don't",
        "never",
        "use react hooks not classes",
        "don't use docker in CI",
        "don't use python for scripts",
        "don't make changes",
        "don't go there",
        "don't find excuses",
        "never commit secrets",
        "don't commit large files",
        "don't modify files in migrations/",
        "never edit generated files in src",
        "rename foo to bar",
        "Never use npm if pnpm is there",
        "use `useMemo` instead of `useCallback`",
        "don't use `git` in this function",
        "use moment.js, not date-fns",
        "no longer use moment.js",
        "make sure the tests pass",
        "use Python 3.12, not 3.11",
        "the npm package is not needed",
        "npm is slow",
        "we don't use it",
        "don't call the API twice",
        "don't start a server yet",
        "do not add tests in this PR",
        "never run everything at once",
        "don't update dependencies",
        "don't format the output",
        "use main, not master",
        "please use the staging database, not production",
        "run tests with coverage",
        "run the tests with verbose output",
        "run tests with care",
        "use git to run tests",
        "use fixtures for tests",
        "Don't touch client/server communication",
        "don't edit and/or remove",
        "don't merge",
        "never merge conflicts by hand",
        "don't rebase onto main before the release",
        "wenn es geht, nutze pnpm statt npm",
        "bitte keine langen Antworten",
        "nutze kurze Sätze statt langer",
        "不要用英文回答",
        "",
        " " * 500,
        "never use npm " * 50,
    ],
)
def test_a_sentence_that_no_match_can_decide_gets_no_proposal(sentence: str) -> None:
    assert propose(sentence) is None


HOSTILE = (
    "never use ",
    "don't ",
    "use a, not b, ",
    "`",
    "`a` ",
    "/",
    "a/",
    "(",
    ", ",
    " not",
    "never touch a/b or ",
    "要 ",
    "ok ",
    "you keep using a. ",
    "tests: ",
    "no a, b only ",
)


@pytest.mark.parametrize("part", HOSTILE)
def test_a_hostile_sentence_takes_few_steps(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count = Count(monkeypatch, [proposal_module, named_things])
    for name in ("_FORMS", "FORMS"):
        monkeypatch.setattr(proposal_module, name, [Counted(form, count) for form in getattr(proposal_module, name)])
    propose((part * MAX_SENTENCE_LENGTH)[:MAX_SENTENCE_LENGTH])
    assert count.taken < 1_000_000
