//! The properties at the head of a Markdown file, in YAML or TOML.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use super::Metadata;

/// Longer front matter holds something else.
const MOST_BYTES: usize = 64 << 10;

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
    let mut name: Option<String> = None;
    // A value waits until what follows it is read: on a line that cannot be read it was cut short.
    let mut held: Option<(String, String)> = None;
    let mut line = 0;
    for event in Parser::new_from_str(text) {
        let bad_line = event.as_ref().err().map(|err| err.marker().line());
        if let Some((name, value)) = held.take().filter(|_| bad_line != Some(line)) {
            found(&name, &value);
        }
        let (event, span) = event.map_err(|err| trouble_after(text, line, &err))?;
        // A block of text ends where the next line begins.
        line = line.max(span.end.line() - usize::from(span.end.col() == 0 && span.end.line() > 1));
        match event {
            Event::MappingStart(..) => open.push(Open::Mapping),
            Event::SequenceStart(..) => open.push(Open::Sequence),
            Event::MappingEnd | Event::SequenceEnd => {
                open.pop();
                if open == [Open::Mapping] {
                    name = None;
                }
            }
            Event::Scalar(value, style, ..) => {
                let is_null = style == ScalarStyle::Plain && matches!(&*value, "~" | "null");
                match (open.as_slice(), name.take()) {
                    ([Open::Mapping], None) => name = Some(value.into_owned()),
                    ([Open::Mapping], Some(name)) if !is_null => held = Some((name, value.into_owned())),
                    ([Open::Mapping, Open::Sequence], Some(list)) => {
                        held = Some((list.clone(), value.into_owned()));
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

fn read_toml(text: &str, found: &mut dyn FnMut(&str, &str)) -> Result<(), Trouble> {
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let table: toml::Table = text.parse().map_err(|err: toml::de::Error| Trouble {
        line: err.span().map_or(1, |span| line(span.start)),
        what: err.message().to_owned(),
    })?;
    for (name, value) in &table {
        match value {
            toml::Value::Array(items) => items.iter().filter_map(plain).for_each(|item| found(name, &item)),
            value => plain(value).into_iter().for_each(|value| found(name, &value)),
        }
    }
    Ok(())
}

fn plain(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(truth) => Some(truth.to_string()),
        toml::Value::Datetime(time) => Some(time.to_string()),
        toml::Value::Array(_) | toml::Value::Table(_) => None,
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
            ("a: 1\nb: [", "a=1", 3),
            ("summary: |\n  one\n}bad", "summary=one", 3),
        ] {
            assert_eq!(at(text, false), (expected.to_owned(), Some(line)), "{text:?}");
        }
        assert_eq!(at("a = 1\nb = ", true), (String::new(), Some(2)));
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
}
