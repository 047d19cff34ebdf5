"""Page of lessons: learned lessons, unsure candidates, and the user's verdicts."""

from collections.abc import Mapping

from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Where
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import JsonObject, text, texts, user_origin_label
from claude_mem_lite.ui.templating import Action, Asked, View, id_of, render

_AT_ONCE = 100


def lessons(asked: Asked) -> str:
    """Return the page, or only its list."""
    found = asked.client.lessons(Where("", all_projects=True), limit=_AT_ONCE)
    names = asked.client.project_names()

    values = {
        "unsure": [View(lesson, project_name=names.get(lesson.project, lesson.project)) for lesson in found.unsure],
        "learned": [
            View(
                lesson,
                whose=user_origin_label(lesson.made_by, lesson.trust),
                project_name=names.get(lesson.project, lesson.project),
            )
            for lesson in found.learned
        ],
    }
    is_list = asked.chosen("only") == "list"
    return render("lessons_list.html" if is_list else "lessons.html", **values)


def _accept(client: Client, given: JsonObject) -> JsonObject:
    accepted = client.accept_lessons(texts(given.get("ids")))
    words = " ".join(f"“{lesson.text}”" for lesson in accepted.lessons)
    return {"message": f"Accepted, now a rule: {words}"}


def _dismiss(client: Client, given: JsonObject) -> JsonObject:
    client.dismiss_lessons(texts(given.get("ids")))
    return {"message": "Dismissed: neither it nor a paraphrase comes back."}


def _edit(client: Client, given: JsonObject) -> JsonObject:
    words = text(given.get("text")).strip()
    if not words:
        raise MemoryLiteError("a lesson needs some text", "dismiss it if nothing of it holds")
    client.edit_lesson(id_of(given), words)
    return {"message": "Saved: it is your word now."}


LESSON_ACTIONS: Mapping[str, Action] = {
    "accept_lesson": _accept,
    "dismiss_lesson": _dismiss,
    "edit_lesson": _edit,
}
