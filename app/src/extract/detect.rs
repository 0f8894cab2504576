//! What a file is: by its content first, by its extension where the content is just text.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::ExtractError;
use super::spreadsheet::Workbook;

/// Which reader a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Code,
    Markdown,
    Html,
    Csv,
    Json,
    Pdf,
    Docx,
    Pptx,
    Odt,
    Odp,
    Workbook(Workbook),
    Epub,
    Mail,
    Rtf,
    Image,
}

/// Bytes from the start of a file that detection looks at.
pub(super) const HEAD_BYTES: usize = 4096;
/// Bytes of a compound file in which its names are looked for.
const COMPOUND_BYTES: usize = 4 << 20;

/// First bytes of formats that are not read, at an offset, and what to call them.
const FOREIGN: &[(usize, &[u8], &str)] = &[
    (0, b"GIF8", "a GIF image"),
    (0, b"BM", "a BMP image"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
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
const MAIL: &[&str] = &["eml", "mbox", "mbx"];
/// Formats that are a ZIP archive inside, by extension.
const ZIPPED: &[(&str, Format)] = &[
    ("docx", Format::Docx),
    ("docm", Format::Docx),
    ("dotx", Format::Docx),
    ("dotm", Format::Docx),
    ("pptx", Format::Pptx),
    ("pptm", Format::Pptx),
    ("potx", Format::Pptx),
    ("ppsx", Format::Pptx),
    ("xlsx", Format::Workbook(Workbook::Xlsx)),
    ("xlsm", Format::Workbook(Workbook::Xlsx)),
    ("xltx", Format::Workbook(Workbook::Xlsx)),
    ("xlsb", Format::Workbook(Workbook::Xlsb)),
    ("ods", Format::Workbook(Workbook::Ods)),
    ("ots", Format::Workbook(Workbook::Ods)),
    ("odt", Format::Odt),
    ("ott", Format::Odt),
    ("odp", Format::Odp),
    ("otp", Format::Odp),
    ("epub", Format::Epub),
];
/// Header lines that a saved message may begin with.
const MAIL_HEADERS: &[&[u8]] =
    &[b"Return-Path:", b"Received:", b"Delivered-To:", b"MIME-Version:", b"Message-ID:", b"X-Mozilla-Status:"];
const CODE: &[&str] = &[
    "asm", "awk", "bash", "bat", "c", "cc", "cfg", "clj", "cmake", "conf", "cpp", "cs", "css", "cu", "cxx", "d",
    "dart", "el", "elm", "erl", "ex", "exs", "f", "f90", "fish", "fs", "gd", "glsl", "go", "gradle", "groovy", "h",
    "hh", "hlsl", "hpp", "hs", "hxx", "ini", "java", "jl", "js", "json5", "jsonc", "jsx", "kt", "kts", "less", "lisp",
    "lua", "m", "mjs", "ml", "mli", "mm", "nim", "nix", "pas", "php", "pl", "pm", "proto", "ps1", "py", "pyi", "r",
    "rb", "rs", "sass", "scala", "scm", "scss", "sh", "sql", "svelte", "swift", "tcl", "tf", "toml", "ts", "tsx", "v",
    "vb", "vhd", "vim", "vue", "wgsl", "xml", "xsd", "xsl", "yaml", "yml", "zig", "zsh",
];
const CODE_NAMES: &[&str] = &["makefile", "dockerfile", "cmakelists.txt", "rakefile", "gemfile"];

/// The format of the file at `path`, whose first [`HEAD_BYTES`] are `head`.
///
/// # Errors
/// `Unsupported` with what it seems to be, or `Encrypted`.
pub(super) fn detect(path: &Path, head: &[u8]) -> Result<Format, ExtractError> {
    let extension = lower_case_extension(path);
    if head[..head.len().min(1024)].windows(5).any(|window| window == b"%PDF-") {
        return Ok(Format::Pdf);
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return detect_zip(path, zipped(&extension));
    }
    if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return detect_compound(path, &extension);
    }
    if head.starts_with(b"{\\rtf") {
        return Ok(Format::Rtf);
    }
    if is_image(head, &extension) {
        return Ok(Format::Image);
    }
    if let Some(found) = foreign_name(head) {
        return Err(ExtractError::unsupported(found));
    }
    let has = |extensions: &[&str]| extensions.contains(&extension.as_str());
    if looks_like_html(head) && !has(MARKDOWN) && !has(CODE) && !has(MAIL) {
        return Ok(Format::Html);
    }
    if let Some(format) = zipped(&extension) {
        return Ok(format);
    }
    Ok(match extension.as_str() {
        "pdf" => Format::Pdf,
        _ if has(MARKDOWN) => Format::Markdown,
        _ if has(HTML) => Format::Html,
        _ if has(CSV) => Format::Csv,
        _ if has(JSON) => Format::Json,
        _ if has(CODE) || is_code_name(path) || head.starts_with(b"#!") => Format::Code,
        _ if has(MAIL) || MAIL_HEADERS.iter().any(|header| head.starts_with(header)) => Format::Mail,
        _ => Format::Text,
    })
}

fn zipped(extension: &str) -> Option<Format> {
    ZIPPED.iter().find(|(zipped, _)| *zipped == extension).map(|(_, format)| *format)
}

/// Whether a password opens an encrypted file of this name: those of office programs are not opened here.
pub fn takes_password(path: &Path) -> bool {
    let extension = lower_case_extension(path);
    zipped(&extension).is_none() && !matches!(extension.as_str(), "xls" | "xlt" | "doc" | "ppt")
}

fn lower_case_extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn is_code_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| CODE_NAMES.contains(&name.to_string_lossy().to_lowercase().as_str()))
}

/// Whether it is a picture that can be decoded. Raw photographs begin like a TIFF, and are none.
fn is_image(head: &[u8], extension: &str) -> bool {
    let at = |offset: usize, magic: &[u8]| head.get(offset..).is_some_and(|rest| rest.starts_with(magic));
    let is_tiff = at(0, b"II*\0") || at(0, b"MM\0*");
    at(0, b"\x89PNG\r\n\x1a\n")
        || at(0, b"\xff\xd8\xff")
        || (at(0, b"RIFF") && at(8, b"WEBP"))
        || (is_tiff && matches!(extension, "tif" | "tiff"))
}

/// The name of a foreign format. Signatures of letters only are believed when binary data follows.
fn foreign_name(head: &[u8]) -> Option<&'static str> {
    let is_binary = || head.iter().any(|byte| matches!(byte, 0..=8 | 0x0e..=0x1a));
    let found =
        FOREIGN.iter().find(|(offset, magic, _)| head.get(*offset..).is_some_and(|at| at.starts_with(magic)))?;
    (found.1 == b"%!PS" || is_binary()).then_some(found.2)
}

fn looks_like_html(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let head = head.trim_ascii_start();
    let starts_with = |tag: &[u8]| head.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    starts_with(b"<!doctype html") || starts_with(b"<html")
}

/// A ZIP archive is what its entries say; one that cannot be read is what its extension says.
fn detect_zip(path: &Path, by_extension: Option<Format>) -> Result<Format, ExtractError> {
    let archive = File::open(path).ok().and_then(|file| zip::ZipArchive::new(file).ok());
    let Some(mut archive) = archive else {
        return by_extension.ok_or_else(|| ExtractError::unsupported("a ZIP archive"));
    };
    let has_entry = |name: &str| archive.index_for_name(name).is_some();
    let found = match () {
        () if has_entry("word/document.xml") => Format::Docx,
        () if has_entry("xl/workbook.xml") => Format::Workbook(Workbook::Xlsx),
        () if has_entry("xl/workbook.bin") => Format::Workbook(Workbook::Xlsb),
        () if has_entry("ppt/presentation.xml") => Format::Pptx,
        () if has_entry("META-INF/container.xml") => Format::Epub,
        () if has_entry("content.xml") => return detect_open_document(&mut archive, by_extension),
        () => return by_extension.ok_or_else(|| ExtractError::unsupported("a ZIP archive")),
    };
    Ok(found)
}

/// OpenDocument files say what they are in an entry of their own.
fn detect_open_document(
    archive: &mut zip::ZipArchive<File>,
    by_extension: Option<Format>,
) -> Result<Format, ExtractError> {
    let mut media_type = String::new();
    if let Ok(entry) = archive.by_name("mimetype") {
        // What cannot be read leaves the extension to decide.
        drop(entry.take(200).read_to_string(&mut media_type));
    }
    match media_type.trim().trim_start_matches("application/vnd.oasis.opendocument.") {
        "text" | "text-template" | "text-master" => Ok(Format::Odt),
        "presentation" | "presentation-template" => Ok(Format::Odp),
        "spreadsheet" | "spreadsheet-template" => Ok(Format::Workbook(Workbook::Ods)),
        "graphics" => Err(ExtractError::unsupported("an OpenDocument drawing")),
        _ => by_extension.ok_or_else(|| ExtractError::unsupported("a ZIP archive")),
    }
}

/// Microsoft's compound files hold old Office documents, or new ones under a password.
fn detect_compound(path: &Path, extension: &str) -> Result<Format, ExtractError> {
    let bytes = super::read::read_head(path, COMPOUND_BYTES).unwrap_or_default();
    let holds = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        bytes.windows(name.len()).any(|window| window == name)
    };
    match () {
        () if holds("EncryptedPackage") => Err(ExtractError::encrypted()),
        () if matches!(extension, "xls" | "xlt") || holds("Workbook") => Ok(Format::Workbook(Workbook::Xls)),
        () if extension == "msg" => Err(ExtractError::unsupported("an Outlook message (save it as EML)")),
        () => Err(ExtractError::unsupported("an Office file of the time before 2007 (save it in the newer format)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_of(name: &str, head: &[u8]) -> Result<Format, ExtractError> {
        detect(Path::new(name), head)
    }

    #[test]
    fn content_outranks_the_extension() {
        assert_eq!(format_of("a.txt", b"%PDF-1.7\n"), Ok(Format::Pdf));
        assert_eq!(format_of("a.pdf", b"\n<!DOCTYPE html><p>"), Ok(Format::Html));
        assert_eq!(format_of("a.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), Ok(Format::Image));
        assert_eq!(format_of("a.tiff", b"II*\0\x08\0\0\0"), Ok(Format::Image));
        let raw = format_of("a.nef", b"II*\0\x08\0\0\0");
        assert_eq!(raw, Err(ExtractError::unsupported("a TIFF image")));
    }

    #[test]
    fn text_is_told_apart_by_extension() {
        for (name, format) in [
            ("README.MD", Format::Markdown),
            ("table.tsv", Format::Csv),
            ("log.jsonl", Format::Json),
            ("main.rs", Format::Code),
            ("Makefile", Format::Code),
            ("notes", Format::Text),
            ("letter.eml", Format::Mail),
            ("broken.xlsx", Format::Workbook(Workbook::Xlsx)),
            ("broken.pdf", Format::Pdf),
        ] {
            assert_eq!(format_of(name, b"words"), Ok(format), "{name}");
        }
    }

    #[test]
    fn words_that_start_like_a_signature_stay_text() {
        for text in ["BM stands for benchmark", "MZ", "GIF8 is a start", "ID3 tags"] {
            assert_eq!(format_of("a.txt", text.as_bytes()), Ok(Format::Text), "{text}");
        }
    }
}
