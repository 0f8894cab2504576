//! Plain text and source code: decoded, otherwise as it stands.

use super::decode::decode;
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, TextBuilder};

/// Reads `bytes` as text of `kind`.
pub(super) fn read(bytes: &[u8], kind: DocumentKind, limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let mut built = TextBuilder::new(limits);
    push_decoded(&mut built, bytes)?;
    built.finish(kind)
}

/// Adds all of `bytes` in whatever encoding they are, with a note if that was a guess.
pub(super) fn push_decoded(built: &mut TextBuilder, bytes: &[u8]) -> Result<(), ExtractError> {
    let decoded = decode(bytes)?;
    if let Some(note) = decoded.note {
        built.note(note);
    }
    built.push(&decoded.text)
}
