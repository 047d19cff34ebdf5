"""What users teach in their prompts, sentence by sentence: what counts, of which kind, under which title."""

import pytest

from claude_mem_lite.compress.lessons.reading import read
from claude_mem_lite.compress.lessons.spoken import LONGEST_SENTENCE, spoken
from tests.taught_sentences import SENTENCES, TAUGHT_LATER, TAUGHT_UNSEEN, UNTAUGHT_LATER, UNTAUGHT_UNSEEN

OWN = {text: bool(kind) for text, kind in SENTENCES}
LATER = {**dict.fromkeys(TAUGHT_LATER, True), **dict.fromkeys(UNTAUGHT_LATER, False)}
UNSEEN = {**dict.fromkeys(TAUGHT_UNSEEN, True), **dict.fromkeys(UNTAUGHT_UNSEEN, False)}


def title(sentence: str) -> str:
    found = read(sentence)
    return found.title if found else ""


@pytest.mark.parametrize("sentences", [OWN, LATER, UNSEEN], ids=["before the rules", "against the rules", "unseen"])
def test_of_what_is_found_nine_tenths_is_taught_and_of_what_is_taught_four_fifths_is_found(
    sentences: dict[str, bool],
) -> None:
    found = [text for text in sentences if read(text)]
    right = sum(sentences[text] for text in found)
    assert right >= 0.9 * len(found)
    assert right >= 0.8 * sum(sentences.values())


def test_the_kind_of_what_is_taught_is_right_nine_times_of_ten() -> None:
    taught = [(kind, found.kind) for text, kind in SENTENCES if kind and (found := read(text))]
    assert sum(kind == found for kind, found in taught) >= 0.9 * len(taught)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("no, use pnpm", "Use pnpm"),
        ("I said use pnpm", "Use pnpm"),
        ("No, please use pnpm!", "Use pnpm"),
        ("use pnpm, not npm", "Use pnpm, not npm"),
        ("I told you, use pnpm instead of npm.", "Use pnpm, not npm"),
        ("don't use npm, use pnpm", "Use pnpm, not npm"),
        ("Don't touch the generated files!", "Don't touch the generated files"),
        ("please do not touch the generated files", "Don't touch the generated files"),
        ("I told you to leave the changelog alone.", "Leave the changelog alone"),
        ("you keep importing lodash, please don't", "Stop importing lodash"),
        ("you should have asked before deleting the fixtures", "Ask before deleting the fixtures"),
        ("don't mock the database because those tests passed", "Don't mock the database"),
        ("you must not edit anything under vendor/", "Never edit anything under vendor/"),
        ("I don't like abbreviations in variable names", "Avoid abbreviations in variable names"),
        ("could you please always run the linter?", "Always run the linter"),
        ("remember that the staging database is wiped every Sunday", "The staging database is wiped every Sunday"),
        ("I don't want fallbacks", "The user does not want fallbacks"),
    ],
)
def test_a_title_is_an_order_or_a_fact_that_is_understood_without_the_prompt(said: str, told: str) -> None:
    assert title(said) == told


@pytest.mark.parametrize("said", ["no, use that", "don't do it", "stop doing that", "never do this again"])
def test_what_names_nothing_teaches_nothing(said: str) -> None:
    assert read(said) is None


@pytest.mark.parametrize(
    ("said", "confidence"),
    [
        ("remember: invoices are immutable", 1.0),
        ("I told you to use pnpm", 0.9),
        ("never commit to main", 0.85),
        ("no, use pnpm", 0.75),
        ("the queue is bounded, so don't add a limit", 0.6),
    ],
)
def test_what_is_asked_to_be_kept_is_surest_and_what_was_said_once_least(said: str, confidence: float) -> None:
    found = read(said)
    assert found is not None
    assert found.confidence == confidence


@pytest.mark.parametrize(
    ("said", "scope"),
    [
        ("never commit to main", ""),
        ("In all my projects: never commit to main", "universal"),
        ("never commit to main, in all my repos", "universal"),
        ("always squash, everywhere", "universal"),
        ("in Python use pathlib instead of os.path", "language:python"),
        ("For TypeScript, never use enums in all my projects", "language:typescript"),
        ("in Go code, never panic", "language:go"),
        ("go with the second one, never the first", ""),
        ("remember for all projects that I am on a Mac", "universal"),
    ],
)
def test_a_lesson_holds_beyond_the_project_only_when_the_user_says_so(said: str, scope: str) -> None:
    found = read(said)
    assert (found.scope if found else "") == scope


PASTED = """no, use pnpm

```
# never commit this
npm install
```

> always use npm

2026-03-04 10:00:00 WARN do not use this in production
TypeError: value must not be None
    at install (/app/index.js:10:3)
// don't remove this
<system-reminder>
Never mention this reminder.
</system-reminder>
The reviewer wrote: always use yarn here.
"""


def test_only_what_the_user_says_counts_not_what_is_pasted_quoted_or_put_in() -> None:
    assert [sentence for sentence in spoken(PASTED) if read(sentence)] == ["no, use pnpm"]


@pytest.mark.parametrize(
    "prompt",
    [
        "<command-name>/clear</command-name>\nnever commit to main",
        "[Request interrupted by user for tool use]",
        "This session is being continued from a previous conversation. The user said to never commit to main.",
        "Operation stopped by hook: never commit to main",
        "<task-notification>never commit to main</task-notification>",
        "Implement the following plan:\n\n# Plan\n\nNever commit to main.",
        "# Rules\n\nNever commit to main.\n\n## Style\n\nAlways use tabs.",
    ],
)
def test_what_clients_hooks_and_documents_say_is_not_the_users_word(prompt: str) -> None:
    assert [sentence for sentence in spoken(prompt) if read(sentence)] == []


def test_what_is_said_before_a_document_and_after_a_command_counts() -> None:
    assert [read(one) is not None for one in spoken("never commit to main\n\n# Plan\n\n## Steps\n\nAlways.")] == [True]
    assert [read(one) is not None for one in spoken("/review never commit to main")] == [True]


def test_of_a_prompt_of_a_megabyte_the_beginning_and_the_end_are_read() -> None:
    prompt = f"no, use pnpm\n\n{'some words that say nothing. ' * 40_000}\n\nnever commit to main"
    assert [title(one) for one in spoken(prompt) if read(one)] == ["Use pnpm", "Never commit to main"]


def test_a_sentence_without_an_end_is_not_read() -> None:
    assert read("never commit " + "to main and " * LONGEST_SENTENCE) is None


@pytest.mark.parametrize(
    "unit",
    ["no, ", "i said ", "use a not ", "don't ", "never ", '"', "'", "in all my projects ", "we ", "，", "不要", ": "],
)
def test_no_words_repeated_take_more_than_a_moment(unit: str) -> None:
    for prompt in (unit * (1_000_000 // len(unit)), f"{unit * 90}\n" * 3_000):
        for sentence in spoken(prompt):
            read(sentence)


@pytest.mark.parametrize("unit", ["a", "no. ", "no, use x. ", "\n", "- a\n", "`", "<file>", "<file></file>", "漢。"])
def test_what_is_read_of_a_prompt_is_bounded(unit: str) -> None:
    found = spoken(unit * (1_000_000 // len(unit)))
    assert all(len(sentence) <= LONGEST_SENTENCE for sentence in found)
    assert sum(map(len, found)) <= 20_000
