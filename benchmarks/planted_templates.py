"""Templates of planted facts: what is stated of a subject, how it changes, what is near it, and the question for it.

Half of them are held out: nothing was chosen by them."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Template:
    """Statement about a subject `{x}` with a value `{v}`, and its question."""

    name: str
    question: str
    stated: str
    changed: str
    """Later statement of another value, which does not mention the earlier one."""
    beside: str
    """Statement about something else of the same subject, in much the same words."""
    telling: tuple[str, ...]
    """Words of the question that a text about this attribute has."""
    value: Literal["number", "name", "person", "command", "date"]
    is_held_out: bool = False


TEMPLATES = (
    Template(
        "port",
        "Which port does the debug server of {x} listen on?",
        "The debug server of {x} listens on port {v}.",
        "From now on the debug server of {x} listens on port {v}.",
        "The metrics server of {x} listens on port {v}.",
        ("debug", "port"),
        "number",
    ),
    Template(
        "timeout",
        "What is the timeout of {x} in CI?",
        "The timeout of {x} in CI is {v} seconds.",
        "We changed it: the timeout of {x} in CI is {v} seconds now.",
        "The memory limit of {x} in CI is {v} megabytes.",
        ("timeout",),
        "number",
    ),
    Template(
        "owner",
        "Who is the owner of {x}?",
        "The owner of {x} is {v}.",
        "The new owner of {x} is {v}.",
        "The reviewer of {x} is {v}.",
        ("owner",),
        "person",
    ),
    Template(
        "flag",
        "Which feature flag guards {x} in production?",
        "The feature flag {v} guards {x} in production.",
        "In production {x} is guarded by the feature flag {v}.",
        "The lint rule {v} guards {x} in production.",
        ("flag", "guards"),
        "name",
    ),
    Template(
        "checksum",
        "Which checksum did we choose for {x}?",
        "We chose {v} as the checksum for {x} because the others were too slow.",
        "We changed our mind and chose {v} as the checksum for {x}, because it is in the standard library.",
        "We chose {v} as the text encoding for {x} because the others were too slow.",
        ("checksum",),
        "name",
    ),
    Template(
        "cause",
        "What was the cause of the flaky retries in {x}?",
        "The cause of the flaky retries in {x} was a stale {v} handle.",
        "After another look, the cause of the flaky retries in {x} was the {v} thread.",
        "The cause of the slow start in {x} was a stale {v} handle.",
        ("flaky", "retries"),
        "name",
    ),
    Template(
        "command",
        "What is the command to regenerate the snapshots of {x}?",
        "The command to regenerate the snapshots of {x} is `{v}`.",
        "Use another command to regenerate the snapshots of {x}: `{v}`.",
        "The command to upload the coverage of {x} is `{v}`.",
        ("regenerate", "snapshots"),
        "command",
        is_held_out=True,
    ),
    Template(
        "jobs",
        "How many parallel jobs may {x} start?",
        "{x} may start {v} parallel jobs at most.",
        "As of today {x} may start {v} parallel jobs.",
        "{x} may start {v} background threads at most.",
        ("parallel", "jobs"),
        "number",
        is_held_out=True,
    ),
    Template(
        "alerts",
        "Where are the alerts of {x} sent?",
        "The alerts of {x} are sent to the {v} channel.",
        "The alerts of {x} are now sent to the {v} channel.",
        "The nightly traces of {x} are sent to the {v} channel.",
        ("alerts",),
        "name",
        is_held_out=True,
    ),
    Template(
        "variable",
        "Remind me which environment variable overrides {x}?",
        "The environment variable {v} overrides {x}.",
        "The environment variable that overrides {x} was renamed to {v}.",
        "The environment variable {v} silences {x}.",
        ("overrides", "variable"),
        "name",
        is_held_out=True,
    ),
    Template(
        "bucket",
        "Which storage bucket did we settle on for the artifacts of {x}?",
        "We settled on the storage bucket {v} for the artifacts of {x}, since it is the cheapest.",
        "We settled on the storage bucket {v} for the artifacts of {x} after all, since it is nearer.",
        "We settled on the storage bucket {v} for the logs of {x}, since it is the cheapest.",
        ("bucket", "artifacts"),
        "name",
        is_held_out=True,
    ),
    Template(
        "deadline",
        "What is the deadline for the migration of {x}?",
        "The deadline for the migration of {x} is {v}.",
        "The deadline for the migration of {x} was moved to {v}.",
        "The deadline for the audit of {x} is {v}.",
        ("deadline",),
        "date",
        is_held_out=True,
    ),
)
