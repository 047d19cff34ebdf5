CREATE TABLE migrations (name text primary key, applied_at text not null);
insert into migrations (name, applied_at) values ('m001_memory', '2026-01-02T00:00:00.000000+00:00');
CREATE TABLE projects (
            id text primary key,
            name text not null,
            root text not null,
            first_seen_at text not null,
            last_seen_at text not null
        );
insert into projects (id, name, root, first_seen_at, last_seen_at) values ('example.org/me/shop', 'shop', '/home/me/shop', '2026-01-02T00:00:00.000000+00:00', '2026-01-02T00:00:00.000000+00:00');
CREATE TABLE sessions (
            id text primary key,
            project text not null,
            cwd text not null,
            branch text not null,
            commit_id text not null,
            source text not null,
            status text not null check (status in ('active', 'completed', 'interrupted', 'failed')),
            started_at text not null,
            last_event_at text not null,
            ended_at text,
            compacted_at text not null default '',
            told_at text not null default '',
            headline text not null default '',
            request text not null default '',
            investigated text not null default '',
            learned text not null default '',
            completed text not null default '',
            next_steps text not null default '[]',
            files_read text not null default '[]',
            files_edited text not null default '[]',
            notes text not null default '',
            key_decisions text not null default '[]'
        );
insert into sessions (id, project, cwd, branch, commit_id, source, status, started_at, last_event_at, ended_at, compacted_at, told_at, headline, request, investigated, learned, completed, next_steps, files_read, files_edited, notes, key_decisions) values ('s1', 'example.org/me/shop', '/home/me/shop', 'main', 'abc', 'startup', 'active', '2026-01-02T00:00:00.000000+00:00', '2026-01-02T00:00:00.000000+00:00', NULL, '', '2026-01-02T00:00:00.000000+00:00', 'Fix the login', '', '', '', '', '["Fix the logout"]', '[]', '[]', '', '[]');
CREATE INDEX sessions_by_project on sessions (project, last_event_at);
CREATE TABLE prompts (
            turn text primary key,
            session text not null,
            prompt_id text not null,
            text text not null,
            reply text not null,
            created_at text not null
        );
CREATE INDEX prompts_by_session on prompts (session, created_at);
CREATE TABLE memories (
            seq integer primary key,
            id text not null unique,
            kind text not null,
            status text not null check (status in ('active', 'superseded', 'retired', 'quarantined')),
            title text not null,
            summary text not null,
            detail text not null,
            facts text not null,
            files text not null,
            symbols text not null,
            anchors text not null,
            tags text not null,
            scope text not null,
            project text not null,
            session text not null,
            prompt text not null,
            branch text not null,
            commit_id text not null,
            origin text not null
                check (origin in ('user', 'assistant', 'code', 'command', 'web', 'mcp', 'import')),
            trust real not null,
            confidence real not null,
            times_seen integer not null,
            created_at text not null,
            last_seen_at text not null,
            stored_at text not null,
            pinned integer not null,
            superseded_by text,
            made_by text not null,
            prompt_version text not null,
            tokens_in integer not null,
            tokens_out integer not null,
            cost_usd real not null
        );
insert into memories (seq, id, kind, status, title, summary, detail, facts, files, symbols, anchors, tags, scope, project, session, prompt, branch, commit_id, origin, trust, confidence, times_seen, created_at, last_seen_at, stored_at, pinned, superseded_by, made_by, prompt_version, tokens_in, tokens_out, cost_usd) values (1, 'abcdefghij', 'bugfix', 'active', 'Fix the login', 'The clock was not frozen.', '', '[]', '[]', '[]', '[]', '[]', 'project:example.org/me/shop', 'example.org/me/shop', 's1', '', '', '', 'assistant', 1.0, 0.7, 1, '2026-01-02T00:00:00.000000+00:00', '2026-01-02T00:00:00.000000+00:00', '2026-01-02T00:00:00.000000+00:00', 0, NULL, 'rules', '', 0, 0, 0.0);
CREATE INDEX memories_by_project on memories (project, status, created_at);
CREATE INDEX memories_by_session on memories (session);
CREATE INDEX memories_by_scope on memories (scope, status);
CREATE INDEX memories_by_title on memories (scope, kind, lower(title));
CREATE TABLE sightings (
            memory text not null,
            turn text not null,
            primary key (memory, turn)
        ) without rowid;
insert into sightings (memory, turn) values ('abcdefghij', 't1');
CREATE VIRTUAL TABLE memories_fts using fts5 (
            title, summary, facts, files, detail, project, tokenize = 'porter unicode61'
        );
insert into memories_fts (title, summary, facts, files, detail, project) values ('Fix the login', 'The clock was not frozen.', '', '', '', 'sc94d82203fb55ce93b286');
CREATE TABLE receipts (
            spool_name text primary key,
            session text not null,
            project text not null,
            moment text not null,
            items text not null,
            layers text not null,
            layers_skipped text not null,
            tokens integer not null,
            budget integer not null,
            build_ms real not null,
            created_at text not null,
            given_at text
        );
CREATE INDEX receipts_by_session on receipts (session, given_at);
CREATE TABLE tombstones (memory text primary key, forgotten_at text not null);
