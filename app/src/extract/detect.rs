//! What a file is: by its content first, by its extension where the content is just text.

use std::fs::File;
use std::path::Path;

use super::{DocumentKind, ExtractError};

/// Bytes from the start of a file that detection looks at.
pub(super) const HEAD_BYTES: usize = 4096;

/// First bytes of formats that are not read, at an offset, and what to call them.
const FOREIGN: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"BM", "a BMP image"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (8, b"WEBP", "a WebP image"),
    (8, b"WAVE", "a WAV recording"),
    (8, b"AVI ", "an AVI video"),
    (4, b"ftyp", "an MP4 or HEIF file"),
    (0, b"ID3", "an MP3 recording"),
    (0, b"OggS", "an Ogg recording"),
    (0, b"fLaC", "a FLAC recording"),
    (0, b"\x1a\x45\xdf\xa3", "a Matroska video"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"BZh", "a bzip2 archive"),
    (0, b"\xfd7zXZ\0", "an xz archive"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ", "a Windows program"),
    (0, b"\xcf\xfa\xed\xfe", "a program"),
    (0, b"\xca\xfe\xba\xbe", "a program or Java class"),
    (0, b"\0asm", "a WebAssembly module"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"PAR1", "a Parquet table"),
    (0, b"GGUF", "a GGUF model"),
    (0, b"{\\rtf", "an RTF document"),
    (0, b"%!PS", "a PostScript file"),
    (0, b"wOFF", "a font"),
    (0, b"wOF2", "a font"),
    (0, b"\0\x01\0\0\0", "a font"),
    (0, b"OTTO", "a font"),
];

const MARKDOWN: &[&str] = &["md", "markdown", "mdown", "mkd", "mdx", "qmd", "rmd"];
const HTML: &[&str] = &["html", "htm", "xhtml", "shtml"];
const CSV: &[&str] = &["csv", "tsv", "tab", "psv"];
const JSON: &[&str] = &["json", "jsonl", "ndjson", "geojson", "ipynb", "webmanifest"];
const DOCX: &[&str] = &["docx", "docm", "dotx", "dotm"];
const CODE: &[&str] = &[
    "asm", "awk", "bash", "bat", "c", "cc", "cfg", "clj", "cmake", "conf", "cpp", "cs", "css", "cu", "cxx", "d",
    "dart", "el", "elm", "erl", "ex", "exs", "f", "f90", "fish", "fs", "gd", "glsl", "go", "gradle", "groovy", "h",
    "hh", "hlsl", "hpp", "hs", "hxx", "ini", "java", "jl", "js", "json5", "jsonc", "jsx", "kt", "kts", "less", "lisp",
    "lua", "m", "mjs", "ml", "mli", "mm", "nim", "nix", "pas", "php", "pl", "pm", "proto", "ps1", "py", "pyi", "r",
    "rb", "rs", "sass", "scala", "scm", "scss", "sh", "sql", "svelte", "swift", "tcl", "tf", "toml", "ts", "tsx", "v",
    "vb", "vhd", "vim", "vue", "wgsl", "xml", "xsd", "xsl", "yaml", "yml", "zig", "zsh",
];
const CODE_NAMES: &[&str] = &["makefile", "dockerfile", "cmakelists.txt", "rakefile", "gemfile"];

/// The kind of the file at `path`, whose first [`HEAD_BYTES`] are `head`.
///
/// # Errors
/// `Unsupported` with what it seems to be, or `Encrypted`.
pub(super) fn detect(path: &Path, head: &[u8]) -> Result<DocumentKind, ExtractError> {
    let extension = lower_case_extension(path);
    let has = |extensions: &[&str]| extensions.contains(&extension.as_str());
    if head[..head.len().min(1024)].windows(5).any(|window| window == b"%PDF-") {
        return Ok(DocumentKind::Pdf);
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return detect_zip(path, has(DOCX));
    }
    if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return Err(detect_compound(path));
    }
    if let Some(found) = foreign_name(head) {
        return Err(ExtractError::unsupported(found));
    }
    if looks_like_html(head) && !has(MARKDOWN) && !has(CODE) {
        return Ok(DocumentKind::Html);
    }
    Ok(match extension.as_str() {
        "pdf" => DocumentKind::Pdf,
        _ if has(DOCX) => DocumentKind::Docx,
        _ if has(MARKDOWN) => DocumentKind::Markdown,
        _ if has(HTML) => DocumentKind::Html,
        _ if has(CSV) => DocumentKind::Csv,
        _ if has(JSON) => DocumentKind::Json,
        _ if has(CODE) || is_code_name(path) || head.starts_with(b"#!") => DocumentKind::Code,
        _ => DocumentKind::Text,
    })
}

fn lower_case_extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn is_code_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| CODE_NAMES.contains(&name.to_string_lossy().to_lowercase().as_str()))
}

/// The name of a foreign format. Signatures of letters only are believed when binary data follows.
fn foreign_name(head: &[u8]) -> Option<&'static str> {
    let is_binary = || head.iter().any(|byte| matches!(byte, 0..=8 | 0x0e..=0x1a));
    let found =
        FOREIGN.iter().find(|(offset, magic, _)| head.get(*offset..).is_some_and(|at| at.starts_with(magic)))?;
    let is_rich_text = matches!(found.1, b"{\\rtf" | b"%!PS");
    (is_rich_text || is_binary()).then_some(found.2)
}

fn looks_like_html(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let head = head.trim_ascii_start();
    let starts_with = |tag: &[u8]| head.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    starts_with(b"<!doctype html") || starts_with(b"<html")
}

/// A ZIP archive is what its entries say; one that cannot be read is what its extension says.
fn detect_zip(path: &Path, has_docx_extension: bool) -> Result<DocumentKind, ExtractError> {
    let archive = File::open(path).ok().and_then(|file| zip::ZipArchive::new(file).ok());
    let Some(archive) = archive else {
        return if has_docx_extension {
            Ok(DocumentKind::Docx)
        } else {
            Err(ExtractError::unsupported("a ZIP archive"))
        };
    };
    let has_entry = |name: &str| archive.index_for_name(name).is_some();
    let found = match () {
        () if has_docx_extension || has_entry("word/document.xml") => {
            return Ok(DocumentKind::Docx);
        }
        () if has_entry("xl/workbook.xml") => "an Excel workbook",
        () if has_entry("ppt/presentation.xml") => "a PowerPoint presentation",
        () if has_entry("META-INF/container.xml") => "an EPUB book",
        () if has_entry("META-INF/manifest.xml") && has_entry("content.xml") => "an OpenDocument file",
        () => "a ZIP archive",
    };
    Err(ExtractError::unsupported(found))
}

/// Microsoft's compound files hold old Office documents, or new ones under a password.
fn detect_compound(path: &Path) -> ExtractError {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let holds_name =
        super::read::read_head(path, 1 << 20).is_ok_and(|bytes| bytes.windows(name.len()).any(|window| window == name));
    if holds_name {
        ExtractError::encrypted()
    } else {
        ExtractError::unsupported("an Office file of the time before 2007")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(name: &str, head: &[u8]) -> Result<DocumentKind, ExtractError> {
        detect(Path::new(name), head)
    }

    #[test]
    fn content_outranks_the_extension() {
        assert_eq!(kind_of("a.txt", b"%PDF-1.7\n"), Ok(DocumentKind::Pdf));
        assert_eq!(kind_of("a.pdf", b"\n<!DOCTYPE html><p>"), Ok(DocumentKind::Html));
        let png = kind_of("a.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
        assert_eq!(png, Err(ExtractError::unsupported("a PNG image")));
    }

    #[test]
    fn text_is_told_apart_by_extension() {
        for (name, kind) in [
            ("README.MD", DocumentKind::Markdown),
            ("table.tsv", DocumentKind::Csv),
            ("log.jsonl", DocumentKind::Json),
            ("main.rs", DocumentKind::Code),
            ("Makefile", DocumentKind::Code),
            ("notes", DocumentKind::Text),
            ("broken.pdf", DocumentKind::Pdf),
        ] {
            assert_eq!(kind_of(name, b"words"), Ok(kind), "{name}");
        }
    }

    #[test]
    fn words_that_start_like_a_signature_stay_text() {
        for text in ["BM stands for benchmark", "MZ", "GIF8 is a start", "ID3 tags"] {
            assert_eq!(kind_of("a.txt", text.as_bytes()), Ok(DocumentKind::Text), "{text}");
        }
    }
}
