"""Recordings by project: from given paths, or from the transcripts of stored sessions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.evaluation.recording import LIST_NAME, Recording, read_recording, recording_of
from claude_mem_lite.evaluation.report import ProjectRecording
from claude_mem_lite.importers.transcripts import Transcript, find_transcripts
from claude_mem_lite.responses.records import SessionRecord


def of_paths(paths: Sequence[Path], now: datetime) -> list[ProjectRecording]:
    """Return the projects of transcripts and folders; a folder with a `sessions.json` is one project."""
    listed = [path for path in paths if (path / LIST_NAME).is_file()]
    found = [ProjectRecording(path.name, read_recording([path], now)) for path in listed]
    others = [path for path in paths if path not in listed]
    return [*found, *_by_project(recording_of(find_transcripts(others), None, now))] if others else found


def of_sessions(sessions: Sequence[SessionRecord], folders: Sequence[Path], now: datetime) -> list[ProjectRecording]:
    """Return the projects of stored sessions, with the number of sessions whose transcript is gone."""
    transcripts = {transcript.session: transcript for transcript in find_transcripts(folders)}
    by_project: dict[str, list[str]] = {}
    for session in sessions:
        by_project.setdefault(session.project, []).append(session.id)
    return [_stored(project, ids, transcripts, now) for project, ids in by_project.items()]


def _stored(project: str, ids: Iterable[str], transcripts: Mapping[str, Transcript], now: datetime) -> ProjectRecording:
    wanted = list(ids)
    recording = recording_of([transcripts[id_] for id_ in wanted if id_ in transcripts], None, now, is_one_project=True)
    return ProjectRecording(project, recording, len(wanted) - len(recording.listed))


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
