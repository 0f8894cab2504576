//! Image files: each picture in one is a page that OCR reads.

use std::io::{Cursor, Read as _};
use std::path::Path;

use image::{DynamicImage, ImageDecoder as _, ImageError, ImageReader, imageops::FilterType};

use super::ocr::{OcrModels, Picture};
use super::pdf::{self, Scan};
use super::{
    DocumentKind, ExtractError, ExtractLimits, ExtractStep, Extraction, PagePicture, PageRequest, PixelBox, TextBuilder,
};

/// What the errors call these formats.
const FORMAT: &str = "image";
/// Pixels of the longer side that are read; larger pictures are scaled down.
const LONGEST_SIDE: u32 = 4000;
/// Pictures smaller than this, such as screenshots of a line, are read at twice their size.
const SMALL_SIDE: u32 = 1500;
/// Icons hold no text.
const SHORTEST_SIDE: u32 = 24;
/// Sides of a picture that is decoded at all, and bytes that it may take.
const MOST_PIXELS_A_SIDE: u32 = 30_000;
const MOST_DECODED_BYTES: u64 = 512 << 20;
/// Bytes of a file that is read at all.
const MOST_FILE_BYTES: u64 = 512 << 20;
/// Pictures of one file; more than that is an attack.
const MOST_PICTURES: usize = 2000;
/// Scans have about this many pixels a point. Only sizes relative to each other matter.
const PIXELS_PER_POINT: f32 = 200.0 / 72.0;

/// Reads the file at `path` as an image.
pub(super) fn read(
    path: &Path,
    limits: &ExtractLimits,
    on_step: &mut dyn FnMut(ExtractStep),
) -> Result<Extraction, ExtractError> {
    let mut bytes = read_file(path)?;
    let pictures = Pictures::of(&bytes);
    let pages = pictures.count();
    let Some(models) = &limits.ocr else {
        return Err(ExtractError::NeedsOcr { path: std::path::PathBuf::new(), pages });
    };
    let mut built = TextBuilder::new(limits);
    built.coverage.pages = Some(pages);
    if pictures.directories.len() == MOST_PICTURES {
        built.note(format!("Only the first {MOST_PICTURES} pictures of the file were read."));
    }
    let (mut scans, mut failure) = (Vec::new(), None);
    for page in 1..=pages {
        let mut begin = || on_step(ExtractStep::Page { page, pages });
        let reason = match scan(&pictures, page, &mut bytes, models, &mut begin) {
            Ok(Some(scan)) => {
                scans.push((page, scan));
                continue;
            }
            Ok(None) => "the picture holds no text".to_owned(),
            // Says nothing about the file.
            Err(err @ ExtractError::MissingLibrary { .. }) => return Err(err),
            Err(err) => failure.insert(err).reason(),
        };
        built.coverage.pages_without_text.push((page, reason));
    }
    if scans.is_empty() {
        let nothing = ExtractError::PictureWithoutText { path: std::path::PathBuf::new() };
        return Err(failure.unwrap_or(nothing));
    }
    on_step(ExtractStep::Assembling);
    built.note(format!(
        "The text was read from the picture (OCR, mean confidence {:.2}): it may have mistakes.",
        mean_confidence(&scans)
    ));
    // A picture has no title of its own: its largest line is one by chance.
    pdf::write_scans(&mut built, scans)?;
    built.finish(DocumentKind::Image)
}

fn read_file(path: &Path) -> Result<Vec<u8>, ExtractError> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|err| ExtractError::io(&err))?;
    file.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|err| ExtractError::io(&err))?;
    if bytes.len() as u64 > MOST_FILE_BYTES {
        let most = MOST_FILE_BYTES >> 20;
        return Err(ExtractError::over_budget(format!("the picture's file is larger than {most} MiB")));
    }
    Ok(bytes)
}

fn mean_confidence(scans: &[(u32, Scan)]) -> f64 {
    let all = || scans.iter().flat_map(|(_, scan)| &scan.confidences);
    all().map(|confidence| f64::from(*confidence)).sum::<f64>() / all().count().max(1) as f64
}

/// What is read of a picture; `None` where there is nothing to read.
fn scan(
    pictures: &Pictures,
    page: u32,
    bytes: &mut [u8],
    models: &OcrModels,
    begin: &mut dyn FnMut(),
) -> Result<Option<Scan>, ExtractError> {
    begin();
    let decoded = pictures.decode(page, bytes)?;
    if decoded.width().min(decoded.height()) < SHORTEST_SIDE {
        return if pictures.count() == 1 { Err(ExtractError::unsupported("an icon")) } else { Ok(None) };
    }
    let (picture, _) = to_read(decoded)?;
    begin();
    let scan = pdf::read_picture(models, &picture, PIXELS_PER_POINT, begin)
        .map_err(|detail| ExtractError::MissingLibrary { detail })?;
    Ok((!scan.fragments.is_empty()).then_some(scan))
}

/// A picture in a size that can be read, and how many times the decoded one it is.
fn to_read(decoded: DynamicImage) -> Result<(Picture, f32), ExtractError> {
    let longer = decoded.width().max(decoded.height());
    let sized = match longer {
        ..SMALL_SIDE => decoded.resize_exact(decoded.width() * 2, decoded.height() * 2, FilterType::CatmullRom),
        SMALL_SIDE..=LONGEST_SIDE => decoded,
        _ => decoded.resize(LONGEST_SIDE, LONGEST_SIDE, FilterType::Triangle),
    };
    let factor = sized.width().max(sized.height()) as f32 / longer.max(1) as f32;
    let rgba = sized.into_rgba8();
    let picture = Picture::from_rgba(rgba.width() as usize, rgba.height() as usize, &rgba);
    Ok((picture.ok_or_else(|| ExtractError::damaged(FORMAT, "it has no size"))?, factor))
}

/// Draws a picture of the file, and boxes the words asked for where OCR finds them again.
pub(super) fn draw(path: &Path, request: &PageRequest, limits: &ExtractLimits) -> Result<PagePicture, ExtractError> {
    let mut bytes = read_file(path)?;
    let pictures = Pictures::of(&bytes);
    let pages = pictures.count();
    if request.page == 0 || request.page > pages {
        let detail = format!("it has {pages} pages, not page {}", request.page);
        return Err(ExtractError::damaged(FORMAT, detail));
    }
    let decoded = pictures.decode(request.page, &mut bytes)?;
    let drawn = decoded.resize(request.width.clamp(64, 4096), 8192, FilterType::Triangle).into_rgba8();
    let (width, height) = drawn.dimensions();
    let scale = width as f32 / decoded.width().max(1) as f32;
    let boxes = match limits.ocr.as_ref().filter(|_| !request.quote.trim().is_empty()) {
        Some(models) => boxes(models, &decoded, &request.quote, scale)?,
        None => Vec::new(),
    };
    Ok(PagePicture { page: request.page, pages, width, height, rgba: drawn.into_raw(), boxes })
}

fn boxes(models: &OcrModels, decoded: &DynamicImage, quote: &str, scale: f32) -> Result<Vec<PixelBox>, ExtractError> {
    let (picture, factor) = to_read(decoded.clone())?;
    // Without the models' help the picture is still worth seeing.
    let Ok(scan) = pdf::read_picture(models, &picture, 1.0, &mut || ()) else { return Ok(Vec::new()) };
    let to_drawn = scale / factor;
    Ok(pdf::quoted(scan.fragments, quote).into_iter().map(|found| found.scaled(to_drawn)).collect())
}

/// The pictures of a file: one, or those of a TIFF.
struct Pictures {
    /// Where the directories of a TIFF's pictures are; empty for other formats.
    directories: Vec<u32>,
    byte_order: ByteOrder,
}

#[derive(Clone, Copy)]
enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        let value = bytes.get(at..)?.first_chunk()?;
        Some(match self {
            Self::Little => u16::from_le_bytes(*value),
            Self::Big => u16::from_be_bytes(*value),
        })
    }

    fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        let value = bytes.get(at..)?.first_chunk()?;
        Some(match self {
            Self::Little => u32::from_le_bytes(*value),
            Self::Big => u32::from_be_bytes(*value),
        })
    }

    fn bytes_of(self, value: u32) -> [u8; 4] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }
}

/// Bytes of an entry of a TIFF directory.
const ENTRY_BYTES: usize = 12;
/// The tag that tells thumbnails and masks from pages.
const SUBFILE_TAG: u16 = 254;
/// Where a TIFF says where its first directory is.
const FIRST_DIRECTORY: usize = 4;

impl Pictures {
    fn of(bytes: &[u8]) -> Self {
        let byte_order = match bytes.get(..4) {
            Some(b"II*\0") => ByteOrder::Little,
            Some(b"MM\0*") => ByteOrder::Big,
            _ => return Self { directories: Vec::new(), byte_order: ByteOrder::Little },
        };
        let mut directories = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        let mut next = byte_order.u32_at(bytes, FIRST_DIRECTORY);
        while let Some(at) = next.filter(|at| *at != 0 && seen.len() < MOST_PICTURES && seen.insert(*at)) {
            let start = at as usize;
            let Some(count) = byte_order.u16_at(bytes, start).map(usize::from) else { break };
            let entries = (0..count).map(|index| start + 2 + index * ENTRY_BYTES);
            let subfile = entries.into_iter().find(|entry| byte_order.u16_at(bytes, *entry) == Some(SUBFILE_TAG));
            let kind = subfile.and_then(|entry| byte_order.u32_at(bytes, entry + 8)).unwrap_or(0);
            // Reduced pictures and masks of others are no pages.
            if kind & 0b101 == 0 {
                directories.push(at);
            }
            next = byte_order.u32_at(bytes, start + 2 + count * ENTRY_BYTES);
        }
        Self { directories, byte_order }
    }

    fn count(&self) -> u32 {
        self.directories.len().max(1) as u32
    }

    /// Decodes a picture, upright. Of a TIFF the directory of the page is made the first one.
    fn decode(&self, page: u32, bytes: &mut [u8]) -> Result<DynamicImage, ExtractError> {
        let directory = self.directories.get(page as usize - 1);
        if let (Some(at), Some(first)) = (directory, bytes.get_mut(FIRST_DIRECTORY..FIRST_DIRECTORY + 4)) {
            first.copy_from_slice(&self.byte_order.bytes_of(*at));
        }
        let decode = || -> Result<DynamicImage, ImageError> {
            let mut reader = ImageReader::new(Cursor::new(&*bytes)).with_guessed_format()?;
            let mut limits = image::Limits::default();
            limits.max_image_width = Some(MOST_PIXELS_A_SIDE);
            limits.max_image_height = Some(MOST_PIXELS_A_SIDE);
            limits.max_alloc = Some(MOST_DECODED_BYTES);
            reader.limits(limits.clone());
            let mut decoder = reader.into_decoder()?;
            limits.reserve(decoder.total_bytes())?;
            // Where nothing is said, or nothing sensible, the picture is upright.
            let orientation = decoder.orientation().ok();
            let mut decoded = DynamicImage::from_decoder(decoder)?;
            if let Some(orientation) = orientation {
                decoded.apply_orientation(orientation);
            }
            Ok(decoded)
        };
        decode().map_err(|err| match err {
            ImageError::Limits(err) => ExtractError::over_budget(format!("the picture is too large: {err}")),
            ImageError::Unsupported(err) => ExtractError::unsupported(format!("a picture of its kind ({err})")),
            err => ExtractError::damaged(FORMAT, format!("picture {page}: {err}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_stumps_of_directories_end() {
        // A directory without entries whose next one is itself.
        let looped = [b"II*\0".as_slice(), &8_u32.to_le_bytes(), &0_u16.to_le_bytes(), &8_u32.to_le_bytes()].concat();
        assert_eq!(Pictures::of(&looped).count(), 1);
        for length in 0..looped.len() {
            assert_eq!(Pictures::of(&looped[..length]).count(), 1);
        }
        let wild = [b"MM\0*".as_slice(), &u32::MAX.to_be_bytes()].concat();
        assert_eq!(Pictures::of(&wild).count(), 1);
    }

    #[test]
    fn what_is_no_picture_is_damaged() {
        for bytes in [b"\x89PNG\r\n\x1a\n".as_slice(), b"\xff\xd8\xff\xe0", b"II*\0\x08\0\0\0"] {
            let found = Pictures::of(bytes).decode(1, &mut bytes.to_vec());
            assert!(matches!(found, Err(ExtractError::Damaged { .. })), "{found:?}");
        }
    }
}
