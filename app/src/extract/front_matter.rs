//! The properties at the head of a Markdown file, in YAML or TOML.

use std::ops::Range;
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};
use toml::de::{DeTable, DeValue};

use super::Metadata;

/// Longer front matter holds something else.
pub(super) const MOST_BYTES: usize = 64 << 10;

/// Where the front matter of a text stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Its bytes, without the lines that open and close it.
    pub(super) properties: Range<usize>,
    /// It stands between `+++`, not `---`.
    pub(super) is_toml: bool,
    /// How many lines there are up to the one that opens it, with that one.
    pub(super) lines_before: usize,
    /// Where the line after it begins.
    pub(super) end: usize,
}

/// Finds the front matter: from the first line that is not blank, if that is `---` or `+++`, to the next such line
/// (or `...`). What a blank line follows, or nothing closes, is a thematic break.
pub(super) fn find(text: &str) -> Option<Head> {
    let mut lines = text.split_inclusive('\n');
    let mut at = 0;
    let mut lines_before = 0;
    let opener = loop {
        let line = lines.next()?;
        at += line.len();
        lines_before += 1;
        if !line.trim().is_empty() {
            break line.trim_end();
        }
    };
    let closers: &[&str] = match opener {
        "---" => &["---", "..."],
        "+++" => &["+++"],
        _ => return None,
    };
    let start = at;
    for line in lines {
        let is_closer = closers.contains(&line.trim_end());
        if at == start && (is_closer || line.trim().is_empty()) {
            return None;
        }
        if is_closer {
            return Some(Head { properties: start..at, is_toml: opener == "+++", lines_before, end: at + line.len() });
        }
        at += line.len();
    }
    None
}

/// What the head of a file gives beside its properties.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    /// The title as it stands.
    pub(super) title: Option<String>,
    /// What is wrong with it.
    pub(super) trouble: Option<Trouble>,
}

/// Why front matter was not read to its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The first line that was not read, counted from 1.
    pub(super) line: usize,
    /// What is wrong.
    pub(super) what: String,
}

/// Adds the properties that have a value of their own or a list of them; what is nested deeper is passed over, and what
/// cannot be read ends it.
pub(super) fn add(metadata: &mut Metadata, text: &str, is_toml: bool) -> FrontMatter {
    if text.len() > MOST_BYTES {
        let what = format!("there are {} bytes, and at most {MOST_BYTES} are read", text.len());
        return FrontMatter { title: None, trouble: Some(Trouble { line: 1, what }) };
    }
    let mut title = None;
    let mut found = |name: &str, value: &str| {
        if name == "title" && title.is_none() {
            title = Some(value.to_owned());
        }
        metadata.add(name, value);
    };
    let read = if is_toml { read_toml(text, &mut found) } else { read_yaml(text, &mut found) };
    FrontMatter { title, trouble: read.err() }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Mapping,
    Sequence,
}

/// Aliases are not followed, so that a few lines stay a few values.
fn read_yaml(text: &str, found: &mut dyn FnMut(&str, &str)) -> Result<(), Trouble> {
    let mut open = Vec::new();
    // Shared with the values of a list: a long name of a long list would take the product of both.
    let mut name: Option<Rc<str>> = None;
    // A value waits until what follows it is read, and one in brackets until they are closed: on a line that cannot
    // be read it was cut short.
    let mut held: Vec<(Rc<str>, String)> = Vec::new();
    // What was open before the outermost brackets around the event, and the line that they begin on.
    let mut brackets: Option<(usize, usize)> = None;
    let mut line = 0;
    for event in Parser::new_from_str(text) {
        let bad_line = event.as_ref().err().map(|err| err.marker().line());
        if brackets.is_none() {
            let whole = held.drain(..).filter(|_| bad_line != Some(line));
            whole.for_each(|(name, value)| found(&name, &value));
        }
        let (event, span) = event.map_err(|err| match brackets {
            Some((_, line)) => Trouble { line, what: err.info().to_owned() },
            None => trouble_after(text, line, &err),
        })?;
        // A block of text ends where the next line begins.
        line = line.max(span.end.line() - usize::from(span.end.col() == 0 && span.end.line() > 1));
        // Without brackets a list has no start of its own, or an anchor on a line before it.
        let is_on_a_line = span.start != span.end && span.start.line() == span.end.line();
        if brackets.is_none() && is_on_a_line && matches!(event, Event::MappingStart(..) | Event::SequenceStart(..)) {
            brackets = Some((open.len(), span.start.line()));
        }
        match event {
            Event::MappingStart(..) => open.push(Open::Mapping),
            Event::SequenceStart(..) => open.push(Open::Sequence),
            Event::MappingEnd | Event::SequenceEnd => {
                open.pop();
                brackets = brackets.filter(|(outside, _)| *outside < open.len());
                if open == [Open::Mapping] {
                    name = None;
                }
            }
            Event::Scalar(value, style, ..) => {
                let is_null = style == ScalarStyle::Plain && matches!(&*value, "~" | "null");
                match (open.as_slice(), name.take()) {
                    ([Open::Mapping], None) => name = Some(Rc::from(value)),
                    ([Open::Mapping], Some(name)) if !is_null => held.push((name, value.into_owned())),
                    ([Open::Mapping, Open::Sequence], Some(list)) => {
                        held.push((Rc::clone(&list), value.into_owned()));
                        name = Some(list);
                    }
                    ([_, _, ..], kept) => name = kept,
                    _ => {}
                }
            }
            Event::Alias(_) if open == [Open::Mapping] => name = None,
            Event::DocumentEnd => break,
            _ => {}
        }
    }
    Ok(())
}

/// The first line with something on it after `read`, up to which all was read: the parser stops some lines later.
fn trouble_after(text: &str, read: usize, err: &ScanError) -> Trouble {
    let stopped = err.marker().line().max(1);
    let lines = text.lines().enumerate().skip(read);
    let first = lines.filter(|(_, line)| !line.trim().is_empty()).map(|(index, _)| index + 1).next();
    Trouble { line: first.unwrap_or(stopped).min(stopped), what: err.info().to_owned() }
}

/// Reads what stands before the first line with an error: the parser goes on after one, and gives them in no order.
fn read_toml(text: &str, found: &mut dyn FnMut(&str, &str)) -> Result<(), Trouble> {
    let (document, errors) = DeTable::parse_recoverable(text);
    let table = document.get_ref();
    let first = errors.iter().min_by_key(|err| error_start(err));
    let end = first.map_or(text.len(), |err| {
        let at = error_start(err);
        line_start(text, property_around(table, at).unwrap_or(at))
    });
    for (name, value) in table.iter().filter(|(name, _)| name.span().start < end) {
        match value.get_ref() {
            DeValue::Array(items) => {
                items.iter().filter_map(|item| plain(item.get_ref())).for_each(|item| found(name.get_ref(), &item));
            }
            value => plain(value).into_iter().for_each(|value| found(name.get_ref(), &value)),
        }
    }
    match first {
        Some(err) => {
            let line = text.bytes().take(end).filter(|byte| *byte == b'\n').count() + 1;
            Err(Trouble { line, what: err.message().to_owned() })
        }
        None => Ok(()),
    }
}

fn error_start(err: &toml::de::Error) -> usize {
    err.span().map_or(0, |span| span.start)
}

fn line_start(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    before.iter().rposition(|byte| *byte == b'\n').map_or(0, |line_end| line_end + 1)
}

/// Where the property begins in whose value `at` is: a list that nothing closes reaches over the lines after it.
fn property_around(table: &DeTable<'_>, at: usize) -> Option<usize> {
    table.iter().find_map(|(name, value)| {
        let start = name.span().start;
        if (start..=value.span().end).contains(&at) {
            return Some(start);
        }
        match value.get_ref() {
            DeValue::Table(inner) => property_around(inner, at),
            DeValue::Array(items) => items.iter().find_map(|item| property_around(item.get_ref().as_table()?, at)),
            _ => None,
        }
    })
}

/// A value as it stands, if it is neither a list nor a table.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(truth) => Some(truth.to_string()),
        DeValue::Datetime(time) => Some(time.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, is_toml: bool) -> (Vec<String>, FrontMatter) {
        let mut metadata = Metadata::default();
        let front_matter = add(&mut metadata, text, is_toml);
        (metadata.iter().map(|(name, values)| format!("{name}={}", values.join("|"))).collect(), front_matter)
    }

    #[test]
    fn yaml_gives_values_and_lists_and_nothing_deeper() {
        let yaml = "title: \"Tide tables\" # draft\nrating: 4.5 # of five\ntags: [\"a, b\", 'harbour']\nauthors:\n  - Ada\n  - Bo\n\
                    people:\n  - name: Cy\nnested:\n  deep: - x\nseries: [\n  one,\n  two\n]\nempty:\nnone: ~\n\
                    url: https://example.org/a\nlong: |\n  one\n  two\nlast: yes\n";
        let (found, front_matter) = read(&yaml.replace("deep: - x", "deep:\n    - x"), false);
        let expected = [
            "author=Ada|Bo",
            "last=yes",
            "long=one two",
            "rating=4.5",
            "series=one|two",
            "tag=a, b|harbour",
            "title=Tide tables",
            "url=https://example.org/a",
        ];
        assert_eq!(found, expected);
        assert_eq!(front_matter, FrontMatter { title: Some("Tide tables".to_owned()), trouble: None });
    }

    #[test]
    fn toml_gives_values_and_lists_and_nothing_deeper() {
        let toml = "title = \"Tides\"\ndraft = true\ndate = 2024-05-31T10:00:00Z\ntags = [\"a\", \"b\"]\n[extra]\ncolour = \"red\"\n";
        let (found, front_matter) = read(toml, true);
        assert_eq!(front_matter.trouble, None);
        assert_eq!(found, ["date=2024-05-31", "draft=true", "tag=a|b", "title=Tides"]);
    }

    #[test]
    fn what_cannot_be_read_or_is_huge_ends_it_and_is_named() {
        let at = |text: &str, is_toml| {
            let (found, front_matter) = read(text, is_toml);
            (found.join(" "), front_matter.trouble.map(|trouble| trouble.line))
        };
        for (text, expected, line) in [
            ("title: Tides: spring", "", 1),
            ("a: 1\ntitle: Tides: spring\nb: 2", "a=1", 2),
            ("title: Tides\njust text\n\nauthor: Ada", "title=Tides", 2),
            ("title: Tides\n\njust text", "title=Tides", 3),
            ("a: 1\nb: [", "a=1", 2),
            ("a: 1\ntags: [x, y\nauthor: Ada\nb: 2\n", "a=1", 2),
            ("a: 1\nseries: {x: 1,\n  y: 2\nb: 2\n", "a=1", 2),
            ("tags:\n  [x, y\nauthor: Ada\n", "", 2),
            ("authors:\n- Ada\n- [x, y\nb: 1\n", "author=Ada", 3),
            ("tags: [x, y] z\nauthor: Ada\n", "", 1),
            ("a: [x]\nb: {y: 1}\nc: d: e\n", "a=x", 3),
            ("a: 1\nb: \"x\nc: 2\n", "a=1", 2),
            ("summary: |\n  one\n}bad", "summary=one", 3),
        ] {
            assert_eq!(at(text, false), (expected.to_owned(), Some(line)), "{text:?}");
        }
        for (text, expected, line) in [
            ("a = 1\nb = ", "a=1", 2),
            ("a = 1\n\n# b\ntitle = Tides\nc = 2\n", "a=1", 4),
            ("a = 1\nb = yes\ntags = [\"x\"\n", "a=1", 2),
            ("a = 1\ntags = [\"x\",\n  \"y\"\nauthor = \"Ada\"\n", "a=1", 2),
            ("a = 1\ntext = \"\"\"one\ntwo\n", "a=1", 2),
            ("a = 1\nb = 2\na = 3\n", "a=1 b=2", 3),
            ("a = 1\n[extra]\ncolour = \"red\"\nsizes = [\n1,\n", "a=1", 4),
            ("title = \"Tides\" spring\n", "", 1),
        ] {
            assert_eq!(at(text, true), (expected.to_owned(), Some(line)), "{text:?}");
        }
        let huge = read(&format!("a: {}", "x".repeat(MOST_BYTES)), false).1.trouble;
        assert!(huge.is_some_and(|trouble| trouble.what.contains("65539")));
        assert_eq!(read("a: &x [1, 2]\nb: *x\nc: 3", false).0, ["a=1|2", "c=3"]);
        assert_eq!(read(&"[".repeat(30_000), false).0, Vec::<String>::new());
    }

    #[test]
    fn a_title_is_given_as_it_stands() {
        let read = read("title: 2024-05-31 10:00 Standup", false);
        assert_eq!(read.1.title.as_deref(), Some("2024-05-31 10:00 Standup"));
    }

    #[test]
    fn front_matter_is_at_the_head_closed_and_not_blank() {
        let found = |text: &str| {
            find(text).map(|head| {
                let properties = text[head.properties].to_owned();
                (properties, head.is_toml, head.lines_before, text[head.end..].to_owned())
            })
        };
        let some = |properties: &str, is_toml: bool, lines: usize, rest: &str| {
            Some((properties.to_owned(), is_toml, lines, rest.to_owned()))
        };
        for (text, expected) in [
            ("---\na: 1\n---\n# Head", some("a: 1\n", false, 1, "# Head")),
            ("\n \n--- \na: 1\n\nb: 2\n...\n", some("a: 1\n\nb: 2\n", false, 3, "")),
            ("+++\r\na = 1\r\n---\r\n+++\r\n\r\nx", some("a = 1\r\n---\r\n", true, 1, "\r\nx")),
            ("---\na: 1\n----\n ---\n---", some("a: 1\n----\n ---\n", false, 1, "")),
            ("---\na: 1\n+++\n", None),
            ("---\n\na: 1\n---\n", None),
            ("---\n---\na: 1\n---\n", None),
            ("----\na: 1\n----\n", None),
            (" ---\na: 1\n---\n", None),
            ("x\n---\na: 1\n---\n", None),
            ("--- x\na: 1\n---\n", None),
            ("---", None),
            ("", None),
        ] {
            assert_eq!(found(text), expected, "{text:?}");
        }
    }

    #[test]
    fn hostile_front_matter_takes_no_longer_than_any_other() {
        let started = std::time::Instant::now();
        let long_name = "n".repeat(30_000);
        for text in [
            "[".repeat(60_000),
            "{a: ".repeat(16_000),
            "- ".repeat(30_000),
            "? ".repeat(30_000),
            format!("{{{long_name}: [{}]}}", "x,".repeat(16_000)),
            format!("{{{long_name}: [{}", "x,".repeat(16_000)),
            "a: b\n".repeat(12_000),
            "a = [".repeat(12_000),
            "[a]\n".repeat(16_000),
            "= \n".repeat(20_000),
            format!("{long_name} = [{}]", "1,".repeat(16_000)),
            format!("a = [{}", "\n1".repeat(30_000)),
            format!("{} = 1", "a.".repeat(30_000)),
        ] {
            for is_toml in [false, true] {
                read(&text, is_toml);
            }
        }
        assert!(started.elapsed().as_secs() < 2, "{:?}", started.elapsed());
    }
}
