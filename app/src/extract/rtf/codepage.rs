//! Which encoding the code pages and character sets of RTF are.

use encoding_rs::{Encoding, WINDOWS_1252};

/// The encoding of `\ansicpgN`.
pub(super) fn of_code_page(number: i32) -> &'static Encoding {
    let label = match number {
        866 => "ibm866",
        874 => "windows-874",
        932 => "shift_jis",
        936 => "gbk",
        949 => "euc-kr",
        950 => "big5",
        1250..=1258 => return of_label(&format!("windows-{number}")),
        10_000 => "macintosh",
        65_001 => "utf-8",
        _ => "windows-1252",
    };
    of_label(label)
}

/// The encoding of `\fcharsetN`; `None` where the document's own code page counts.
pub(super) fn of_charset(number: i32) -> Option<&'static Encoding> {
    let code_page = match number {
        77 => 10_000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    };
    Some(of_code_page(code_page))
}

fn of_label(label: &str) -> &'static Encoding {
    Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252)
}
