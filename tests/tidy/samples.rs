//! The samples and their questions belong together: `tests/data/questions.toml` is the record.

use toml::{Table, Value};

use crate::tree::{assert_none, full, paths};

/// Formats that a test can search as they are; PDF and DOCX need a reader.
const PLAIN: [&str; 7] = ["csv", "html", "json", "md", "py", "rs", "txt"];

fn record() -> Table {
    std::fs::read_to_string(full("tests/data/questions.toml")).unwrap().parse().unwrap()
}

fn tables<'a>(record: &'a Table, key: &str) -> Vec<&'a Table> {
    record[key].as_array().unwrap().iter().filter_map(Value::as_table).collect()
}

#[test]
fn the_questions_shown_are_the_questions_recorded() {
    let shown = std::fs::read_to_string(full("assets/questions.txt")).unwrap();
    let record = record();
    let all: Vec<&str> = ["answerable", "unanswerable"]
        .iter()
        .flat_map(|key| tables(&record, key))
        .filter_map(|question| question["question"].as_str())
        .collect();
    assert_eq!(shown.lines().collect::<Vec<_>>(), all, "assets/questions.txt and tests/data/questions.toml differ");
    assert!(all.len() >= 12, "only {} questions", all.len());
}

#[test]
fn each_answer_stands_in_its_sample() {
    let record = record();
    let mut found = Vec::new();
    for question in tables(&record, "answerable") {
        let source = question["source"].as_str().unwrap();
        let phrase = question["phrase"].as_str().unwrap();
        let path = full(&format!("assets/samples/{source}"));
        let is_plain = PLAIN.iter().any(|ext| source.ends_with(&format!(".{ext}")));
        let answered = if is_plain {
            let words = std::fs::read_to_string(path).unwrap();
            let one_line = words.split_whitespace().collect::<Vec<_>>().join(" ");
            one_line.contains(phrase)
        } else {
            path.is_file()
        };
        if !answered {
            found.push(format!("{source}: {phrase}"));
        }
    }
    assert_none("an answer that its sample does not hold", &found);
}

#[test]
fn the_samples_show_at_least_eight_formats() {
    let mut formats: Vec<String> = paths()
        .iter()
        .filter_map(|path| path.strip_prefix("assets/samples/"))
        .filter_map(|name| Some(name.rsplit_once('.')?.1.to_owned()))
        .collect();
    formats.sort();
    formats.dedup();
    assert!(formats.len() >= 8, "the samples have only these formats: {formats:?}");
}
