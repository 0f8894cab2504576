//! [`Library::draw_page`]: a page of a document as it looks, with a passage marked.

use super::{Error, Library};
use crate::extract::{ExtractError, PagePicture, PageRequest};
use crate::progress::CancelToken;
use crate::store::{DocumentId, StoreError};

/// Title of the error of a page whose document was opened with a password that this process was not told.
pub const NEEDS_PASSWORD: &str = "The page needs the password";

impl Library {
    /// Draws a page of a document's file in the extract worker, with the words of the request boxed; `None` for
    /// formats that have no pages to draw.
    ///
    /// # Errors
    /// There is no such document, its file is gone, damaged, has no such page or a password that this process was not
    /// told, or `cancel` was set.
    pub fn draw_page(
        &self,
        document: DocumentId,
        request: &PageRequest,
        cancel: &CancelToken,
    ) -> Result<Option<PagePicture>, Error> {
        let records = self.documents()?;
        let record = records.into_iter().find(|record| record.id == document);
        let record = record.ok_or(StoreError::NoDocument(document))?;
        let picture = match self.passwords.of(&record.path) {
            Some(password) => self.extractor.draw_locked_page(&record.path, request, &password, cancel),
            None => self.extractor.draw_page(&record.path, request, cancel),
        };
        match picture {
            Ok(picture) => Ok(Some(picture)),
            Err(ExtractError::Unsupported { .. }) => Ok(None),
            Err(err @ (ExtractError::PasswordNeeded { .. } | ExtractError::PasswordWrong { .. })) => {
                let hint =
                    "its password was not kept: add the file again with it to see its pages until Outcrop is closed";
                Err(Error::new(NEEDS_PASSWORD, err.to_string()).with_hint(hint))
            }
            Err(err) => Err(Error::new("The page cannot be drawn", err.to_string())
                .with_hint("the text of the passage is in the library; add the file again if it has moved")),
        }
    }
}
