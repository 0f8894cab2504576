//! The database's schema and its versions.
//!
//! `user_version` counts the migration steps applied. A database with a lower count is brought forward in one
//! transaction after a backup beside it; one with a higher count is refused.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

/// Marks the file as ours: `OTCR`.
const APPLICATION_ID: i64 = 0x4F54_4352;

/// Step `i` takes version `i` to `i + 1`. Released steps never change.
pub(crate) const STEPS: &[&str] = &[V1, V2, V3];

/// Brings the database at `path` to the newest version.
pub(crate) fn migrate(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), StoreError> {
    let found = check(connection, path, steps)?;
    if found == steps.len() {
        return Ok(());
    }
    if found > 0 {
        back_up(connection, path, found)?;
    }
    apply(connection, found, steps).map_err(|err| StoreError::sqlite(path, &err))
}

/// Checks that a database which this process may not change has the newest version.
pub(crate) fn expect_newest(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = check(connection, path, STEPS)?;
    if found < STEPS.len() {
        return Err(StoreError::Older { found: found as i64, supported: STEPS.len() as i64, path: path.to_owned() });
    }
    Ok(())
}

fn check(connection: &Connection, path: &Path, steps: &[&str]) -> Result<usize, StoreError> {
    let pragma = |name: &str| -> Result<i64, StoreError> {
        connection
            .query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
            .map_err(|err| StoreError::sqlite(path, &err))
    };
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|err| StoreError::sqlite(path, &err))?;
    let (application_id, version) = (pragma("application_id")?, pragma("user_version")?);
    if tables > 0 && application_id != APPLICATION_ID {
        return Err(StoreError::damaged(
            path,
            format!(
                "this database is not an Outcrop library (application id {application_id:#x}, expected {APPLICATION_ID:#x})"
            ),
        ));
    }
    match usize::try_from(version) {
        Ok(found) if found <= steps.len() => Ok(found),
        _ => Err(StoreError::Newer { found: version, supported: steps.len() as i64, path: path.to_owned() }),
    }
}

fn back_up(connection: &Connection, path: &Path, version: usize) -> Result<(), StoreError> {
    let backup = backup_path(path, version);
    if backup.exists() {
        std::fs::remove_file(&backup).map_err(|err| StoreError::io(&backup, &err))?;
    }
    connection
        .execute("VACUUM INTO ?1", [backup.to_string_lossy()])
        .map_err(|err| StoreError::sqlite(&backup, &err))?;
    Ok(())
}

/// Where the database of an older version is kept.
pub(crate) fn backup_path(path: &Path, version: usize) -> PathBuf {
    path.with_extension(format!("v{version}.db"))
}

fn apply(connection: &mut Connection, found: usize, steps: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for step in &steps[found..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", steps.len() as i64)?;
    transaction.commit()
}

/// `documents` to `chunks` are the authority; `keywords` is derived from the chunks of the view `searchable`,
/// and so is what the vector files hold.
const V1: &str = r#"
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', 0), ('next_chunk', 1);

CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path NOT NULL UNIQUE,                -- TEXT, or BLOB where the path is not UTF-8
    title TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    kind TEXT,
    pages INTEGER,
    pages_without_text TEXT NOT NULL DEFAULT '[]',
    bytes INTEGER NOT NULL DEFAULT 0,
    hash BLOB                            -- BLAKE3 of the file's bytes
);
CREATE INDEX documents_by_hash ON documents (hash);

CREATE TABLE extractions (
    document INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    detail TEXT NOT NULL,                -- JSON: kind, title, spans, coverage
    hash BLOB NOT NULL                   -- BLAKE3 of the detail and the text
);
CREATE TABLE texts (                     -- the extracted text in parts, so that a range is read without the rest
    document INTEGER NOT NULL REFERENCES extractions (document) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (document, start)
);

CREATE TABLE chunkings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    config TEXT NOT NULL,                -- JSON of the chunker's configuration
    context INTEGER NOT NULL,            -- whether title and headings were indexed with each chunk
    fingerprint TEXT NOT NULL,
    embedder TEXT NOT NULL,
    active INTEGER NOT NULL
);
CREATE UNIQUE INDEX chunkings_one_active ON chunkings (document) WHERE active;
CREATE INDEX chunkings_by_document ON chunkings (document);

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    chunking INTEGER NOT NULL REFERENCES chunkings (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    terms INTEGER NOT NULL,              -- length in the keyword index
    left_similarity REAL,
    right_similarity REAL,
    place TEXT NOT NULL,                 -- JSON
    UNIQUE (chunking, position)
);

CREATE VIEW searchable AS
    SELECT chunks.id, chunks.terms, chunkings.document, chunkings.fingerprint
    FROM chunks
    JOIN chunkings ON chunkings.id = chunks.chunking AND chunkings.active
    JOIN documents ON documents.id = chunkings.document AND documents.status = 'ready';

CREATE VIRTUAL TABLE keywords USING fts5 (
    terms, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '-_.:/@+#'"
);
CREATE VIRTUAL TABLE keyword_postings USING fts5vocab ('keywords', 'instance');

CREATE TABLE embeddings (
    key BLOB PRIMARY KEY,                -- BLAKE3 of fingerprint, role and text
    vector BLOB NOT NULL,                -- f32, little-endian
    checksum BLOB NOT NULL               -- BLAKE3 of the vector
);

CREATE TABLE chats (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    created_secs INTEGER NOT NULL
);
CREATE TABLE chat_turns (
    chat INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    question TEXT NOT NULL,
    answer TEXT NOT NULL,                -- JSON, as the answering side made it
    UNIQUE (chat, position)
);
"#;

/// What stays with a document whatever becomes of its file, and the pictures that are no documents.
const V2: &str = r"
ALTER TABLE documents ADD COLUMN read TEXT NOT NULL DEFAULT '{}';      -- JSON: how its file is read
ALTER TABLE documents ADD COLUMN chunker TEXT;                         -- JSON: what it is cut with, also while it is not
ALTER TABLE documents ADD COLUMN cut_mark BLOB;                        -- hash of the text that it was last cut in, once that is gone
ALTER TABLE documents ADD COLUMN timeouts INTEGER NOT NULL DEFAULT 0;  -- times in a row that reading took too long
UPDATE documents SET
    chunker = (SELECT config FROM chunkings WHERE chunkings.document = documents.id AND active)
    WHERE status = 'ready';

CREATE TABLE passed_over (               -- pictures in folders in which no text was found
    path NOT NULL PRIMARY KEY,           -- as in `documents`
    mark BLOB NOT NULL                   -- of the bytes and the readers
) WITHOUT ROWID;
";

/// What documents say of themselves.
const V3: &str = r"
ALTER TABLE documents ADD COLUMN metadata TEXT;                        -- JSON: values by property; NULL where it was read without
";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

    use super::*;

    #[test]
    fn an_older_database_is_backed_up_and_brought_forward() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.db");
        let mut connection = Connection::open(&path).unwrap();
        migrate(&mut connection, &path, &[V1]).unwrap();
        connection.execute("INSERT INTO documents (path, title, status) VALUES ('a', 'A', 'ready')", []).unwrap();

        let next = [V1, "ALTER TABLE documents ADD COLUMN colour TEXT"];
        migrate(&mut connection, &path, &next).unwrap();

        let kept: (String, Option<String>) = connection
            .query_row("SELECT title, colour FROM documents", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!(kept, ("A".to_owned(), None));
        let backup = Connection::open(backup_path(&path, 1)).unwrap();
        assert_eq!(check(&backup, &path, &[V1]).unwrap(), 1);
        backup.query_row("SELECT title FROM documents", [], |_| Ok(())).unwrap();
    }

    #[test]
    fn version_2_keeps_the_chunker_of_a_document_that_is_ready() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.db");
        let mut connection = Connection::open(&path).unwrap();
        migrate(&mut connection, &path, &[V1]).unwrap();
        let rows = "INSERT INTO documents (path, title, status, hash) VALUES ('a', 'A', 'ready', x'01'), ('b', 'B', 'failed', x'02');
            INSERT INTO chunkings (document, config, context, fingerprint, embedder, active) VALUES (1, 'old', 1, '', '', 0), (1, 'now', 1, '', '', 1)";
        connection.execute_batch(rows).unwrap();
        migrate(&mut connection, &path, &[V1, V2]).unwrap();
        let mut kept = connection.prepare("SELECT chunker, cut_mark, read FROM documents ORDER BY id").unwrap();
        let kept = kept.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        let kept: Vec<(Option<String>, Option<Vec<u8>>, String)> = kept.map(Result::unwrap).collect();
        let expected = [(Some("now".to_owned()), None, "{}".to_owned()), (None, None, "{}".to_owned())];
        assert_eq!(kept, expected);
    }

    #[test]
    fn a_failing_step_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.db");
        let mut connection = Connection::open(&path).unwrap();
        migrate(&mut connection, &path, &[V1]).unwrap();
        let broken = [V1, "CREATE TABLE extra (x); CREATE TABLE extra (x)"];
        assert!(migrate(&mut connection, &path, &broken).is_err());
        assert_eq!(check(&connection, &path, &[V1]).unwrap(), 1);
        assert!(connection.execute("SELECT x FROM extra", []).is_err());
    }

    #[test]
    fn newer_and_foreign_databases_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.db");
        let mut connection = Connection::open(&path).unwrap();
        migrate(&mut connection, &path, STEPS).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        let err = migrate(&mut connection, &path, STEPS).unwrap_err();
        assert!(matches!(err, StoreError::Newer { found: 99, .. }), "{err}");

        let other = folder.path().join("other.db");
        let mut connection = Connection::open(&other).unwrap();
        connection.execute("CREATE TABLE recipes (name)", []).unwrap();
        let err = migrate(&mut connection, &other, STEPS).unwrap_err();
        assert!(matches!(err, StoreError::Damaged { .. }), "{err}");
    }
}
