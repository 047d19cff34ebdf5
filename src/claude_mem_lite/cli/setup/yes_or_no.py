"""Question that is answered with yes or no. The one of click does not say which answers it takes."""

import click

_ANSWERS = {"y": True, "yes": True, "n": False, "no": False}


def ask_yes_or_no(question: str, *, default: bool) -> bool:
    """Ask until the answer is yes or no; Enter takes the default."""

    def understood(typed: str) -> bool:
        answer = {**_ANSWERS, "": default}.get(typed.strip().lower())
        if answer is None:
            raise click.UsageError("answer y or n")
        return answer

    choices = "Y/n" if default else "y/N"
    given: bool = click.prompt(f"{question} [{choices}]", default="", show_default=False, value_proc=understood)
    return given
