//! Checking a library: every checksum, and every reference between database, keyword index and vector files, both
//! ways.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::recover::differences;
use super::{Catalog, ChunkId, DocumentId, DocumentStatus, Store, StoreError};
use super::{cache, chunks, documents, keywords, texts};

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The file it is in.
    #[serde(serialize_with = "super::path_as_text")]
    pub file: PathBuf,
    /// The document it is about, where it is about one.
    pub document: Option<DocumentId>,
    /// What was found, in a sentence.
    pub detail: String,
    /// Whether it was repaired.
    pub repaired: bool,
}

/// What a check of a library found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyReport {
    /// Documents looked at.
    pub documents: usize,
    /// Searchable chunks looked at.
    pub chunks: usize,
    /// Vector rows looked at.
    pub vectors: usize,
    /// What is wrong; empty for a healthy library.
    pub problems: Vec<Problem>,
}

impl VerifyReport {
    /// Whether nothing is wrong, or nothing any more.
    pub fn is_healthy(&self) -> bool {
        self.problems.iter().all(|problem| problem.repaired)
    }
}

/// A check's findings, with what a repair has to do.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) report: VerifyReport,
    /// Documents whose text is right but whose index entries or vectors are not.
    pub(crate) to_index: BTreeSet<DocumentId>,
    /// Documents whose stored text or chunks are damaged.
    pub(crate) lost: BTreeSet<DocumentId>,
    /// Vector files to be made anew.
    pub(crate) broken_vectors: BTreeSet<String>,
    /// Vector rows to be forgotten, by model.
    pub(crate) stale_rows: Vec<(String, Vec<u64>)>,
    /// Whether the keyword index must be made anew.
    pub(crate) is_index_broken: bool,
    /// Cache entries to be dropped.
    pub(crate) damaged_cache: Vec<Vec<u8>>,
}

impl Findings {
    fn add(&mut self, file: PathBuf, document: Option<DocumentId>, detail: String) {
        self.report.problems.push(Problem { file, document, detail, repaired: false });
    }
}

impl Store {
    /// Checks everything and changes nothing.
    pub(crate) fn check(&self) -> Result<Findings, StoreError> {
        let mut findings = Findings::default();
        let (view, catalog) = self.snapshot()?;
        self.read_in(&view, |connection| {
            self.check_database(connection, &mut findings)?;
            self.check_documents(connection, &mut findings)?;
            self.check_keywords(connection, &catalog, &mut findings)
        })?;
        self.check_vectors(&catalog, &mut findings)?;
        findings.report.chunks = catalog.len();
        Ok(findings)
    }

    fn check_database(&self, connection: &Connection, findings: &mut Findings) -> rusqlite::Result<()> {
        let mut select = connection.prepare("PRAGMA integrity_check")?;
        for line in select.query_map([], |row| row.get::<_, String>(0))? {
            let line = line?;
            if line != "ok" {
                findings.add(self.paths.database(), None, line);
            }
        }
        let orphans: i64 =
            connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))?;
        if orphans > 0 {
            let detail = format!("{orphans} rows belong to no document");
            findings.add(self.paths.database(), None, detail);
        }
        findings.damaged_cache = cache::damaged(connection)?;
        if !findings.damaged_cache.is_empty() {
            let detail = format!("{} cached vectors lack their checksum", findings.damaged_cache.len());
            findings.add(self.paths.database(), None, detail);
        }
        Ok(())
    }

    fn check_documents(&self, connection: &Connection, findings: &mut Findings) -> rusqlite::Result<()> {
        for document in documents::list(connection)? {
            findings.report.documents += 1;
            if document.status != DocumentStatus::Ready {
                continue;
            }
            if let Err(detail) = check_ready(connection, document.id)? {
                findings.lost.insert(document.id);
                findings.add(self.paths.database(), Some(document.id), detail);
            }
        }
        Ok(())
    }

    fn check_keywords(
        &self,
        connection: &Connection,
        catalog: &Catalog,
        findings: &mut Findings,
    ) -> rusqlite::Result<()> {
        let (missing, stale) = differences(catalog.ids(), &keywords::ids(connection)?);
        if !missing.is_empty() || !stale.is_empty() {
            findings.is_index_broken = true;
            let detail = format!(
                "the keyword index lacks {} passages and holds {} that are not there",
                missing.len(),
                stale.len()
            );
            findings.add(self.paths.database(), None, detail);
        }
        Ok(())
    }

    fn check_vectors(&self, catalog: &Catalog, findings: &mut Findings) -> Result<(), StoreError> {
        let mut models: BTreeSet<String> = self.vectors.fingerprints().into_iter().collect();
        models.extend(catalog.models().map(str::to_owned));
        for model in models {
            if let Err(detail) = self.check_model(&model, catalog, findings)? {
                findings.add(self.paths.vectors(&model), None, detail);
                let affected = catalog.ids_of_model(&model);
                findings.to_index.extend(documents_of(catalog, &affected));
                findings.broken_vectors.insert(model);
            }
        }
        Ok(())
    }

    /// `Ok(Err(…))` says why the file must be made anew.
    fn check_model(
        &self,
        model: &str,
        catalog: &Catalog,
        findings: &mut Findings,
    ) -> Result<Result<(), String>, StoreError> {
        let index = match self.vectors.get(model) {
            Ok(index) => index,
            Err(StoreError::Damaged { detail, .. }) => return Ok(Err(detail)),
            Err(err) => return Err(err),
        };
        let found = match &index {
            Some(index) => {
                let damage = index.verify()?;
                if !damage.is_empty() {
                    return Ok(Err(damage.join("; ")));
                }
                index.ids()?
            }
            None => Vec::new(),
        };
        findings.report.vectors += found.len();
        let (missing, stale) = differences(&catalog.ids_of_model(model), &found);
        if !stale.is_empty() {
            let detail = format!("{} rows belong to no passage", stale.len());
            findings.add(self.paths.vectors(model), None, detail);
            findings.stale_rows.push((model.to_owned(), stale));
        }
        if !missing.is_empty() {
            let detail = format!("{} passages have no row", missing.len());
            findings.add(self.paths.vectors(model), None, detail);
            findings.to_index.extend(documents_of(catalog, &missing));
        }
        Ok(Ok(()))
    }
}

fn documents_of(catalog: &Catalog, ids: &[u64]) -> BTreeSet<DocumentId> {
    ids.iter().filter_map(|&id| Some(DocumentId(catalog.chunk(id)?.0))).collect()
}

/// Whether a ready document has its text, and chunks that are ranges of it.
fn check_ready(connection: &Connection, id: DocumentId) -> rusqlite::Result<Result<(), String>> {
    let extraction = match texts::get(connection, id)? {
        None => return Ok(Err("the document is ready but has no text".to_owned())),
        Some(Err(detail)) => return Ok(Err(detail)),
        Some(Ok(extraction)) => extraction,
    };
    let chunks = chunks::of_document(connection, id)?;
    if chunks.is_empty() {
        return Ok(Err("the document is ready but has no chunks".to_owned()));
    }
    let wrong = chunks.iter().enumerate().find(|(index, chunk)| {
        chunk.index != *index || extraction.text.get(chunk.start..chunk.end).is_none_or(|text| text.trim().is_empty())
    });
    Ok(match wrong {
        None => Ok(()),
        Some((index, chunk)) => Err(format!(
            "chunk {index} is no range of the text: bytes {} to {} of {}",
            chunk.start,
            chunk.end,
            extraction.text.len()
        )),
    })
}

impl Store {
    /// Drops what a check found damaged and can be made anew: cache entries, vector files, rows without a passage.
    pub(crate) fn forget_damaged(&self, findings: &Findings) -> Result<(), StoreError> {
        self.database.write(|transaction| cache::remove(transaction, &findings.damaged_cache))?;
        for model in &findings.broken_vectors {
            self.vectors.close(model);
            self.set_aside(model)?;
        }
        for (model, ids) in &findings.stale_rows {
            if let Some(index) = self.vectors.get(model)? {
                index.delete(ids)?;
            }
        }
        Ok(())
    }

    /// Fills the keyword index anew from `passages`, in one transaction: a kill leaves the old index or the new one.
    pub(crate) fn refill_keywords(
        &self,
        passages: impl Iterator<Item = Result<(ChunkId, String), StoreError>>,
    ) -> Result<(), StoreError> {
        let mut failure = None;
        self.database
            .write(|transaction| {
                keywords::clear(transaction)?;
                for passage in passages {
                    match passage {
                        Ok((id, passage)) => keywords::put(transaction, id, &passage).map(|_| ())?,
                        Err(err) => {
                            failure = Some(err);
                            // Nothing was found wrong with the database: this only undoes the transaction.
                            return Err(rusqlite::Error::QueryReturnedNoRows);
                        }
                    }
                }
                Ok(())
            })
            .map_err(|err| failure.unwrap_or(err))
    }

    /// Keeps a damaged vector file beside the new one, out of the way of that and of those set aside before.
    fn set_aside(&self, model: &str) -> Result<(), StoreError> {
        let path = self.paths.vectors(model);
        let names = (1..).map(|number| path.with_extension(format!("vec.damaged-{number}")));
        let aside = names.into_iter().find(|name| !name.exists()).unwrap_or_else(|| path.with_extension("vec.damaged"));
        match std::fs::rename(&path, &aside) {
            Err(err) if err.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io(&path, &err)),
            _ => Ok(()),
        }
    }
}
