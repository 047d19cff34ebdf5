"""Commits that a command made: subject, body, hash, branch and size, from the command and from the output of git."""

import re
from dataclasses import replace

from claude_mem_lite.compress.toolcalls.shell import GIT_OPTIONS, parts, without_heredocs
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.values import frozen

_COMMITTED = lazy(
    r"(?m)^\[(?P<branch>[^\]\n]{1,200}?) (?P<hash>[0-9a-f]{6,40})\] (?P<subject>\S[^\n]{0,500})$"
    r"(?:\n (?:Author|Date):[^\n]*){0,3}(?:\n[ ](?P<size>\d+ files? changed[^\n]{0,80}))?"
)
_MAKES_COMMITS = lazy(rf"\bgit {GIT_OPTIONS}(?:commit|cherry-pick|revert|am)\b")
_MESSAGE_FLAG = lazy(
    r"(?:-m|-[a-z]*m|--message)(?:\s+|=)(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|\$'((?:[^'\\]|\\.)*)')", re.S
)
_LINES = lazy(r"(\d+) (?:insertion|deletion)")
_TRAILER = lazy(r"(?im)^(?:co-authored-by|signed-off-by|change-id|generated with|🤖).*$")


@frozen
class Commit:
    subject: str
    body: str = ""
    hash: str = ""
    branch: str = ""
    size: str = ""
    """ "2 files changed, 9 insertions(+), 3 deletions(-)" """
    source: str = ""
    """Hash of the original of a cherry-pick."""
    is_typed: bool = True
    """The command contains the subject: a subject from the output may be foreign text."""

    @property
    def lines(self) -> int:
        """Return the number of added and removed lines; 0 for an unknown size."""
        return sum(map(int, _LINES.findall(self.size)))


def read_commits(command: str, output: str) -> list[Commit]:
    """Return the commits of a successful command, with typed messages."""
    command = command[:20_000]
    making = [part for part in parts(command) if _MAKES_COMMITS.match(part)]
    if not making:
        return []
    message = _typed_message(command) if any(re.search(r"\bcommit\b", part) for part in making) else ""
    subject, _, body = message.partition("\n")
    typed = _unescaped(command)
    commits = [
        Commit(
            match["subject"].strip(),
            hash=match["hash"],
            branch=_branch(match["branch"]),
            size=match["size"] or "",
            is_typed=_unescaped(match["subject"]) in typed,
        )
        for match in _COMMITTED.finditer(output[-100_000:])
    ]
    if not commits:
        nothing = re.search(r"(?i)nothing (?:added )?to commit|no changes added", output)
        return [Commit(subject.strip(), body.strip())] if subject.strip() and not nothing else []
    if len(commits) == 1:
        commit = replace(commits[0], body=body.strip(), source=_picked(making))
        # A typed subject goes before a printed subject: any hook can print such a line.
        is_replaced = subject.strip() and len(making) == 1 and not commit.is_typed
        return [replace(commit, subject=subject.strip(), is_typed=True) if is_replaced else commit]
    return commits


def _unescaped(text: str) -> str:
    """Return a text on one line, without the escapes of a shell."""
    return " ".join(text.replace("\\", "").split())


def _branch(name: str) -> str:
    """Return the branch in `[main (root-commit) 0a4f7d2]`; '' for a detached head."""
    return "" if name.startswith("detached") else name.split(" ")[0]


def _picked(making: list[str]) -> str:
    match = re.match(rf"git {GIT_OPTIONS}cherry-pick\b.*?\b([0-9a-f]{{6,40}})\b", making[-1])
    return match[1] if match else ""


def _typed_message(command: str) -> str:
    _, bodies = without_heredocs(command)
    if bodies:
        message = bodies[0]
    else:
        messages = ["".join(groups) for groups in _MESSAGE_FLAG.findall(command)]
        message = "\n\n".join(text.replace('\\"', '"').replace("\\n", "\n") for text in messages)
    return _TRAILER.sub("", message).strip()
