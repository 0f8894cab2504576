//! The searchable set of one generation, kept in memory between searches.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{Connection, Result};

/// Every searchable chunk. Columns of equal length, sorted by id.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    generation: i64,
    ids: Arc<Vec<u64>>,
    documents: Vec<u64>,
    terms: Vec<u32>,
    total_terms: u64,
    ids_by_model: BTreeMap<String, Arc<Vec<u64>>>,
}

impl Catalog {
    /// The generation that `connection` sees.
    pub(crate) fn generation(connection: &Connection) -> Result<i64> {
        connection.prepare_cached("SELECT value FROM meta WHERE name = 'generation'")?.query_row([], |row| row.get(0))
    }

    pub(crate) fn load(connection: &Connection) -> Result<Self> {
        let mut catalog = Self { generation: Self::generation(connection)?, ..Self::default() };
        let mut select =
            connection.prepare_cached("SELECT id, document, terms, fingerprint FROM searchable ORDER BY id")?;
        let mut rows = select.query([])?;
        let (mut ids, mut by_model) = (Vec::new(), BTreeMap::<String, Vec<u64>>::new());
        while let Some(row) = rows.next()? {
            let id = row.get::<_, i64>(0)? as u64;
            ids.push(id);
            catalog.documents.push(row.get::<_, i64>(1)? as u64);
            let terms = row.get::<_, i64>(2)? as u32;
            catalog.terms.push(terms);
            catalog.total_terms += u64::from(terms);
            let model = row.get_ref(3)?.as_str()?;
            match by_model.get_mut(model) {
                Some(of_model) => of_model.push(id),
                None => drop(by_model.insert(model.to_owned(), vec![id])),
            }
        }
        catalog.ids = Arc::new(ids);
        catalog.ids_by_model = by_model.into_iter().map(|(model, ids)| (model, Arc::new(ids))).collect();
        Ok(catalog)
    }

    pub(crate) fn is_of(&self, generation: i64) -> bool {
        self.generation == generation
    }

    /// Number of searchable chunks.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Ids, increasing.
    pub(crate) fn ids(&self) -> &Arc<Vec<u64>> {
        &self.ids
    }

    /// Ids of the chunks with a vector of this model, increasing.
    pub(crate) fn ids_of_model(&self, fingerprint: &str) -> Arc<Vec<u64>> {
        self.ids_by_model.get(fingerprint).cloned().unwrap_or_default()
    }

    /// Models that searchable chunks have vectors of.
    pub(crate) fn models(&self) -> impl Iterator<Item = &str> {
        self.ids_by_model.keys().map(String::as_str)
    }

    /// The document of a chunk, and the chunk's length in tokens of the keyword index.
    pub(crate) fn chunk(&self, id: u64) -> Option<(u64, u32)> {
        let at = self.ids.binary_search(&id).ok()?;
        Some((self.documents[at], self.terms[at]))
    }

    /// Mean length of a chunk in tokens of the keyword index.
    pub(crate) fn mean_terms(&self) -> f64 {
        self.total_terms as f64 / self.len().max(1) as f64
    }
}
