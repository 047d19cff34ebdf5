"""Recordings by project: from given paths, or from the transcripts of stored sessions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.evaluation.recording import LIST_NAME, Recording, read_recording, recording_of
from claude_mem_lite.evaluation.report import ProjectRecording
from claude_mem_lite.importers.discovery import AGENTS, discover
from claude_mem_lite.importers.transcripts import Transcript, files_below, find_transcripts
from claude_mem_lite.responses.records import SessionRecord
from claude_mem_lite.text import counted

OTHER_PATHS = "name a folder of transcripts as PATH, such as ~/.claude/projects"


def of_paths(paths: Sequence[Path], now: datetime) -> list[ProjectRecording]:
    """Return the projects of transcripts and folders; a folder with a `sessions.json` is one project.

    MemoryLiteError if no file of them is a transcript of Claude Code."""
    listed = [path for path in paths if (path / LIST_NAME).is_file()]
    found = [ProjectRecording(path.name, read_recording([path], now)) for path in listed]
    others = [path for path in paths if path not in listed]
    found += _by_project(recording_of(find_transcripts(others), None, now)) if others else []
    if not any(project.recording.past for project in found):
        files = counted(sum(1 for path in paths for _ in _files_at(path)), "file was", "files were")
        raise MemoryLiteError(
            f"{files} found, and none is a transcript of Claude Code with a finished turn, which is all that eval "
            "reads",
            OTHER_PATHS,
        )
    return found


def of_sessions(
    sessions: Sequence[SessionRecord], environment: Mapping[str, str], now: datetime
) -> list[ProjectRecording]:
    """Return the projects of stored sessions, with the numbers of sessions that have no transcript of Claude Code."""
    transcripts = {transcript.session: transcript for transcript in discover([], AGENTS, environment, []).transcripts}
    by_project: dict[str, list[str]] = {}
    for session in sessions:
        by_project.setdefault(session.project, []).append(session.id)
    return [_stored(project, ids, transcripts, now) for project, ids in by_project.items()]


def _stored(project: str, ids: Iterable[str], transcripts: Mapping[str, Transcript], now: datetime) -> ProjectRecording:
    wanted = list(ids)
    found = [transcripts[id_] for id_ in wanted if id_ in transcripts]
    own = [transcript for transcript in found if transcript.agent == CLAUDE_CODE]
    recording = recording_of(own, None, now, is_one_project=True)
    return ProjectRecording(project, recording, len(wanted) - len(recording.listed), len(found) - len(own))


def _files_at(path: Path) -> Iterable[Path]:
    return files_below(path, []) if path.is_dir() else [path]


def _by_project(recording: Recording) -> list[ProjectRecording]:
    """Split a recording by the project of the folder where each session began. Projects are named by their folder, with
    its whole path where two folders have the same name."""
    project_of = {id_: find_location(past.root) for id_, past in recording.past.items()}
    root_of = {location.project: location.root for location in project_of.values()}
    names = Counter(Path(root).name for root in root_of.values())
    return [
        ProjectRecording(
            Path(root).name if names[Path(root).name] == 1 else root,
            Recording(
                [listed for listed in recording.listed if project_of[listed.id].project == project],
                {id_: past for id_, past in recording.past.items() if project_of[id_].project == project},
                has_list=False,
            ),
        )
        for project, root in root_of.items()
    ]
