"""Templates of planted facts: what is stated of a subject, how it changes, what is near it, and the question for it.

A third was written after the rules for questions were chosen, and before those for start contexts; the last six were
written after all rules, and nothing was chosen by them."""

from dataclasses import dataclass
from typing import Literal

Written = Literal["before the rules", "after the rules for questions", "after all rules"]


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
    reworded: str
    """The same statement in other words than those of the question."""
    telling: tuple[str, ...]
    """Words of the question that a text about this attribute has."""
    value: Literal["number", "name", "person", "command", "date"]
    written: Written = "before the rules"


TEMPLATES = (
    Template(
        "port",
        "Which port does the debug server of {x} listen on?",
        "The debug server of {x} listens on port {v}.",
        "From now on the debug server of {x} listens on port {v}.",
        "The metrics server of {x} listens on port {v}.",
        "To debug {x}, attach to {v}.",
        ("debug", "port"),
        "number",
    ),
    Template(
        "timeout",
        "What is the timeout of {x} in CI?",
        "The timeout of {x} in CI is {v} seconds.",
        "We changed it: the timeout of {x} in CI is {v} seconds now.",
        "The memory limit of {x} in CI is {v} megabytes.",
        "In CI we give up on {x} after {v} seconds.",
        ("timeout",),
        "number",
    ),
    Template(
        "owner",
        "Who is the owner of {x}?",
        "The owner of {x} is {v}.",
        "The new owner of {x} is {v}.",
        "The reviewer of {x} is {v}.",
        "{v} is responsible for {x}.",
        ("owner",),
        "person",
    ),
    Template(
        "flag",
        "Which feature flag guards {x} in production?",
        "The feature flag {v} guards {x} in production.",
        "In production {x} is guarded by the feature flag {v}.",
        "The lint rule {v} guards {x} in production.",
        "{x} is only reachable in production while {v} is switched on.",
        ("flag", "guards"),
        "name",
    ),
    Template(
        "checksum",
        "Which checksum did we choose for {x}?",
        "We chose {v} as the checksum for {x} because the others were too slow.",
        "We changed our mind and chose {v} as the checksum for {x}, because it is in the standard library.",
        "We chose {v} as the text encoding for {x} because the others were too slow.",
        "{x} is verified with {v}, which was the fastest.",
        ("checksum",),
        "name",
    ),
    Template(
        "cause",
        "What was the cause of the flaky retries in {x}?",
        "The cause of the flaky retries in {x} was a stale {v} handle.",
        "After another look, the cause of the flaky retries in {x} was the {v} thread.",
        "The cause of the slow start in {x} was a stale {v} handle.",
        "{x} was retried now and then because of a stale {v} handle.",
        ("flaky", "retries"),
        "name",
    ),
    Template(
        "command",
        "What is the command to regenerate the snapshots of {x}?",
        "The command to regenerate the snapshots of {x} is `{v}`.",
        "Use another command to regenerate the snapshots of {x}: `{v}`.",
        "The command to upload the coverage of {x} is `{v}`.",
        "To renew the recorded output of {x}, run `{v}`.",
        ("regenerate", "snapshots"),
        "command",
    ),
    Template(
        "jobs",
        "How many parallel jobs may {x} start?",
        "{x} may start {v} parallel jobs at most.",
        "As of today {x} may start {v} parallel jobs.",
        "{x} may start {v} background threads at most.",
        "{x} is limited to {v} jobs at a time.",
        ("parallel", "jobs"),
        "number",
    ),
    Template(
        "alerts",
        "Where are the alerts of {x} sent?",
        "The alerts of {x} are sent to the {v} channel.",
        "The alerts of {x} are now sent to the {v} channel.",
        "The nightly traces of {x} are sent to the {v} channel.",
        "{x} raises its alarms in {v}.",
        ("alerts",),
        "name",
    ),
    Template(
        "variable",
        "Remind me which environment variable overrides {x}?",
        "The environment variable {v} overrides {x}.",
        "The environment variable that overrides {x} was renamed to {v}.",
        "The environment variable {v} silences {x}.",
        "Set {v} to replace {x}.",
        ("overrides", "variable"),
        "name",
    ),
    Template(
        "bucket",
        "Which storage bucket did we settle on for the artifacts of {x}?",
        "We settled on the storage bucket {v} for the artifacts of {x}, since it is the cheapest.",
        "We settled on the storage bucket {v} for the artifacts of {x} after all, since it is nearer.",
        "We settled on the storage bucket {v} for the logs of {x}, since it is the cheapest.",
        "What {x} builds is uploaded to {v}, the cheapest place.",
        ("bucket", "artifacts"),
        "name",
    ),
    Template(
        "deadline",
        "What is the deadline for the migration of {x}?",
        "The deadline for the migration of {x} is {v}.",
        "The deadline for the migration of {x} was moved to {v}.",
        "The deadline for the audit of {x} is {v}.",
        "{x} has to be migrated by {v}.",
        ("deadline",),
        "date",
    ),
    Template(
        "retention",
        "How long are the reports of {x} kept?",
        "Reports of {x} are kept for {v} days.",
        "The reports of {x} are kept for {v} days since the audit.",
        "Backups of {x} are kept for {v} days.",
        "We delete what {x} reports after {v} days.",
        ("reports", "kept"),
        "number",
        written="after the rules for questions",
    ),
    Template(
        "region",
        "In which region does {x} run during the pilot?",
        "During the pilot {x} runs in the region {v}.",
        "The region in which {x} runs during the pilot was changed to {v}.",
        "During the trial {x} runs in the cluster {v}.",
        "{x} is deployed to {v} as long as the pilot lasts.",
        ("region", "pilot"),
        "name",
        written="after the rules for questions",
    ),
    Template(
        "approval",
        "Whose approval does a change of {x} need?",
        "A change of {x} needs the approval of {v}.",
        "Since the reorganisation a change of {x} needs the approval of {v}.",
        "A release of {x} needs the signature of {v}.",
        "Nobody edits {x} without asking {v}.",
        ("approval",),
        "person",
        written="after the rules for questions",
    ),
    Template(
        "seed",
        "What seed do the benchmarks of {x} start from?",
        "The benchmarks of {x} start from the seed {v}.",
        "Since the rewrite the benchmarks of {x} start from the seed {v}.",
        "The benchmarks of {x} start from the snapshot {v}.",
        "Measure {x} with {v} as the first random number.",
        ("seed",),
        "number",
        written="after the rules for questions",
    ),
    Template(
        "workaround",
        "Which workaround did we agree on for the encoding bug in {x}?",
        "For the encoding bug in {x} we agreed on the workaround {v}.",
        "We agreed on a better workaround for the encoding bug in {x}, which is {v}.",
        "For the rounding bug in {x} we agreed on the workaround {v}.",
        "{v} keeps umlauts alive in {x} until the bug is fixed.",
        ("workaround", "encoding"),
        "name",
        written="after the rules for questions",
    ),
    Template(
        "follow-up",
        "Where do we track the follow-up of {x}?",
        "The follow-up of {x} is tracked in {v}.",
        "The follow-up of {x} is tracked in {v} instead.",
        "The redesign of {x} is tracked in {v}.",
        "Whatever is left to do in {x} is noted in {v}.",
        ("follow-up", "track"),
        "name",
        written="after the rules for questions",
    ),
    Template(
        "license",
        "Which license does {x} carry?",
        "{x} carries the license {v}.",
        "{x} carries the license {v} as of this release.",
        "{x} carries the banner {v}.",
        "{x} may be used under the terms of {v}.",
        ("license",),
        "name",
        written="after all rules",
    ),
    Template(
        "minute",
        "At what minute does the nightly job start {x}?",
        "The nightly job starts {x} at minute {v}.",
        "The nightly job now starts {x} at minute {v}.",
        "The weekly job starts {x} at minute {v}.",
        "Every night {x} is run {v} minutes after midnight.",
        ("nightly", "minute"),
        "number",
        written="after all rules",
    ),
    Template(
        "sign-off",
        "Who signs off {x} before a release?",
        "{v} signs off {x} before a release.",
        "Before a release {x} is signed off by {v} these days.",
        "{v} tags {x} before a release.",
        "No release goes out until {v} has looked at {x}.",
        ("sign",),
        "person",
        written="after all rules",
    ),
    Template(
        "mirror",
        "Which mirror does {x} download from?",
        "{x} downloads from the mirror {v}.",
        "{x} downloads from the mirror {v} since last week.",
        "{x} uploads to the mirror {v}.",
        "Everything that {x} fetches comes from {v}.",
        ("mirror",),
        "name",
        written="after all rules",
    ),
    Template(
        "batch",
        "What batch size does {x} use for imports?",
        "For imports {x} uses a batch size of {v}.",
        "For imports {x} uses a batch size of {v} after the tuning.",
        "For exports {x} uses a batch size of {v}.",
        "{x} reads {v} rows at a time when importing.",
        ("batch",),
        "number",
        written="after all rules",
    ),
    Template(
        "format",
        "Which log format did we pick for {x}?",
        "We picked {v} as the log format for {x}.",
        "In the end we picked {v} as the log format for {x}.",
        "We picked {v} as the compression for {x}.",
        "What {x} logs is written in {v}.",
        ("log", "format"),
        "name",
        written="after all rules",
    ),
)
