"""What a change means for other memories, told after it: what is replaced or contradicted now, what stays replaced."""

from collections.abc import Collection

import click

from claude_mem_lite.cli.output import field
from claude_mem_lite.cli.records import related_line
from claude_mem_lite.client.told import objects, part
from claude_mem_lite.models import JsonObject


def tell_relations(memory: JsonObject) -> None:
    """What a memory that was just stored or changed replaces and contradicts."""
    for label, key in (("It replaces", "replaced"), ("It contradicts", "conflicts")):
        for other in objects(memory, key):
            click.echo(f"{label} {related_line(other)}")
    if successor := part(memory, "replaced_by"):
        click.echo(f"It is itself replaced by {related_line(successor)}")


def tell_left_replaced(memory: JsonObject, gone: Collection[str] = ()) -> None:
    """What a memory that holds no more had replaced: that stays so, and the user can have it otherwise."""
    for other in objects(memory, "replaced"):
        if (id_ := field(other, "id")) not in gone:
            click.echo(f"It had replaced {related_line(other)}")
            click.echo(f"  which stays replaced; `claude-mem-lite confirm {id_}` makes it hold again.")
