"""A model behind OpenAI's API on this machine that answers questions from notes, and the file of its answers.

Answers hold text of recorded sessions: the file belongs outside of the repository. What is in it is not asked again, so
a run can be stopped and resumed."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from benchmarks.reader_notes import Notes

INSTRUCTION = (
    "You answer questions of a developer about the past of a software project. Answer in a few words, from the notes "
    "alone: only the name, number or command that is asked for. If the notes do not tell the answer, say: unknown"
)
MAX_ANSWER_TOKENS = 48
_ANSWER_S = 900.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """What the model said, and how many tokens it was sent."""

    key: str
    said: str
    tokens: int


class Reader:
    """Asks the model, unless the answer is in the file."""

    def __init__(self, url: str, file: Path) -> None:
        if urlsplit(url).hostname not in _LOOPBACK:
            raise SystemExit("the server must be on this machine")
        self._url = f"{url.rstrip('/')}/v1/chat/completions"
        self._file = file
        lines = file.read_text().splitlines() if file.exists() else []
        self._known = {one["key"]: ReaderAnswer(**one) for one in map(json.loads, lines)}

    def answers(self, notes: Sequence[Notes], condition: str) -> list[ReaderAnswer]:
        """Return the answer to each question. A server remembers what it read last, so questions of a project are asked
        one after the other, those with the shortest notes first."""

        def order(one: Notes) -> tuple[str, int]:
            return one.question.project, len(one.by_condition[condition])

        found = {one.question.text: self._answer(one, condition) for one in sorted(notes, key=order)}
        return [found[one.question.text] for one in notes]

    def _answer(self, notes: Notes, condition: str) -> ReaderAnswer:
        messages = messages_of(notes.by_condition[condition], notes.question.text)
        key = hashlib.sha256(json.dumps([condition, messages]).encode()).hexdigest()
        if key not in self._known:
            self._known[key] = self._asked(key, messages)
            with self._file.open("a") as file:
                file.write(json.dumps(asdict(self._known[key])) + "\n")
        return self._known[key]

    def _asked(self, key: str, messages: Sequence[dict[str, str]]) -> ReaderAnswer:
        body = {"model": "reader", "messages": messages, "temperature": 0, "max_tokens": MAX_ANSWER_TOKENS}
        request = Request(self._url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urlopen(request, timeout=_ANSWER_S) as response:
            told = json.load(response)
        return ReaderAnswer(key, told["choices"][0]["message"]["content"], told["usage"]["prompt_tokens"])


def messages_of(notes: str, question: str) -> list[dict[str, str]]:
    """Return the messages of a question, the same but for the notes in every condition."""
    return [
        {"role": "system", "content": INSTRUCTION},
        {"role": "user", "content": f"Notes:\n{notes or '(none)'}\n\nQuestion: {question}\nAnswer:"},
    ]
