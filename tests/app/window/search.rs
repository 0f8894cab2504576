//! The search space: a query, its hits, and a hit in full.

use egui::Role;
use egui_kittest::kittest::Queryable;
use outcrop::command::Command;
use outcrop::retrieve::SearchMode;
use outcrop::state::Space;

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
