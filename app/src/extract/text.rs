//! Plain text and source code: decoded, otherwise as it stands.

use super::decode::decode_as;
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, ReadOptions, TextBuilder};

/// Reads `bytes` as text of `kind`.
pub(super) fn read(
    bytes: &[u8],
    kind: DocumentKind,
    options: &ReadOptions,
    limits: &ExtractLimits,
) -> Result<Extraction, ExtractError> {
    let mut built = TextBuilder::new(limits);
    push_decoded(&mut built, bytes, options)?;
    built.finish(kind)
}

/// Adds all of `bytes` in the encoding asked for or whatever they are in, with a note if that was a guess.
pub(super) fn push_decoded(built: &mut TextBuilder, bytes: &[u8], options: &ReadOptions) -> Result<(), ExtractError> {
    let decoded = decode_as(bytes, options)?;
    if let Some(note) = decoded.note {
        built.note(note);
    }
    built.push(&decoded.text)
}
