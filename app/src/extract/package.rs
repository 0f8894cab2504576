//! The ZIP archive that an Office document or a book is, read under one budget for everything that is inflated.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use super::decode::decode;
use super::xml::{attribute, element_text, for_each_element};
use super::{ExtractError, Metadata, properties};

/// The opened archive.
pub(super) struct Package {
    /// What the errors call it.
    format: &'static str,
    archive: ZipArchive<BufReader<File>>,
    limit_bytes: u64,
    inflated_bytes: u64,
}

impl Package {
    /// Opens the archive at `path`, of which at most `limit_bytes` may be inflated.
    ///
    /// # Errors
    /// The file cannot be read or is no archive.
    pub(super) fn open(path: &Path, format: &'static str, limit_bytes: u64) -> Result<Self, ExtractError> {
        let file = File::open(path).map_err(|err| ExtractError::io(&err))?;
        let archive = ZipArchive::new(BufReader::new(file)).map_err(|err| archive_error(format, err))?;
        Ok(Self { format, archive, limit_bytes, inflated_bytes: 0 })
    }

    /// Fails if the entries say themselves that they inflate over the budget; for readers that open the archive
    /// on their own.
    ///
    /// # Errors
    /// They do.
    pub(super) fn expect_within_budget(&self) -> Result<(), ExtractError> {
        match self.archive.decompressed_size() {
            Some(bytes) if bytes > u128::from(self.limit_bytes) => Err(ExtractError::over_budget(format!(
                "it inflates to {} MiB, one document may have {} MiB",
                bytes >> 20,
                self.limit_bytes >> 20
            ))),
            _ => Ok(()),
        }
    }

    /// The XML of an entry that has to be there.
    ///
    /// # Errors
    /// It is not there, damaged, or over the budget.
    pub(super) fn expect_part(&mut self, name: &str) -> Result<String, ExtractError> {
        let found = self.part(name)?;
        found.ok_or_else(|| ExtractError::damaged(self.format, format!("it has no {name} inside")))
    }

    /// The relationships of a part: id, kind (the last word of its type) and the entry it points to.
    ///
    /// # Errors
    /// They are damaged, or over the budget.
    pub(super) fn relationships(&mut self, part: &str) -> Result<Vec<Relationship>, ExtractError> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let separator = if folder.is_empty() { "" } else { "/" };
        let Some(xml) = self.part(&format!("{folder}{separator}_rels/{name}.rels"))? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for_each_element(&xml, "Relationship", |element| {
            let kind = attribute(element, "Type").unwrap_or_default();
            found.push(Relationship {
                id: attribute(element, "Id").unwrap_or_default(),
                kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                target: resolve(folder, &attribute(element, "Target").unwrap_or_default()),
            });
        });
        Ok(found)
    }

    /// The properties of an Office document, with its title.
    ///
    /// # Errors
    /// They are damaged, or over the budget.
    pub(super) fn office_properties(&mut self) -> Result<(Option<String>, Metadata), ExtractError> {
        let mut metadata = Metadata::default();
        if let Some(xml) = self.part("docProps/custom.xml")? {
            properties::add_named(&mut metadata, &xml);
        }
        let xml = self.part("docProps/core.xml")?.unwrap_or_default();
        properties::add_dublin_core(&mut metadata, &xml, "modified");
        Ok((element_text(&xml, "title"), metadata))
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
            Err(err) => return Err(archive_error(self.format, err)),
        };
        let declared_bytes = entry.size();
        if declared_bytes > left_bytes {
            return Err(bomb(declared_bytes));
        }
        let mut bytes = Vec::new();
        entry
            .take(left_bytes + 1)
            .read_to_end(&mut bytes)
            .map_err(|err| ExtractError::damaged(self.format, format!("{name}: {err}")))?;
        if bytes.len() as u64 > left_bytes {
            return Err(bomb(bytes.len() as u64));
        }
        self.inflated_bytes += bytes.len() as u64;
        Ok(Some(decode(&bytes)?.text.into_owned()))
    }
}

fn archive_error(format: &str, err: ZipError) -> ExtractError {
    match err {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => ExtractError::encrypted(),
        err => ExtractError::damaged(format, format!("the ZIP archive: {err}")),
    }
}

/// A part that another part points to.
pub(super) struct Relationship {
    pub(super) id: String,
    /// The last word of the relationship's type, for example `slide`.
    pub(super) kind: String,
    /// Name of the entry.
    pub(super) target: String,
}

/// The entry that `target` names as seen from `folder`: absolute, or with `..` and `.` in it.
pub(super) fn resolve(folder: &str, target: &str) -> String {
    let target = target.split(['#', '?']).next().unwrap_or_default();
    let base = if target.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(target.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_resolved_like_links() {
        assert_eq!(resolve("ppt", "slides/slide1.xml"), "ppt/slides/slide1.xml");
        assert_eq!(resolve("ppt/slides", "../notesSlides/n1.xml"), "ppt/notesSlides/n1.xml");
        assert_eq!(resolve("ppt", "/ppt/a.xml"), "ppt/a.xml");
        assert_eq!(resolve("OEBPS", "../../../text/./a.xhtml#part"), "text/a.xhtml");
    }
}
