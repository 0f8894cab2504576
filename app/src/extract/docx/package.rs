//! The ZIP archive of a Word document, read under one budget for everything that is inflated.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::Event;
use zip::ZipArchive;
use zip::result::ZipError;

use super::FORMAT;
use crate::extract::ExtractError;
use crate::extract::decode::decode;

const DEFAULT_DOCUMENT: &str = "word/document.xml";
const RELATIONSHIPS: &str = "_rels/.rels";

/// The opened archive.
pub(super) struct Package {
    archive: ZipArchive<BufReader<File>>,
    limit_bytes: u64,
    inflated_bytes: u64,
}

impl Package {
    pub(super) fn open(path: &Path, limit_bytes: u64) -> Result<Self, ExtractError> {
        let file = File::open(path).map_err(|err| ExtractError::io(&err))?;
        let archive = ZipArchive::new(BufReader::new(file)).map_err(archive_error)?;
        Ok(Self { archive, limit_bytes, inflated_bytes: 0 })
    }

    /// The XML of the document itself.
    pub(super) fn main_document(&mut self) -> Result<String, ExtractError> {
        if let Some(xml) = self.part(DEFAULT_DOCUMENT)? {
            return Ok(xml);
        }
        let named = match self.part(RELATIONSHIPS)? {
            Some(xml) => document_target(&xml),
            None => None,
        };
        let found = match named {
            Some(name) => self.part(name.trim_start_matches('/'))?,
            None => None,
        };
        found.ok_or_else(|| ExtractError::damaged(FORMAT, format!("it has no {DEFAULT_DOCUMENT} inside")))
    }

    /// The title in the document's properties.
    pub(super) fn title(&mut self) -> Result<Option<String>, ExtractError> {
        let Some(xml) = self.part("docProps/core.xml")? else {
            return Ok(None);
        };
        let title = element_text(&xml, "title").trim().to_owned();
        Ok((!title.is_empty()).then_some(title))
    }

    /// The XML of one entry; `None` if there is no such entry.
    ///
    /// # Errors
    /// The entry is damaged, or inflating it would go over the budget.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, ExtractError> {
        let left_bytes = self.limit_bytes.saturating_sub(self.inflated_bytes);
        let (limit_bytes, before_bytes) = (self.limit_bytes, self.inflated_bytes);
        let bomb = |needed_bytes: u64| {
            ExtractError::over_budget(format!(
                "its part {name} inflates to {} MiB or more, one document may have {} MiB",
                (before_bytes + needed_bytes) >> 20,
                limit_bytes >> 20
            ))
        };
        let entry = match self.archive.by_name(name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(err) => return Err(archive_error(err)),
        };
        let declared_bytes = entry.size();
        if declared_bytes > left_bytes {
            return Err(bomb(declared_bytes));
        }
        let mut bytes = Vec::new();
        entry
            .take(left_bytes + 1)
            .read_to_end(&mut bytes)
            .map_err(|err| ExtractError::damaged(FORMAT, format!("{name}: {err}")))?;
        if bytes.len() as u64 > left_bytes {
            return Err(bomb(bytes.len() as u64));
        }
        self.inflated_bytes += bytes.len() as u64;
        Ok(Some(decode(&bytes)?.text.into_owned()))
    }
}

fn archive_error(err: ZipError) -> ExtractError {
    match err {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => ExtractError::encrypted(),
        err => ExtractError::damaged(FORMAT, format!("the ZIP archive: {err}")),
    }
}

/// Where the relationships say that the document is.
fn document_target(xml: &str) -> Option<String> {
    let mut reader = Reader::from_str(xml);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) => {
                let attribute = |name: &str| {
                    let found = element.try_get_attribute(name).ok().flatten()?;
                    Some(found.value.into_owned())
                };
                if attribute("Type").is_some_and(|kind| kind.ends_with("/officeDocument")) {
                    return attribute("Target");
                }
            }
            Ok(Event::Eof) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// The text of the first element with this local name, as far as the XML can be read.
fn element_text(xml: &str, name: &str) -> String {
    let mut reader = Reader::from_str(xml);
    let mut text = String::new();
    let mut inside = false;
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => inside |= element.local_name().as_ref() == name,
            Ok(Event::End(element)) if element.local_name().as_ref() == name => return text,
            Ok(Event::Text(piece)) if inside => text.push_str(&piece.xml10_content()),
            Ok(Event::GeneralRef(reference)) if inside => {
                text.extend(super::body::resolve_reference(&reference));
            }
            Ok(Event::Eof) | Err(_) => return text,
            Ok(_) => {}
        }
    }
}
