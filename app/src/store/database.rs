//! Connections to `library.db`: one that writes, and readers with a snapshot each, so that searches run while
//! an ingest writes.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::{StoreError, schema};

/// Readers kept open between uses.
const IDLE_READERS: usize = 4;
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The database of one library.
#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    writer: Option<Mutex<Connection>>,
    idle_readers: Mutex<Vec<Connection>>,
}

impl Database {
    /// Opens the database for writing, making or migrating it where needed.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let mut connection = connect(path, OpenFlags::default())?;
        let settle = |connection: &Connection| -> rusqlite::Result<()> {
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "full")?;
            connection.pragma_update(None, "foreign_keys", true)
        };
        settle(&connection).map_err(|err| StoreError::sqlite(path, &err))?;
        schema::migrate(&mut connection, path, schema::STEPS)?;
        Ok(Self { path: path.to_owned(), writer: Some(Mutex::new(connection)), idle_readers: Mutex::default() })
    }

    /// Opens a database that another process writes.
    pub(crate) fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let reader = connect_reader(path)?;
        schema::expect_newest(&reader, path)?;
        Ok(Self { path: path.to_owned(), writer: None, idle_readers: Mutex::new(vec![reader]) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` on a snapshot of the database.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let view = self.view()?;
        work(&view).map_err(|err| self.error(&err))
    }

    /// A snapshot of the database that stays as it is until dropped.
    pub(crate) fn view(&self) -> Result<ReadView<'_>, StoreError> {
        let idle = hold(&self.idle_readers).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect_reader(&self.path)?,
        };
        // The first read fixes the snapshot; BEGIN alone does not.
        connection
            .execute_batch("BEGIN DEFERRED; SELECT value FROM meta WHERE name = 'generation'")
            .map_err(|err| self.error(&err))?;
        Ok(ReadView { database: self, connection: Some(connection) })
    }

    /// Runs `work` in one transaction and counts a new generation of the searchable set.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        self.write_quietly(|transaction| {
            let result = work(transaction)?;
            transaction.execute("UPDATE meta SET value = value + 1 WHERE name = 'generation'", [])?;
            Ok(result)
        })
    }

    /// Runs `work`, which changes nothing that a search sees, in one transaction.
    pub(crate) fn write_quietly<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| self.read_only())?;
        let mut connection = hold(writer);
        let run = || -> rusqlite::Result<T> {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        run().map_err(|err| self.error(&err))
    }

    /// Writes a copy of the database as it is now into a new file.
    pub(crate) fn copy_into(&self, to: &Path) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| self.read_only())?;
        hold(writer).execute("VACUUM INTO ?1", [to.to_string_lossy()]).map_err(|err| self.error(&err))?;
        Ok(())
    }

    fn read_only(&self) -> StoreError {
        StoreError::ReadOnly { path: self.path.clone() }
    }

    pub(crate) fn error(&self, err: &rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, err)
    }
}

/// A reader in a transaction; it goes back to the pool when dropped.
#[derive(Debug)]
pub(crate) struct ReadView<'a> {
    database: &'a Database,
    connection: Option<Connection>,
}

impl Deref for ReadView<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        // Only `drop` takes the connection.
        self.connection.as_ref().unwrap_or_else(|| unreachable!())
    }
}

impl Drop for ReadView<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        let mut idle = hold(&self.database.idle_readers);
        if idle.len() < IDLE_READERS && connection.execute_batch("COMMIT").is_ok() {
            idle.push(connection);
        }
    }
}

/// Takes a lock whose holder cannot leave the value half-changed.
pub(crate) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    };
    open().map_err(|err| StoreError::sqlite(path, &err))
}

/// Readers may have to create the shared-memory file of the log, so they open for writing but are held to reading.
fn connect_reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = connect(path, flags)
        .or_else(|_| connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX))?;
    connection.pragma_update(None, "query_only", true).map_err(|err| StoreError::sqlite(path, &err))?;
    Ok(connection)
}
