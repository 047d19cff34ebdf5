"""Sentences that may be lessons, each with a paraphrase and with the words of an agent that understood it.

Which of them the scorer is unsure about is asked when a test runs: another scorer is unsure about others."""

from dataclasses import dataclass

from claude_mem_lite.compress.lessons.statement import stands_alone
from claude_mem_lite.compress.rules.corrections import taught
from claude_mem_lite.knowledge.lessons.collection import unsure
from claude_mem_lite.models import Event, Turn
from tests.fakes import NOW


@dataclass(frozen=True, slots=True)
class Story:
    said: str
    again: str
    """The same in other words."""
    saved: str
    """The same in one sentence with its reason."""


_STORIES = (
    Story(
        "We should not rely on rows of the staging database since it is wiped every night",
        "You should not rely on the rows in the staging database, it is wiped every night",
        "Scripts must not rely on rows of the staging database, because it is wiped every night",
    ),
    Story(
        "We only support Python 3.11 and later, so fallbacks for old versions are not needed",
        "Fallbacks for old versions are not needed since we only support Python 3.11 and later",
        "Add no fallbacks for old versions, because only Python 3.11 and later is supported",
    ),
    Story(
        "I don't think we should commit generated files here, because reviewers have to read them",
        "I don't think that generated files should be committed here, reviewers have to read them",
        "Do not commit generated files, because reviewers have to read them",
    ),
    Story(
        "We don't need to test the standard library, only our own code",
        "There is no need to test the standard library, we only test our own code",
        "Test only our own code, because the standard library has its own tests",
    ),
    Story(
        "Hmm, big commits are hard to read for our reviewers because they read them one by one",
        "But big commits are hard to read for our reviewers, since they read all of them one by one",
        "Keep commits small, because the reviewers read them one by one",
    ),
    Story(
        "Hmm, why add a note about the unused parameter and not just remove that parameter?",
        "But why add another note about an unused parameter and not just remove the parameter?",
        "Remove an unused parameter instead of adding a note about it, because notes get old",
    ),
    Story(
        "The error texts are short on purpose because each fits into one line of the log",
        "The error texts are short on purpose, since each of them fits into one line of the log",
        "Keep error texts short, because each has to fit into one line of the log",
    ),
    Story(
        "I'd like the release notes to name the ticket since our support looks it up there",
        "I'd like these release notes to name the ticket too, since support looks it up there",
        "Name the ticket in the release notes, because support looks it up there",
    ),
    Story(
        "I think we should keep the fixtures of the tests in plain files so that testers can edit them",
        "I think we should keep all test fixtures in plain files, so that testers can edit them",
        "Keep test fixtures in plain files, because testers edit them",
    ),
    Story(
        "But our customers see these dates in their own time zone because support asked for that",
        "No, our customers see the dates in their own time zone, because support asked for that",
        "Show dates in the time zone of the customer, because support asked for it",
    ),
)


def stories(number: int = 1) -> list[Story]:
    """Return the first stories that can be rules as they are said, that the scorer is unsure about, and that rules
    learn nothing from."""
    found = [story for story in _STORIES if _is_unsure(story.said) and _is_unsure(story.again)]
    assert len(found) >= number, "add sentences that the scorer is unsure about"
    return found[:number]


def _is_unsure(sentence: str) -> bool:
    event = Event("name", "UserPromptSubmit", "s", NOW, prompt=sentence)
    is_learned = bool(taught(Turn("name", "s", "shop", sentence, (event,))))
    return not is_learned and stands_alone(sentence) and [one.sentence for one in unsure(sentence, "")] == [sentence]
