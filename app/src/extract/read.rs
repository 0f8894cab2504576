//! Routes a file to the reader of its format.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::detect::{Format, HEAD_BYTES, detect};
use super::{
    DocumentKind, ExtractError, ExtractLimits, ExtractStep, Extraction, ReadOptions, csv, docx, epub, html, images,
    json, mail, markdown, opendocument, pdf, pptx, rtf, spreadsheet, text,
};

/// Reads one file in this process. Called by the extract worker only.
///
/// # Errors
/// See [`ExtractError`].
pub fn extract_file(path: &Path, limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    extract_with_steps(path, &ReadOptions::default(), limits, &mut |_| {})
}

/// As [`extract_file`], reading as `options` say and telling `on_step` when a page begins.
///
/// # Errors
/// See [`ExtractError`].
pub fn extract_with_steps(
    path: &Path,
    options: &ReadOptions,
    limits: &ExtractLimits,
    on_step: &mut dyn FnMut(ExtractStep),
) -> Result<Extraction, ExtractError> {
    read_any(path, options, limits, on_step).map_err(|err| err.at(path))
}

fn read_any(
    path: &Path,
    options: &ReadOptions,
    limits: &ExtractLimits,
    on_step: &mut dyn FnMut(ExtractStep),
) -> Result<Extraction, ExtractError> {
    let metadata = fs::metadata(path).map_err(|err| ExtractError::io(&err))?;
    if !metadata.is_file() {
        let err = io::Error::other("this is no regular file");
        return Err(ExtractError::io(&err));
    }
    if metadata.len() == 0 {
        return Err(ExtractError::empty());
    }
    let head = read_head(path, HEAD_BYTES).map_err(|err| ExtractError::io(&err))?;
    let bytes = || read_all(path, limits);
    match detect(path, &head)? {
        Format::Text => text::read(&bytes()?, DocumentKind::Text, options, limits),
        Format::Code => text::read(&bytes()?, DocumentKind::Code, options, limits),
        Format::Markdown => markdown::read(&bytes()?, options, limits),
        Format::Html => html::read(&bytes()?, options, limits),
        Format::Csv => csv::read(&bytes()?, path, options, limits),
        Format::Json => json::read(&bytes()?, options, limits),
        Format::Mail => mail::read(&bytes()?, limits),
        Format::Rtf => rtf::read(&bytes()?, limits),
        Format::Docx => docx::read(path, limits),
        Format::Pptx => pptx::read(path, limits, on_step),
        Format::Odt => opendocument::read(path, DocumentKind::Odt, limits),
        Format::Odp => opendocument::read(path, DocumentKind::Slides, limits),
        Format::Workbook(workbook) => spreadsheet::read(path, workbook, limits),
        Format::Epub => epub::read(path, limits, on_step),
        Format::Pdf => pdf::read(path, options.password.as_ref(), limits, on_step),
        Format::Image => images::read(path, limits, on_step),
    }
}

/// The first bytes of a file, at most `limit_bytes`.
pub(super) fn read_head(path: &Path, limit_bytes: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(limit_bytes as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// All bytes of a file whose text cannot be smaller than a part of it; bounded by the text budget.
fn read_all(path: &Path, limits: &ExtractLimits) -> Result<Vec<u8>, ExtractError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limits.text_bytes + 1).read_to_end(&mut bytes))
        .map_err(|err| ExtractError::io(&err))?;
    if bytes.len() as u64 > limits.text_bytes {
        return Err(ExtractError::over_budget(format!(
            "the file is larger than the {} MiB of text that one document may have",
            limits.text_bytes >> 20
        )));
    }
    Ok(bytes)
}
