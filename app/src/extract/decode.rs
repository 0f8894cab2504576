//! From bytes in some encoding to text: BOMs, UTF-8, UTF-16 with and without BOM, UTF-32, legacy encodings.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use super::options::{self, given};
use super::{ExtractError, ReadOptions};

/// Text, and how it was read when that was a guess.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) note: Option<String>,
}

/// Bytes looked at to recognise UTF-16 and binary data.
const SAMPLE_BYTES: usize = 64 << 10;

/// Decodes text whose encoding nobody named.
///
/// # Errors
/// The bytes are no text.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded<'_>, ExtractError> {
    decode_labelled(bytes, None)
}

/// Decodes text in the encoding that was asked for, else as [`decode`] does.
///
/// # Errors
/// The bytes are no text.
pub(super) fn decode_as<'a>(bytes: &'a [u8], options: &ReadOptions) -> Result<Decoded<'a>, ExtractError> {
    decode_declared(bytes, options, None)
}

/// As [`decode_as`]; `label` is the encoding that the document itself names.
///
/// # Errors
/// The bytes are no text.
pub(super) fn decode_declared<'a>(
    bytes: &'a [u8],
    options: &ReadOptions,
    label: Option<&str>,
) -> Result<Decoded<'a>, ExtractError> {
    match given(options.encoding.as_ref()) {
        // What was asked for was checked before; a label that is none after all is no reason to fail.
        Some(asked) => match options::encoding(asked) {
            Ok(encoding) => decode_forced(bytes, encoding),
            Err(_) => decode_labelled(bytes, label),
        },
        None => decode_labelled(bytes, label),
    }
}

/// Decodes in `encoding` whatever the bytes look like; what does not fit it is replaced and counted.
fn decode_forced<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Result<Decoded<'a>, ExtractError> {
    let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
    if !is_wide && is_binary(bytes) {
        return Err(ExtractError::unsupported("binary data"));
    }
    let (text, has_errors) = encoding.decode_with_bom_removal(bytes);
    let name = encoding.name();
    let replaced = if has_errors { text.matches('\u{fffd}').count() } else { 0 };
    let note = match replaced {
        0 => format!("The text was read as {name}, as asked."),
        count => format!("The text was read as {name}, as asked; {count} places do not fit it and were replaced."),
    };
    Ok(Decoded { text, note: Some(note) })
}

/// Decodes text; `label` is the encoding that the document itself names. A BOM and valid UTF-8 outrank it.
///
/// # Errors
/// The bytes are no text.
pub(super) fn decode_labelled<'a>(bytes: &'a [u8], label: Option<&str>) -> Result<Decoded<'a>, ExtractError> {
    if let Some(text) = decode_utf32(bytes) {
        return Ok(guessed(text.into(), "UTF-32"));
    }
    if let Some((encoding, bom_bytes)) = Encoding::for_bom(bytes) {
        let (text, _) = encoding.decode_without_bom_handling(&bytes[bom_bytes..]);
        return Ok(Decoded { text, note: None });
    }
    if let Some(encoding) = utf16_without_bom(bytes) {
        let (text, _) = encoding.decode_without_bom_handling(bytes);
        return Ok(guessed(text, encoding.name()));
    }
    if is_binary(bytes) {
        return Err(ExtractError::unsupported("binary data"));
    }
    if let Some(decoded) = decode_utf8(bytes) {
        return Ok(decoded);
    }
    let named = label.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = named.unwrap_or_else(|| guess_legacy(bytes));
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    Ok(guessed(text, encoding.name()))
}

fn guessed<'a>(text: Cow<'a, str>, encoding: &str) -> Decoded<'a> {
    Decoded { text, note: Some(format!("The text was read as {encoding}.")) }
}

/// UTF-32, only with its BOM: its little-endian BOM starts like the one of UTF-16.
fn decode_utf32(bytes: &[u8]) -> Option<String> {
    let word: fn([u8; 4]) -> u32 = match bytes {
        [0xff, 0xfe, 0, 0, ..] => u32::from_le_bytes,
        [0, 0, 0xfe, 0xff, ..] => u32::from_be_bytes,
        _ => return None,
    };
    let words = bytes[4..].as_chunks::<4>().0.iter();
    words.map(|bytes| char::from_u32(word(*bytes))).collect()
}

/// UTF-8, also with a few damaged bytes if the rest of the non-ASCII text is clearly UTF-8.
fn decode_utf8(bytes: &[u8]) -> Option<Decoded<'_>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(Decoded { text: text.into(), note: None });
    }
    let mut multibyte_chars = 0;
    let mut damaged = 0;
    for chunk in bytes.utf8_chunks() {
        multibyte_chars += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        damaged += usize::from(!chunk.invalid().is_empty());
    }
    (multibyte_chars >= 10 * damaged).then(|| Decoded {
        text: String::from_utf8_lossy(bytes),
        note: Some(format!("{damaged} damaged places in the UTF-8 text were replaced.")),
    })
}

/// UTF-16 of either byte order by what it would mean: text of living scripts, with a space or a line end.
fn utf16_without_bom(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    if bytes.len() < 4 || !bytes.len().is_multiple_of(2) || !sample.contains(&0) {
        return None;
    }
    let little = plausible_share(sample, u16::from_le_bytes);
    let big = plausible_share(sample, u16::from_be_bytes);
    let (share, encoding) = if little >= big { (little, UTF_16LE) } else { (big, UTF_16BE) };
    (share > 0.97).then_some(encoding)
}

/// The share of 16-bit units that are plausible as text; 0 when none of them separates words or lines.
fn plausible_share(sample: &[u8], unit: fn([u8; 2]) -> u16) -> f64 {
    let pairs = sample.as_chunks::<2>().0;
    let units = || pairs.iter().map(|pair| unit(*pair));
    let separators = units().filter(|unit| matches!(unit, 0x0a | 0x0d | 0x20));
    let latin = units().filter(|unit| matches!(unit, 0x21..=0x7e));
    if separators.count() == 0 && latin.count() * 2 < pairs.len() {
        return 0.0;
    }
    units().filter(|unit| is_plausible(*unit)).count() as f64 / pairs.len() as f64
}

/// Whether a UTF-16 unit belongs to scripts in everyday use, their punctuation, or a surrogate pair.
fn is_plausible(unit: u16) -> bool {
    matches!(unit,
        0x09 | 0x0a | 0x0d | 0x20..=0x7e | 0xa0..=0x024f | 0x0300..=0x052f | 0x0590..=0x06ff
        | 0x0900..=0x0e7f | 0x1e00..=0x1fff | 0x2010..=0x2049 | 0x20ac | 0x3000..=0x30ff
        | 0x4e00..=0x9fff | 0xac00..=0xd7a3 | 0xd800..=0xdfff | 0xff01..=0xff60)
}

/// Text has hardly any control characters; a stray NUL is forgiven, a format's header is not.
fn is_binary(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let is_control = |byte: &&u8| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let controls = sample.iter().filter(is_control).count();
    controls * 50 > sample.len()
}

fn guess_legacy(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    const JAPANESE: &str = "吾輩は猫である。名前はまだ無い。\nどこで生れたかとんと見当がつかぬ。\n";

    fn utf16(text: &str, bytes_of: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes_of).collect()
    }

    #[test]
    fn byte_order_marks_decide() {
        let with_bom = format!("\u{feff}{JAPANESE}");
        for bytes in
            [with_bom.as_bytes().to_vec(), utf16(&with_bom, u16::to_le_bytes), utf16(&with_bom, u16::to_be_bytes)]
        {
            let decoded = decode(&bytes).unwrap();
            assert_eq!(decoded.text, JAPANESE);
            assert_eq!(decoded.note, None);
        }
        let utf32: Vec<u8> = with_bom.chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
        assert_eq!(decode(&utf32).unwrap().text, JAPANESE);
    }

    #[test]
    fn utf16_without_bom_is_recognised_in_any_script() {
        for text in [JAPANESE, "Plain English text.\r\n", "Слово о полку Игореве\n"] {
            for bytes_of in [u16::to_le_bytes, u16::to_be_bytes] {
                let bytes = utf16(text, bytes_of);
                let decoded = decode(&bytes).unwrap();
                assert_eq!(decoded.text, text);
                assert!(decoded.note.unwrap().contains("UTF-16"));
            }
        }
    }

    #[test]
    fn legacy_encodings_are_guessed() {
        let latin = "Le café à côté de l'hôtel était fermé dès l'été. Où êtes-vous allés ?\n";
        for (encoding, text) in [(encoding_rs::SHIFT_JIS, JAPANESE), (encoding_rs::WINDOWS_1252, latin)] {
            let (bytes, _, _) = encoding.encode(text);
            let decoded = decode(&bytes).unwrap();
            assert_eq!(decoded.text, text);
            assert!(decoded.note.unwrap().contains(encoding.name()));
        }
    }

    #[test]
    fn one_damaged_byte_does_not_make_utf8_legacy() {
        let mut bytes = JAPANESE.repeat(3).into_bytes();
        bytes[40] = 0xff;
        let decoded = decode(&bytes).unwrap();
        assert!(decoded.text.contains("どこで生れたか"));
        assert!(decoded.note.unwrap().contains("damaged"));
    }

    #[test]
    fn the_encoding_asked_for_is_used_and_what_does_not_fit_is_counted() {
        let options = |label: &str| ReadOptions { encoding: Some(label.to_owned()), ..ReadOptions::default() };
        let (bytes, _, _) = encoding_rs::IBM866.encode("Слово о полку");
        let decoded = decode_as(&bytes, &options("cp866")).unwrap();
        assert_eq!(decoded.text, "Слово о полку");
        assert!(decoded.note.unwrap().contains("IBM866, as asked"));
        let wide = utf16(JAPANESE, u16::to_be_bytes);
        assert_eq!(decode_as(&wide, &options("utf-16be")).unwrap().text, JAPANESE);
        assert!(decode_as(&bytes, &options("utf-8")).unwrap().note.unwrap().contains("places do not fit"));
    }

    #[test]
    fn binary_data_is_no_text() {
        let bytes: Vec<u8> = (0..4000_u32).map(|i| (i * i % 251) as u8).collect();
        assert!(matches!(decode(&bytes), Err(ExtractError::Unsupported { .. })));
    }

    #[test]
    fn a_stray_nul_does_not_make_text_binary() {
        let text = format!("{}\0end", "a line of a log\n".repeat(20));
        assert_eq!(decode(text.as_bytes()).unwrap().text, text);
    }
}
