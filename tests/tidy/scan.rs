//! Reading Rust without its comments and literals, and the module paths that code names.

/// The code of a Rust file: comments and the insides of string and character literals become spaces, so that bytes
/// and lines keep their places.
pub(crate) fn code_of(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => line_end(bytes, at),
            b'/' if bytes[at..].starts_with(b"/*") => block_end(bytes, at),
            b'"' => string_end(bytes, at),
            b'r' if !continues_word(bytes, at) => raw_string_end(bytes, at).unwrap_or(at),
            b'\'' => char_end(bytes, at).unwrap_or(at),
            _ => at,
        };
        for byte in code[at..end].iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
        at = end.max(at + 1);
    }
    String::from_utf8(code).expect("only whole literals were blanked")
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length)
}

fn block_end(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut end = at;
    while end < bytes.len() {
        if bytes[end..].starts_with(b"/*") {
            depth += 1;
            end += 2;
        } else if bytes[end..].starts_with(b"*/") {
            depth -= 1;
            end += 2;
            if depth == 0 {
                break;
            }
        } else {
            end += 1;
        }
    }
    end
}

fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    (end + 1).min(bytes.len())
}

/// The end of `r"…"` or `r#"…"#`; `None` where no raw string starts.
fn raw_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at + 1..].iter().take_while(|&&byte| byte == b'#').count();
    let open = at + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    let length = bytes[open + 1..].windows(close.len()).position(|window| window == close);
    Some(length.map_or(bytes.len(), |length| open + 1 + length + close.len()))
}

/// The end of a character literal; `None` for a lifetime.
fn char_end(bytes: &[u8], at: usize) -> Option<usize> {
    let first = *bytes.get(at + 1)?;
    if first == b'\\' {
        let close = bytes[at + 3..].iter().position(|&byte| byte == b'\'')?;
        return Some(at + 3 + close + 1);
    }
    let width = match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    (bytes.get(at + 1 + width) == Some(&b'\'')).then_some(at + width + 2)
}

fn continues_word(bytes: &[u8], at: usize) -> bool {
    at > 0 && is_word(bytes[at - 1])
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The word that starts at byte `at`, which may be empty.
pub(crate) fn word_at(code: &str, at: usize) -> &str {
    let length = code.as_bytes()[at..].iter().take_while(|&&byte| is_word(byte)).count();
    &code[at..at + length]
}

/// Where `word` stands as a word of its own.
pub(crate) fn find_word(code: &str, word: &str) -> Vec<usize> {
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(|&at| !continues_word(code.as_bytes(), at) && word_at(code, at) == word)
        .collect()
}

/// What code names directly under the path `prefix` (such as `crate`): byte and name, groups in braces opened.
pub(crate) fn names_under(code: &str, prefix: &str) -> Vec<(usize, String)> {
    find_word(code, prefix)
        .into_iter()
        .filter_map(|at| {
            let rest = at + prefix.len();
            code[rest..].starts_with("::").then_some(rest + 2)
        })
        .flat_map(
            |at| {
                if code[at..].starts_with('{') { group(code, at) } else { vec![(at, word_at(code, at).to_owned())] }
            },
        )
        .filter(|(_, name)| !name.is_empty())
        .collect()
}

/// The first word of each item of the braces that open at byte `at`.
fn group(code: &str, at: usize) -> Vec<(usize, String)> {
    let mut depth = 0_usize;
    let mut names = Vec::new();
    let mut item_starts = false;
    for (offset, byte) in code.bytes().enumerate().skip(at) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && matches!(byte, b'{' | b',') {
            item_starts = true;
        } else if item_starts && is_word(byte) {
            names.push((offset, word_at(code, offset).to_owned()));
            item_starts = false;
        }
    }
    names
}

#[test]
fn comments_and_literals_are_no_code() {
    let text = "let a = \"crate::x\"; // crate::y\nlet b = 'c'; /* crate::z /* deeper */ */ fn f<'a>(c: &'a str) {}";
    let code = code_of(text);
    assert_eq!(code.len(), text.len());
    assert!(!code.contains("crate"), "{code}");
    assert!(code.contains("fn f<'a>(c: &'a str) {}"), "{code}");
}

#[test]
fn raw_strings_and_quotes_as_characters_end_where_they_should() {
    let code = code_of("let a = r#\"say \"crate::x\" \"#; let b = '\"'; let c = '\\''; crate::y();");
    assert_eq!(names_under(&code, "crate").iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>(), ["y"]);
}

#[test]
fn groups_are_opened_one_level() {
    let code = "use crate::{chunk::{self, Chunk}, store, embed::hash}; use supercrate::no; crate::extract::f();";
    let names: Vec<String> = names_under(code, "crate").into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["chunk", "store", "embed", "extract"]);
}
