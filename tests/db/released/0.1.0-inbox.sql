CREATE TABLE migrations (name text primary key, applied_at text not null);
insert into migrations (name, applied_at) values ('i001_inbox', '2026-01-02T00:00:00.000000+00:00');
CREATE TABLE inbox (
            id integer primary key autoincrement,
            name text not null unique,
            event text not null,
            session text not null,
            turn text not null default '',
            payload text not null,
            raw_bytes integer not null,
            status text not null default 'raw'
                check (status in ('raw', 'processing', 'done', 'error', 'skipped')),
            reason text not null default '',
            attempts integer not null default 0,
            lease_until real not null default 0,
            available_at real not null default 0,
            received_at real not null,
            finished_at real
        );
insert into inbox (id, name, event, session, turn, payload, raw_bytes, status, reason, attempts, lease_until, available_at, received_at, finished_at) values (1, '01767312000000000000-1-deadbeef-Stop', 'Stop', 's1', '', '{"session_id":"s1"}', 19, 'raw', '', 0, 0.0, 0.0, 1767312000.0, NULL);
CREATE INDEX inbox_by_status on inbox (status, session, id);
CREATE INDEX inbox_by_turn on inbox (turn);
