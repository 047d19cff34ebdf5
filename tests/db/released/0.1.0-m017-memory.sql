CREATE TABLE migrations (name text primary key, applied_at text not null);
insert into migrations (name, applied_at) values ('m001_memory', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m002_model_calls', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m003_search', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m004_code', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m005_knowledge', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m006_outcomes', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m007_progress', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m008_renames', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m009_order', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m010_project_marks', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m011_pauses', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m012_unknown_outcomes', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m013_git_folders', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m014_recorded_folders', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m015_turn_logs', '2026-01-02T00:00:00.000000+00:00');
insert into migrations (name, applied_at) values ('m017_composers', '2026-01-02T00:00:00.000000+00:00');
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
        , folder text not null default '', git_folder text not null default '');
insert into sessions (id, project, cwd, branch, commit_id, source, status, started_at, last_event_at, ended_at, compacted_at, told_at, headline, request, investigated, learned, completed, next_steps, files_read, files_edited, notes, key_decisions, folder, git_folder) values ('s1', 'example.org/me/shop', '/home/me/shop', 'main', 'abc', 'startup', 'active', '2026-01-02T00:00:00.000000+00:00', '2026-01-02T00:00:00.000000+00:00', NULL, '', '2026-01-02T00:00:00.000000+00:00', 'Fix the login', '', '', '', '', '["Fix the logout"]', '[]', '[]', '', '[]', '', '');
CREATE INDEX sessions_by_project on sessions (project, last_event_at);
CREATE TABLE prompts (
            turn text primary key,
            session text not null,
            prompt_id text not null,
            text text not null,
            reply text not null,
            created_at text not null
        , tasks text not null default '', log text not null default '', composer integer not null default 0, left_by integer not null default 0);
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
        , folder text not null default '', git_folder text not null default '');
insert into memories (seq, id, kind, status, title, summary, detail, facts, files, symbols, anchors, tags, scope, project, session, prompt, branch, commit_id, origin, trust, confidence, times_seen, created_at, last_seen_at, stored_at, pinned, superseded_by, made_by, prompt_version, tokens_in, tokens_out, cost_usd, folder, git_folder) values (1, 'abcdefghij', 'bugfix', 'active', 'Fix the login', 'The clock was not frozen.', '', '[]', '[]', '[]', '[]', '[]', 'project:example.org/me/shop', 'example.org/me/shop', 's1', '', '', '', 'assistant', 1.0, 0.7, 1, '2026-01-02T00:00:00.000000+00:00', '2026-01-02T00:00:00.000000+00:00', '2026-01-02T00:00:00.000000+00:00', 0, NULL, 'rules', '', 0, 0, 0.0, '', '');
CREATE INDEX memories_by_project on memories (project, status, created_at);
CREATE INDEX memories_by_session on memories (session);
CREATE INDEX memories_by_title on memories (scope, kind, lower(title));
CREATE TABLE sightings (
            memory text not null,
            turn text not null,
            primary key (memory, turn)
        ) without rowid;
insert into sightings (memory, turn) values ('abcdefghij', 't1');
CREATE TABLE receipts (
            spool_name text primary key,
            session text not null,
            project text not null,
            moment text not null,
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
CREATE TABLE model_calls (
            id integer primary key autoincrement,
            turn text not null,
            session text not null,
            made_by text not null,
            purpose text not null check (purpose in ('turn', 'summary')),
            outcome text not null check (outcome in ('asking', 'told', 'unavailable', 'refused', 'lost')),
            tokens_in integer not null,
            tokens_out integer not null,
            cost_usd real not null,
            ms real not null default 0,
            at text not null
        , estimated_in integer not null default 0);
CREATE INDEX model_calls_by_time on model_calls (at);
CREATE INDEX model_calls_by_session on model_calls (session);
CREATE VIRTUAL TABLE memories_fts using fts5 (
            title, summary, facts, files, detail, marks, tokenize = 'porter unicode61 remove_diacritics 2'
        );
insert into memories_fts (title, summary, facts, files, detail, marks) values ('fix the login', 'the clock was not frozen', '', '', '', 'sc94d82203fb55ce93b286 ki4a39557d03653c76f982 bre3b0c44298fc1c149afb at2026 at2026x1 at2026x1x2');
CREATE TABLE passages (
            seq integer primary key,
            id text not null unique,
            kind text not null check (kind in ('turn', 'session')),
            source text not null,
            session text not null,
            project text not null,
            created_at text not null,
            unique (kind, source)
        );
insert into passages (seq, id, kind, source, session, project, created_at) values (1, '2l3qtjhgla', 'session', 's1', 's1', 'example.org/me/shop', '2026-01-02T00:00:00.000000+00:00');
CREATE INDEX passages_by_session on passages (session);
CREATE INDEX passages_by_project on passages (project, kind, created_at);
CREATE INDEX memories_by_time on memories (created_at);
CREATE VIRTUAL TABLE passages_fts using fts5 (
            asked, answered, marks, tokenize = 'porter unicode61 remove_diacritics 2'
        );
insert into passages_fts (asked, answered, marks) values ('fix the login', 'fix the logout', 'sc94d82203fb55ce93b286 at2026 at2026x1 at2026x1x2');
CREATE TABLE vectors (document integer primary key, vector blob not null);
CREATE TABLE sketches (
            change integer primary key autoincrement,
            document integer not null unique,
            sketch blob not null
        );
CREATE TABLE unindexed (document integer primary key, words integer not null);
insert into unindexed (document, words) values (2, 0);
insert into unindexed (document, words) values (3, 0);
CREATE TABLE derived_by (part text primary key, version text not null);
CREATE TABLE symbol_changes (
            seq integer primary key,
            turn text not null,
            session text not null,
            project text not null,
            branch text not null,
            at text not null,
            file text not null,
            name text not null,
            kind text not null,
            action text not null check (action in ('new', 'modified', 'deleted')),
            signature text not null,
            was text not null,
            before text not null,
            after text not null,
            unique (turn, file, name)
        );
CREATE INDEX symbol_changes_by_session on symbol_changes (session);
CREATE TABLE branches (
            project text not null,
            name text not null,
            tip text not null,
            ahead integer not null,
            seen_at text not null,
            merged_at text,
            gone_at text,
            primary key (project, name)
        ) without rowid;
CREATE INDEX memories_by_successor on memories (superseded_by) where superseded_by is not null;
CREATE TABLE conflicts (
            memory text not null,
            other text not null,
            noted_at text not null,
            primary key (memory, other)
        ) without rowid;
CREATE INDEX receipts_by_moment on receipts (project, moment, created_at);
CREATE TABLE progress (
            id integer primary key check (id = 1),
            done integer not null,
            replay_after integer
        );
insert into progress (id, done, replay_after) values (1, 0, NULL);
CREATE TABLE renames (
            memory text not null,
            file text not null,
            was text not null,
            name text not null,
            primary key (memory, file, was, name)
        ) without rowid;
CREATE INDEX symbol_changes_by_file on symbol_changes (project, file);
CREATE INDEX memories_by_scope on memories (
            scope, status, pinned desc, origin = 'user' desc, confidence desc, last_seen_at desc, seq,
            kind, origin, stored_at, branch, created_at
        );
CREATE INDEX memories_by_branch on memories (project, branch, created_at);
CREATE INDEX sightings_by_turn on sightings (turn);
CREATE TABLE project_change_rows (
            change text not null,
            place text not null,
            key text not null,
            project text not null,
            primary key (change, place, key)
        ) without rowid;
CREATE TABLE pauses (
            name text primary key,
            glob text not null,
            first_ns integer not null,
            last_ns integer not null,
            is_over integer not null
        ) without rowid;
CREATE TABLE receipt_items (
            receipt text not null,
            position integer not null,
            source text not null,
            layer text not null,
            reason text not null,
            tokens integer not null,
            score real,
            outcome text check (outcome in ('used', 'ignored', 'unknown')),
            primary key (receipt, position)
        ) without rowid;
CREATE INDEX receipt_items_by_source on receipt_items (source, outcome);
CREATE TABLE project_marks (
            kind text not null check (kind in ('remote', 'root_commit', 'path', 'former_path', 'git_folder')),
            value text not null,
            project text not null,
            last_seen_at text not null,
            primary key (kind, value, project)
        ) without rowid;
CREATE INDEX project_marks_by_project on project_marks (project, kind);
CREATE TABLE project_changes (
            seq integer primary key,
            id text not null unique,
            kind text not null check (kind in ('merge', 'rename', 'move', 'join', 'split')),
            source text not null,
            target text not null,
            detail text not null,
            at text not null,
            undone_at text
        );
CREATE INDEX prompts_by_composer on prompts (composer, created_at);
CREATE TABLE rebuilt_summaries (
            session text primary key,
            turn text not null,
            summary text not null
        );
CREATE TABLE retirements (
            memory text primary key,
            cause text not null check (cause in ('code', 'branch', 'taken up', 'contradicted', 'user', 'rebuilt')),
            branch text not null,
            reason text not null,
            at text not null
        );
