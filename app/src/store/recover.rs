//! What a kill may have left is put right when a library is opened.

use std::collections::BTreeSet;

use super::{Catalog, Store, StoreError, documents};

const INTERRUPTED: &str = "Outcrop ended before this file was read; add it again";

impl Store {
    /// Forgets rows without a searchable chunk, settles what waited in the queue, and refuses vector files that lack
    /// rows of searchable chunks.
    pub(super) fn recover(&self) -> Result<(), StoreError> {
        // A reader leaves this to the writer, which may be at work.
        if self.is_read_only() {
            return Ok(());
        }
        self.database.write_quietly(|transaction| documents::cancel_queued(transaction, INTERRUPTED))?;
        let (_view, catalog) = self.snapshot()?;
        let mut fingerprints: BTreeSet<String> = self.vectors.fingerprints().into_iter().collect();
        fingerprints.extend(catalog.models().map(str::to_owned));
        for fingerprint in fingerprints {
            match self.reconcile(&fingerprint, &catalog) {
                // Kept by the slot: every use of these vectors gives the error, the rest of the library works.
                Err(err @ StoreError::Damaged { .. }) => tracing::error!("{err}"),
                other => other?,
            }
        }
        Ok(())
    }

    fn reconcile(&self, fingerprint: &str, catalog: &Catalog) -> Result<(), StoreError> {
        let expected = catalog.ids_of_model(fingerprint);
        let found = match self.vectors.get(fingerprint)? {
            Some(index) => index.ids()?,
            None => Vec::new(),
        };
        let (missing, stale) = differences(&expected, &found);
        if !missing.is_empty() {
            let detail = format!(
                "{} of the {} passages in the database have no row in the vector file",
                missing.len(),
                expected.len()
            );
            self.vectors.refuse(fingerprint, detail);
            return Ok(());
        }
        if let (false, Some(index)) = (stale.is_empty(), self.vectors.get(fingerprint)?) {
            tracing::info!("forgetting {} rows of an interrupted ingest", stale.len());
            index.delete(&stale)?;
            index.compact()?;
        }
        Ok(())
    }
}

/// Ids of `expected` that are not in `found`, and of `found` that are not in `expected`; all increasing.
pub(super) fn differences(expected: &[u64], found: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let not_in = |ids: &[u64], others: &[u64]| -> Vec<u64> {
        ids.iter().filter(|id| others.binary_search(id).is_err()).copied().collect()
    };
    (not_in(expected, found), not_in(found, expected))
}
