"""What comes back in several sessions is learned, through a real worker: errors with their fix, and corrections."""

from pathlib import Path

from tests.support.running import Json, Machine, dump, leave, payload

ERROR = "E   ModuleNotFoundError: No module named 'yaml'"


def ran(session: str, cwd: Path, command: str, output: str, *, failed: bool = False) -> Json:
    if failed:
        told: Json = {"error": f"Exit code 2\n{output}"}
        return payload(
            "PostToolUseFailure", session, str(cwd), tool_name="Bash", tool_input={"command": command}, **told
        )
    response = {"stdout": output, "stderr": "", "interrupted": False}
    return payload(
        "PostToolUse",
        session,
        str(cwd),
        tool_name="Bash",
        tool_input={"command": command},
        tool_response=response,
    )


def repaired(machine: Machine, session: str, cwd: Path) -> list[tuple[str, Json]]:
    """A session in which the tests could not be run for want of a module, which was installed; returns its events."""
    events = [
        payload("UserPromptSubmit", session, str(cwd), prompt=f"Run the tests, please ({session})"),
        ran(session, cwd, "pytest", ERROR, failed=True),
        ran(session, cwd, "pip install pyyaml", "Successfully installed pyyaml-6.0"),
        ran(session, cwd, "pytest", "===== 3 passed in 0.10s ====="),
        payload("Stop", session, str(cwd), last_assistant_message="The module yaml was missing: pytest runs now."),
    ]
    named = [(leave(machine.home, one), one) for one in events]
    machine.drain()
    return named


def of_kind(machine: Machine, kind: str, cwd: Path) -> list[Json]:
    found: list[Json] = machine.get(f"/api/memories?cwd={cwd}&kind={kind}")["memories"]
    return found


def test_an_error_that_was_put_right_in_two_sessions_is_a_gotcha_with_the_fix(served: Machine, tmp_path: Path) -> None:
    repaired(served, "fix-1", tmp_path)
    assert of_kind(served, "gotcha", tmp_path) == []
    again = repaired(served, "fix-2", tmp_path)
    (gotcha,) = of_kind(served, "gotcha", tmp_path)
    assert "yaml" in gotcha["title"]
    assert "pip install pyyaml" in gotcha["summary"]
    assert gotcha["confidence"] == 0.65
    before = dump(served.home.memory_db)
    for name, event in again:
        leave(served.home, event, name=name)
    served.drain()
    assert dump(served.home.memory_db) == before


def test_a_rule_that_is_told_again_in_other_words_is_one(served: Machine, tmp_path: Path) -> None:
    for session, prompt in (("told-1", "no, never use npm"), ("told-2", "Please never use npm!")):
        leave(served.home, payload("UserPromptSubmit", session, str(tmp_path), prompt=prompt))
        leave(served.home, payload("Stop", session, str(tmp_path), last_assistant_message="Sorry, pnpm it is."))
        served.drain()
    (told,) = of_kind(served, "rule", tmp_path)
    assert (told["title"], told["times_seen"]) == ("Never use npm", 2)
    assert told["confidence"] >= 0.85
