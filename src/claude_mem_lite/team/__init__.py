"""Team memory: sharing of memories through PostgreSQL, as docs/team-protocol.md describes."""
