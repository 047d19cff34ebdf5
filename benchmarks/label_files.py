"""Files of answers and labels: one JSON object a line."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path


def read_lines(path: Path) -> list[Mapping[str, object]]:
    """Return the objects of a file."""
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def append(path: Path, lines: list[str]) -> None:
    """Add labels to a file, and say so."""
    with path.open("a") as kept:
        kept.writelines(f"{line}\n" for line in lines)
    print(f"{len(lines)} labels were added to {path.name}")


def fingerprint(text: str) -> str:
    """Return a hash of the words of a text, without case, marks and white space; labels refer to sentences by it."""
    words = " ".join(re.findall(r"\w+", text.lower()))
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:12]
