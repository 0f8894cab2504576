//! What comes out of the annotator.

use proptest::prelude::*;

use super::*;
use crate::answer::samples::hits;
use crate::retrieve::SearchHit;

fn annotate(hits: &[SearchHit], pieces: &[&str]) -> (String, Annotations) {
    let mut annotator = Annotator::new(&Passage::number_all(hits));
    let mut shown = String::new();
    for piece in pieces {
        shown.push_str(&annotator.push(piece));
    }
    shown.push_str(&annotator.finish());
    (shown, annotator.into_annotations())
}

fn contract() -> Vec<SearchHit> {
    hits(&[
        "Drilling is paid per metre. Standby time is paid at 145 euros per hour.",
        "Notice of 21 days ends the contract.",
    ])
}

#[test]
fn a_good_marker_stays_and_quotes_its_sentence() {
    let (shown, found) = annotate(&contract(), &["Standby time costs 145 euros per hour [1]."]);
    assert_eq!(shown, "Standby time costs 145 euros per hour [1].");
    assert_eq!(found.citations[0].quote, "Standby time is paid at 145 euros per hour.");
    assert_eq!(found.dropped, 0);
}

#[test]
fn markers_that_name_nothing_or_the_wrong_thing_are_replaced() {
    let (shown, found) = annotate(
        &contract(),
        &["Notice of 21 days ends the contract [7]", ". Standby is paid 145 euros per hour. [2]\n"],
    );
    assert_eq!(shown, "Notice of 21 days ends the contract. [2] Standby is paid 145 euros per hour. [1]\n");
    assert_eq!(found.dropped, 2);
    assert_eq!(found.citations.len(), 2);
}

#[test]
fn a_sentence_without_a_marker_gets_one() {
    let (shown, found) = annotate(&contract(), &["The contract ends with a notice of 21 days."]);
    assert_eq!(shown, "The contract ends with a notice of 21 days. [2]");
    assert_eq!(found.citations[0].marker, 2);
}

#[test]
fn what_no_passage_says_is_not_cited() {
    let (shown, found) = annotate(&contract(), &["Whales sing at night [1]. See list[0] and [x]."]);
    assert_eq!(shown, "Whales sing at night. [?] See list and [x]. [?]");
    assert!(found.citations.is_empty());
    assert_eq!((found.dropped, found.checked, found.unsupported.len()), (2, 2, 2));
    assert_eq!(found.unsupported[0].sentence, "Whales sing at night.");
}

#[test]
fn a_model_cannot_write_the_mark_of_doubt() {
    let (shown, found) = annotate(&contract(), &["Notice of 21 days ends the contract. [?]"]);
    assert_eq!(shown, "Notice of 21 days ends the contract. [2]");
    assert!(found.unsupported.is_empty());
}

#[test]
fn what_is_left_around_a_dropped_marker_is_no_marker() {
    let (shown, _) = annotate(&contract(), &["a[[0]0] and [1[2]2]"]);
    assert!(!shown.contains("[0]") && !shown.contains("[12]"), "{shown}");
}

#[test]
fn an_unclosed_bracket_is_text() {
    let (shown, _) = annotate(&contract(), &["Open [1"]);
    assert_eq!(shown, "Open [1 [?]");
}

#[test]
fn lines_and_bytes_of_a_quote_are_the_documents() {
    let hits = hits(&["First line.\nStandby time is paid at 145 euros."]);
    let (_, found) = annotate(&hits, &["Standby time is paid at 145 euros."]);
    let citation = &found.citations[0];
    assert_eq!(citation.lines, (11, 11));
    assert_eq!((citation.start, citation.end), (1012, 1046));
}

fn manual() -> Vec<SearchHit> {
    hits(&[
        "Standby time is paid at 145 euros per hour.",
        "Open the mast first:\n\n    let limits = [12, 20, 3];\n    open_mast(limits[0]);\n",
        "| Wind | Stops |\n|---|---|\n| over 12 m/s | small boats |\n| over 20 m/s | field work |\n",
    ])
}

#[test]
fn code_stays_as_it_is_and_is_judged_as_a_whole() {
    let code = "```rust\nlet limits = [12, 20, 3];\nopen_mast(limits[0]);\n```";
    let (shown, found) =
        annotate(&manual(), &[&format!("Open the mast first:\n{code}\nStandby is paid 145 euros per hour.")]);
    assert_eq!(shown, format!("Open the mast first: [2]\n{code}\n\n[2]\n\nStandby is paid 145 euros per hour. [1]"));
    assert_eq!((found.dropped, found.checked, found.unsupported.len()), (0, 3, 0));
    let quotes: Vec<&str> = found.citations.iter().map(|citation| citation.quote.trim()).collect();
    assert!(quotes.iter().any(|quote| quote.contains("[12, 20, 3]") && quote.ends_with("(limits[0]);")), "{quotes:?}");
}

#[test]
fn code_that_no_passage_holds_is_marked() {
    let (shown, found) = annotate(&manual(), &["~~~\nlet v = [1, 2, 3];\nsing(v[0]);\n~~~\n\nThen."]);
    assert!(shown.starts_with("~~~\nlet v = [1, 2, 3];\nsing(v[0]);\n~~~\n\n[?]\n\nThen."), "{shown}");
    assert_eq!((found.unsupported[0].sentence.as_str(), found.dropped), ("let v = [1, 2, 3]; …", 0));
    let (cut_off, _) = annotate(&manual(), &["```\nlet v = [7"]);
    assert_eq!(cut_off, "```\nlet v = [7\n```\n\n[?]");
    let (in_list, _) = annotate(&manual(), &["- ```\n  sing(v[0]);\n  ```\n- next"]);
    assert!(in_list.starts_with("- ```\n  sing(v[0]);\n  ```\n\n  [?]\n\n- next"), "{in_list}");
    let (empty, found) = annotate(&manual(), &["```\n```\n"]);
    assert_eq!((empty.as_str(), found.checked), ("```\n```\n", 0));
}

#[test]
fn brackets_in_code_spans_are_text() {
    let (shown, found) = annotate(&manual(), &["Call `open_mast(limits[0])` [2]. Then `[1, 2]`."]);
    assert!(shown.starts_with("Call `open_mast(limits[0])` [2]. Then `[1, 2]`."), "{shown}");
    assert_eq!(found.dropped, 0);
    let (shown, found) = annotate(&manual(), &["A ` stays open [7], ``too.\nStandby is paid 145 euros per hour [2]."]);
    assert_eq!(shown, "A ` stays open, ``too. [?]\nStandby is paid 145 euros per hour. [1]");
    assert_eq!(found.dropped, 2);
}

#[test]
fn a_row_has_its_marker_in_its_last_cell() {
    let head = "| Wind | Stops |\n|:--|--:|\n";
    let (shown, found) = annotate(
        &manual(),
        &[
            head,
            "| over 12 m/s [3] | small boats |\n| over 20 m/s | field work | [9]\n| over 20 m/s | whales sing |\n\nStandby.",
        ],
    );
    let rows =
        "| over 12 m/s | small boats [3] |\n| over 20 m/s | field work [3] |\n| over 20 m/s | whales sing [?] |\n";
    assert!(shown.starts_with(&format!("{head}{rows}\nStandby.")), "{shown}");
    assert_eq!((found.dropped, found.checked), (1, 4));
    assert_eq!(cells_of_rows(&shown), [2, 2, 2, 2]);
    let (cut_off, _) = annotate(&manual(), &[head, "| over 12 m/s | small b"]);
    assert!(cut_off.ends_with("| over 12 m/s | small b [3]"), "{cut_off}");
    let (alone, _) = annotate(&manual(), &["| over 12 m/s | small boats |"]);
    assert_eq!(alone, "| over 12 m/s | small boats | [3]", "a line of pipes is no table");
}

/// How many cells the rows of a Markdown text's tables have; nothing where no line is taken for a table.
fn cells_of_rows(markdown: &str) -> Vec<usize> {
    use pulldown_cmark::{Event, Options, Parser, TagEnd};
    let mut rows = Vec::new();
    let mut cells = 0;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::End(TagEnd::TableCell) => cells += 1,
            Event::End(TagEnd::TableHead | TagEnd::TableRow) => rows.push(std::mem::take(&mut cells)),
            _ => {}
        }
    }
    rows
}

#[test]
fn headings_and_list_items_are_judged_like_sentences() {
    let (shown, _) =
        annotate(&contract(), &["# Notice of 21 days\n\n- Standby is paid 145 euros per hour:\n- Whales:"]);
    assert_eq!(shown, "# Notice of 21 days [2]\n\n- Standby is paid 145 euros per hour: [1]\n- Whales: [?]");
}

proptest! {
    #[test]
    fn streaming_in_any_pieces_gives_the_same_answer(
        text in "(Notice of 21 days|Standby is paid 145 euros per hour|whales|\\[[0-9]{1,2}\\]|\\[|\\]|\\. |\n| |。|\
                 `|``|\n```|```\n|~~~|\\||\n\\| a \\|\n\\|---\\|\n|\n\\| 21 days \\||- |1\\. |> ){0,18}",
        cuts in proptest::collection::vec(1_usize..9, 0..30),
    ) {
        let hits = contract();
        let (whole, _) = annotate(&hits, &[&text]);
        let letters: Vec<char> = text.chars().collect();
        let mut pieces = Vec::new();
        let mut rest = letters.as_slice();
        for cut in cuts {
            let (head, tail) = rest.split_at(cut.min(rest.len()));
            pieces.push(head.iter().collect::<String>());
            rest = tail;
        }
        pieces.push(rest.iter().collect());
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let (streamed, found) = annotate(&hits, &pieces);
        prop_assert_eq!(&streamed, &whole);
        for citation in &found.citations {
            let chunk = &hits[citation.marker as usize - 1].chunk;
            prop_assert_eq!(&chunk.text[citation.start - chunk.start..citation.end - chunk.start], &citation.quote);
            let shown = format!("[{}]", citation.marker);
            prop_assert!(streamed.contains(&shown));
        }
    }

    /// Brackets in brackets, which random text seldom has.
    #[test]
    fn no_marker_is_left_of_nested_ones(pieces in proptest::collection::vec("[0-9]|\\[|\\]| |a", 0..12)) {
        let (shown, found) = annotate(&contract(), &[&pieces.concat()]);
        for rest in shown.split('[').skip(1) {
            let number = rest.split_once(']').and_then(|(inside, _)| inside.parse::<u32>().ok());
            if let Some(number) = number {
                prop_assert!(found.citations.iter().any(|citation| citation.marker == number), "{shown:?}");
            }
        }
    }

    #[test]
    fn every_marker_shown_names_a_citation(text in "[a-z0-9 .\\[\\]]{0,60}") {
        let (shown, found) = annotate(&contract(), &[&text]);
        let mut rest = shown.as_str();
        while let Some(at) = rest.find('[') {
            rest = &rest[at + 1..];
            let number = rest.split(']').next().and_then(|inside| inside.parse::<u32>().ok());
            if let Some(number) = number.filter(|_| rest.contains(']')) {
                prop_assert!(found.citations.iter().any(|citation| citation.marker == number));
            }
        }
    }
}
