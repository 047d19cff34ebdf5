"""The page of lessons: what was learned from the user's words, what is unsure, and the user's last word on both."""

from collections.abc import Mapping

from claude_mem_lite.client.client import Client
from claude_mem_lite.client.responses import Where, number, objects
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import JsonObject, text, texts, users_word
from claude_mem_lite.ui.templating import Action, Asked, id_of, render

_AT_ONCE = 100


def lessons(asked: Asked) -> str:
    """Return the page, or only its list."""
    found = asked.client.lessons(Where("", all_projects=True), limit=_AT_ONCE)
    names = asked.client.project_names()

    def named(one: JsonObject) -> JsonObject:
        project = text(one.get("project"))
        return {**one, "project_name": names.get(project, project)}

    values = {
        "unsure": [named(one) for one in objects(found, "unsure")],
        "learned": [_shown(named(one)) for one in objects(found, "learned")],
    }
    is_list = asked.chosen("only") == "list"
    return render("lessons_list.html" if is_list else "lessons.html", **values)


def _shown(memory: JsonObject) -> JsonObject:
    whose = users_word(text(memory.get("made_by")), number(memory, "trust"))
    return {**memory, "whose": whose, "said": list(objects(memory, "said"))}


def _accept(client: Client, given: JsonObject) -> JsonObject:
    accepted = client.accept_lessons(texts(given.get("ids")))
    words = " ".join(f"“{text(one.get('text'))}”" for one in objects(accepted, "lessons"))
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
