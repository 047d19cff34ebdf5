"""Steps of the schema of `memory.db` for the user's experiment: its runs, the arms of sessions, and their outcomes."""

import sqlite3


def m026_experiment(connection: sqlite3.Connection) -> None:
    """Add the tables of the experiment. Without an experiment they stay empty."""
    connection.execute("create table experiment_runs (began_at text primary key, ended_at text)")
    # `closed_at`: the experiment ended before the session did, so the session belongs to no arm any more.
    connection.execute("""
        create table experiment_arms (
            session text primary key,
            arm text not null check (arm in ('control', 'treated')),
            share real not null,
            decided_at text not null,
            closed_at text
        ) without rowid""")
    connection.execute("create index experiment_arms_in_force on experiment_arms (arm) where closed_at is null")
    # A null is an unknown value, never a zero.
    connection.execute("""
        create table experiment_outcomes (
            session text primary key,
            ended_at text not null,
            calls_before_edit integer,
            files_before_edit integer,
            repeated_failures integer,
            corrections integer,
            turns integer not null,
            tokens integer,
            seconds real
        ) without rowid""")


def m027_outcome_places(connection: sqlite3.Connection) -> None:
    """Number the outcomes in the order in which they were counted: a look at the experiment must not reorder them. Add
    when the user was shown that a session is a control session."""
    connection.execute("alter table experiment_arms add column announced_at text")
    connection.execute("alter table experiment_outcomes add column place integer not null default 0")
    connection.execute("""
        update experiment_outcomes set place = ranked.place from (
            select session, row_number() over (order by ended_at, session) as place from experiment_outcomes
        ) as ranked where ranked.session = experiment_outcomes.session""")
