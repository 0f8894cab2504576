//! [`Library::draw_page`]: a page of a document as it looks, with a passage marked.

use super::{Error, Library};
use crate::extract::{ExtractError, PagePicture, PageRequest};
use crate::progress::CancelToken;
use crate::store::{DocumentId, StoreError};

impl Library {
    /// Draws a page of a document's file in the extract worker, with the words of the request boxed; `None` for
    /// formats that have no pages to draw.
    ///
    /// # Errors
    /// There is no such document, its file is gone, damaged or has no such page, or `cancel` was set.
    pub fn draw_page(
        &self,
        document: DocumentId,
        request: &PageRequest,
        cancel: &CancelToken,
    ) -> Result<Option<PagePicture>, Error> {
        let records = self.documents()?;
        let record = records.into_iter().find(|record| record.id == document);
        let record = record.ok_or(StoreError::NoDocument(document))?;
        match self.extractor.draw_page(&record.path, request, cancel) {
            Ok(picture) => Ok(Some(picture)),
            Err(ExtractError::Unsupported { .. }) => Ok(None),
            Err(err) => Err(Error::new("The page cannot be drawn", err.to_string())
                .with_hint("the text of the passage is in the library; add the file again if it has moved")),
        }
    }
}
