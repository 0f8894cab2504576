//! The search space: a query, its hits, and a hit in full.

use egui::Role;
use egui_kittest::kittest::Queryable;
use outcrop::command::Command;
use outcrop::retrieve::{SearchMode, SearchOptions};
use outcrop::state::{AppState, Space};

use crate::bench::Bench;

fn searched(query: &str) -> Bench {
    let mut bench = Bench::filled();
    bench.harness.state_mut().as_mut().unwrap().push(Command::ShowSpace(Space::Search));
    bench.settle();
    bench.harness.get_by_label("Query").type_text(query);
    bench.until(|state| !state.search.results.is_pending() && state.search.results.value().is_some());
    bench
}

#[test]
fn hits_show_their_document_and_open_in_the_inspector() {
    let mut bench = searched("reset the pump");
    bench.harness.get_by_role_and_label(Role::ListItem, "Hit 1: geology.txt").click();
    bench.settle();
    bench.harness.get_by_label_contains("Hold the red button");
    bench.harness.get_by_role_and_label(Role::Button, "Copy text");
    bench.harness.get_by_role_and_label(Role::Button, "Open in Chunks").click();
    bench.until(|state| state.space == Space::Chunks && state.lab.result.value().is_some());
}

#[test]
fn a_passage_without_pages_is_shown_in_its_place() {
    let mut bench = Bench::empty();
    let filler =
        |word: &str| format!("A line about {word} and nothing else that matters to anybody here.\n\n").repeat(40);
    bench.write("notes.md", &format!("{}The red kettle sings.\n\n{}", filler("gravel"), filler("heather")));
    bench.drop_files(&[""]);
    bench.until(|state| state.library.totals().0 == 1 && state.library.ingest.is_none());
    bench.push(Command::Search("red kettle sings".to_owned()));
    bench.until(|state| !state.search.results.is_pending() && state.search.results.value().is_some());
    let (start, end, text) = {
        let hit = &bench.state().search.results.value().unwrap().hits[0];
        (hit.chunk.start, hit.chunk.end, hit.chunk.text.clone())
    };
    bench.push(Command::ShowSpace(Space::Search));
    bench.push(Command::SelectHit(0));
    bench.until(|state| state.pages.around.is_some());
    let around = bench.state().pages.around.clone().unwrap();
    assert!(text.contains("red kettle") && start > 480 && end > start, "{text}");
    assert!(around.before.starts_with("… ") && around.before.contains("gravel"), "{around:?}");
    assert!(around.after.ends_with(" …") && around.after.contains("heather"), "{around:?}");
    bench.harness.get_by_label_contains(around.before.trim_end());
}

#[test]
fn the_legs_can_be_chosen() {
    let mut bench = searched("kettle");
    bench.harness.get_by_role_and_label(Role::RadioButton, "Words").click();
    bench.until(|state| {
        state.search.results.value().is_some_and(|results| results.mode == SearchMode::Keyword)
            && !state.search.results.is_pending()
    });
    let hits = &bench.state().search.results.value().unwrap().hits;
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit.scores.vector.is_none() && hit.scores.keyword.is_some()));
}

#[test]
fn the_filter_row_narrows_the_documents() {
    let mut bench = Bench::empty();
    bench.write("pump.txt", "Hold the red button of the pump.");
    bench.write("old/log.md", "The pump hums. Its red button is worn.");
    bench.drop_files(&[""]);
    bench.until(|state| state.library.totals().0 == 2 && state.library.ingest.is_none());
    bench.push(Command::ShowSpace(Space::Search));
    bench.harness.get_by_label("Query").type_text("red button");
    let names = |state: &AppState| -> Vec<String> {
        let hits = state.search.results.value().map(|results| results.hits.as_slice()).unwrap_or_default();
        let mut names: Vec<String> =
            hits.iter().map(|hit| hit.path.file_name().unwrap().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let are = |expected: &'static [&'static str]| {
        move |state: &AppState| !state.search.results.is_pending() && names(state) == expected
    };
    bench.until(are(&["log.md", "pump.txt"]));
    bench.harness.get_by_role_and_label(Role::Button, "Markdown").click();
    bench.until(are(&["log.md"]));
    bench.harness.get_by_role_and_label(Role::Button, "Clear filters").click();
    bench.until(are(&["log.md", "pump.txt"]));

    let folder = bench.documents_folder().join("old");
    let options = SearchOptions { folder: Some(folder), ..bench.state().search.options.clone() };
    bench.push(Command::SetSearchOptions(options));
    bench.until(are(&["log.md"]));
    bench.harness.get_by_role_and_label(Role::Button, "Clear filters").click();
    bench.until(are(&["log.md", "pump.txt"]));

    let type_into = |bench: &mut Bench, label: &str, text: &str| {
        bench.harness.get_by_role_and_label(Role::TextInput, label).focus();
        bench.settle();
        bench.harness.get_by_role_and_label(Role::TextInput, label).type_text(text);
        bench.settle();
    };
    type_into(&mut bench, "Properties", "bytes");
    bench.until(are(&["log.md", "pump.txt"]));
    type_into(&mut bench, "Properties", "<35");
    bench.until(are(&["pump.txt"]));
    type_into(&mut bench, "Properties", "; autho");
    assert_eq!(bench.state().search.options.conditions.len(), 1, "what is half typed changes nothing");
    bench.until(are(&["pump.txt"]));
    type_into(&mut bench, "Properties", "r=ada");
    bench.until(are(&[]));
    bench.harness.get_by_role_and_label(Role::Button, "Clear filters").click();
    bench.until(are(&["log.md", "pump.txt"]));

    type_into(&mut bench, "Changed from", "2001-01-0");
    assert_eq!(bench.state().search.options.after, None, "half a date filters nothing");
    type_into(&mut bench, "Changed before", "2001-01-01");
    bench.until(are(&[]));
    bench.harness.get_by_role_and_label(Role::Button, "Clear filters").click();
    bench.until(are(&["log.md", "pump.txt"]));
}

#[test]
fn the_first_ranking_is_there_while_passages_are_ranked_again() {
    let mut bench = searched("reset the pump");
    bench.hold_reranker(true);
    bench.harness.get_by_role_and_label(Role::CheckBox, "Rerank").click();
    let is_ranked_again =
        |state: &AppState| state.search.results.value().is_some_and(|results| results.reranked_by.is_some());
    bench.push(Command::Search("kettle".to_owned()));
    bench.until(|state| state.search.results.value().is_some_and(|results| results.query == "kettle"));
    assert!(bench.state().search.results.is_pending() && !is_ranked_again(bench.state()));
    bench.harness.get_by_label_contains("ranking again");
    bench.harness.get_by_role_and_label(Role::ListItem, "Hit 1: kettles.txt");
    bench.hold_reranker(false);
    bench.until(|state| !state.search.results.is_pending() && is_ranked_again(state));
    bench.harness.get_by_label_contains("ranked again by late interaction");
}

#[test]
fn a_minimum_score_of_0_leaves_out_negative_ones() {
    let mut bench = searched("kettle");
    bench.harness.get_by_role_and_label(Role::RadioButton, "Meaning").click();
    bench.until(|state| {
        let hits = state.search.results.value().map(|results| results.hits.as_slice()).unwrap_or_default();
        !state.search.results.is_pending() && hits.iter().any(|hit| hit.score < 0.0)
    });
    bench.harness.get_by_role_and_label(Role::CheckBox, "Minimum score").click();
    bench.until(|state| !state.search.results.is_pending() && state.search.options.min_score == Some(0.0));
    let hits = &bench.state().search.results.value().unwrap().hits;
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit.score >= 0.0));
    bench.harness.get_by_role_and_label(Role::CheckBox, "Minimum score").click();
    bench.until(|state| state.search.options.min_score.is_none());
}

#[test]
fn an_absurd_query_finds_nothing_and_says_so() {
    let mut bench = searched("zyxwv");
    bench.harness.get_by_role_and_label(Role::RadioButton, "Words").click();
    bench.until(|state| state.search.results.value().is_some_and(|results| results.hits.is_empty()));
    bench.harness.get_by_label("No passage was found");
}

#[test]
fn why_shows_what_became_of_each_candidate() {
    let mut bench = searched("reset the pump");
    bench.harness.get_by_role_and_label(Role::Button, "Why these?").click();
    bench.settle();
    bench.harness.get_by_label_contains("passages searched");
    let results = bench.state().search.results.value().unwrap();
    let kept = results.considered.iter().filter(|near| near.considered.final_rank.is_some()).count();
    assert_eq!(kept, results.hits.len());
    bench.harness.get_by_role_and_label(Role::Button, "Show the passages").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::ListItem, "Hit 1: geology.txt");
}
