//! The properties at the head of a Markdown file, in YAML or TOML.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::Metadata;

/// Longer front matter holds something else.
const MOST_BYTES: usize = 64 << 10;

/// Adds the properties that have a value of their own or a list of them; what is nested deeper is passed over, and what
/// cannot be read ends it. Gives the title as it stands.
pub(super) fn add(metadata: &mut Metadata, text: &str, is_toml: bool) -> Option<String> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let mut title = None;
    let mut found = |name: &str, value: &str| {
        if name == "title" && title.is_none() {
            title = Some(value.to_owned());
        }
        metadata.add(name, value);
    };
    if is_toml {
        read_toml(text, &mut found);
    } else {
        read_yaml(text, &mut found);
    }
    title
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Mapping,
    Sequence,
}

/// Aliases are not followed, so that a few lines stay a few values.
fn read_yaml(text: &str, found: &mut dyn FnMut(&str, &str)) {
    let mut open = Vec::new();
    let mut name: Option<String> = None;
    for event in Parser::new_from_str(text) {
        let Ok((event, _)) = event else { return };
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
                    ([Open::Mapping], Some(name)) if !is_null => found(&name, &value),
                    ([Open::Mapping, Open::Sequence], Some(list)) => {
                        found(&list, &value);
                        name = Some(list);
                    }
                    ([_, _, ..], kept) => name = kept,
                    _ => {}
                }
            }
            Event::Alias(_) if open == [Open::Mapping] => name = None,
            Event::DocumentEnd => return,
            _ => {}
        }
    }
}

fn read_toml(text: &str, found: &mut dyn FnMut(&str, &str)) {
    let Ok(table) = text.parse::<toml::Table>() else { return };
    for (name, value) in &table {
        match value {
            toml::Value::Array(items) => items.iter().filter_map(plain).for_each(|item| found(name, &item)),
            value => plain(value).into_iter().for_each(|value| found(name, &value)),
        }
    }
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

    fn read(text: &str, is_toml: bool) -> (Vec<String>, Option<String>) {
        let mut metadata = Metadata::default();
        let title = add(&mut metadata, text, is_toml);
        (metadata.iter().map(|(name, values)| format!("{name}={}", values.join("|"))).collect(), title)
    }

    #[test]
    fn yaml_gives_values_and_lists_and_nothing_deeper() {
        let yaml = "title: \"Tide tables\" # draft\nrating: 4.5 # of five\ntags: [\"a, b\", 'harbour']\nauthors:\n  - Ada\n  - Bo\n\
                    people:\n  - name: Cy\nnested:\n  deep: - x\nseries: [\n  one,\n  two\n]\nempty:\nnone: ~\n\
                    url: https://example.org/a\nlong: |\n  one\n  two\nlast: yes\n";
        let (found, title) = read(&yaml.replace("deep: - x", "deep:\n    - x"), false);
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
        assert_eq!((found, title.as_deref()), (expected.map(str::to_owned).to_vec(), Some("Tide tables")));
    }

    #[test]
    fn toml_gives_values_and_lists_and_nothing_deeper() {
        let toml = "title = \"Tides\"\ndraft = true\ndate = 2024-05-31T10:00:00Z\ntags = [\"a\", \"b\"]\n[extra]\ncolour = \"red\"\n";
        let (found, _) = read(toml, true);
        assert_eq!(found, ["date=2024-05-31", "draft=true", "tag=a|b", "title=Tides"]);
    }

    #[test]
    fn what_cannot_be_read_or_is_huge_ends_it() {
        assert_eq!(read("a: 1\nb: [", false).0, ["a=1"]);
        assert_eq!(read("a = ", true).0, Vec::<String>::new());
        assert_eq!(read("a: &x [1, 2]\nb: *x\nc: 3", false).0, ["a=1|2", "c=3"]);
        assert_eq!(read(&format!("a: {}", "x".repeat(MOST_BYTES)), false).0, Vec::<String>::new());
        assert_eq!(read(&"[".repeat(30_000), false).0, Vec::<String>::new());
    }

    #[test]
    fn a_title_is_given_as_it_stands() {
        assert_eq!(read("title: 2024-05-31 10:00 Standup", false).1.as_deref(), Some("2024-05-31 10:00 Standup"));
    }
}
