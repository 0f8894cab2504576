//! The library space: from an empty library to documents and back.

use egui::Role;
use egui_kittest::kittest::Queryable;

use outcrop::command::Command;
use outcrop::state::{FolderState, Space};

use crate::bench::Bench;

#[test]
fn an_empty_library_offers_a_way_in() {
    let bench = Bench::empty();
    bench.harness.get_by_label("Drop documents here to ask questions about them");
    for button in ["Try the samples", "Choose files…", "Choose folder…"] {
        bench.harness.get_by_role_and_label(Role::Button, button);
    }
}

#[test]
fn dropped_files_are_listed_and_open_in_chunks() {
    let mut bench = Bench::filled();
    bench.harness.get_by_label_contains("3 documents searchable");
    bench.harness.get_by_role_and_label(Role::Row, "geology.txt").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Open in Chunks").click();
    bench.until(|state| state.lab.result.value().is_some_and(|result| !result.chunks.is_empty()));
    bench.harness.get_by_role_and_label(Role::Button, "Chunk 1");
    assert!(bench.harness.get_all_by_label_contains("Granite is a coarse rock").next().is_some());
}

#[test]
fn the_filter_and_the_headings_order_the_table() {
    let mut bench = Bench::filled();
    bench.harness.get_by_label("Filter documents").focus();
    bench.harness.get_by_label("Filter documents").type_text("kett");
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Row, "kettles.txt");
    assert!(bench.harness.query_by_role_and_label(Role::Row, "geology.txt").is_none());
    bench.harness.get_by_role_and_label(Role::RadioButton, "Problems").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Show all documents").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Sort by size").click();
    bench.settle();
    let top = |name: &str| bench.harness.get_by_role_and_label(Role::Row, name).rect().top();
    assert!(top("kettles.txt") < top("geology.txt"));
}

#[test]
fn a_document_without_text_says_why() {
    let mut bench = Bench::empty();
    bench.write("blank.txt", " \n");
    bench.drop_files(&["blank.txt"]);
    bench.until(|state| state.library.documents.value().is_some_and(|documents| documents.len() == 1));
    bench.harness.get_by_role_and_label(Role::Row, "blank.txt").click();
    bench.settle();
    bench.harness.get_by_label_contains("holds no text");
    assert_eq!(bench.state().library.totals(), (0, 0));
}

#[test]
fn a_running_ingest_shows_progress_and_can_be_cancelled() {
    let mut bench = Bench::empty();
    bench.write("slow.txt", "Granite.");
    bench.hold_reader(true);
    bench.drop_files(&["slow.txt"]);
    bench.until(|state| state.library.ingest.is_some());
    bench.harness.get_by_label("Ingest progress");
    bench.harness.get_by_role_and_label(Role::Button, "Cancel ingest").click();
    bench.until(|state| state.library.ingest.is_none() && state.library.last_report.is_some());
    assert!(bench.state().library.last_report.as_ref().is_some_and(|report| report.cancelled));
    assert_eq!(bench.state().library.totals(), (0, 0));
}

#[test]
fn an_ingest_can_be_paused_and_resumed() {
    let mut bench = Bench::empty();
    bench.write("slow.txt", "Granite.");
    bench.hold_reader(true);
    bench.drop_files(&["slow.txt"]);
    bench.until(|state| state.library.ingest.is_some());
    bench.harness.get_by_role_and_label(Role::Button, "Pause").click();
    bench.until(|state| state.library.paused);
    bench.hold_reader(false);
    bench.settle();
    assert_eq!(bench.state().library.totals(), (0, 0));
    bench.harness.get_by_role_and_label(Role::Button, "Resume").click();
    bench.until(|state| state.library.totals().0 == 1 && !state.library.paused);
}

#[test]
fn a_followed_folder_brings_what_changes_in_it_until_it_is_left() {
    let mut bench = Bench::empty();
    bench.write("first.txt", "Granite under the quay.");
    let folder = bench.documents_folder();
    bench.harness.state_mut().as_mut().unwrap().push(Command::FollowFolders(vec![folder.clone()]));
    bench.until(|state| state.library.totals().0 == 1 && state.library.ingest.is_none());
    bench.write("second.txt", "Basalt under the light.");
    bench.until(|state| state.library.totals().0 == 2);
    std::fs::remove_file(folder.join("first.txt")).unwrap();
    bench.until(|state| state.library.totals().0 == 1);
    bench.harness.get_by_role_and_label(Role::Row, "second.txt");

    bench.harness.get_by_label("Stop following documents").click();
    bench.until(|state| state.settings.followed.is_empty());
    assert_eq!(bench.state().library.totals().0, 1, "its documents stay");
}

#[test]
fn removed_documents_come_back_with_undo() {
    let mut bench = Bench::filled();
    bench.harness.get_by_role_and_label(Role::Row, "kettles.txt").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::Button, "Remove selected").click();
    bench.until(|state| state.notices.iter().any(|notice| notice.undo.is_some()));
    assert_eq!(bench.state().library.totals().0, 2);
    bench.harness.get_by_label("Undo").click();
    bench.until(|state| state.library.totals().0 == 3);
    bench.harness.get_by_role_and_label(Role::Row, "kettles.txt");
}

#[test]
fn an_encrypted_document_is_opened_with_its_password() {
    let mut bench = Bench::empty();
    bench.write("ledger.pdf", "LOCKED Granite under the quay.");
    bench.drop_files(&["ledger.pdf"]);
    bench.until(|state| state.library.documents.value().is_some_and(|documents| documents.len() == 1));
    bench.harness.get_by_role_and_label(Role::Row, "ledger.pdf").click();
    bench.settle();
    for (typed, is_ready) in [("haven", false), ("harbour-7", true)] {
        let version = bench.state().library.version;
        bench.harness.get_by_label("Password").focus();
        bench.harness.get_by_label("Password").type_text(typed);
        bench.settle();
        bench.harness.get_by_role_and_label(Role::Button, "Open").click();
        bench.until(|state| state.library.version > version && state.library.documents.value().is_some());
        bench.until(|state| state.library.totals().0 == usize::from(is_ready));
        assert_eq!(bench.harness.query_by_label_contains("the password does not fit").is_some(), !is_ready);
    }
    assert!(bench.harness.query_by_label("Password").is_none(), "an open document asks for none");
    assert!(!format!("{:?}", bench.state()).contains("harbour-7"), "it is kept nowhere in what the window knows");
}

#[test]
fn the_encoding_of_a_text_is_chosen_in_the_inspector() {
    let mut bench = Bench::filled();
    bench.harness.get_by_role_and_label(Role::Row, "kettles.txt").click();
    bench.settle();
    bench.harness.get_by_role_and_label(Role::ComboBox, "Encoding").click();
    bench.settle();
    bench.harness.get_by_label("windows-1251").click();
    let read_as = |encoding: Option<&str>| {
        let wanted = encoding.map(str::to_owned);
        move |state: &outcrop::state::AppState| {
            let documents = state.library.documents.value();
            documents.is_some_and(|all| all.iter().any(|one| one.title == "kettles.txt" && one.read.encoding == wanted))
        }
    };
    bench.until(read_as(Some("windows-1251")));
    bench.harness.get_by_role_and_label(Role::ComboBox, "Encoding").click();
    bench.settle();
    bench.harness.get_by_label("Automatic").click();
    bench.until(read_as(None));
}

#[test]
fn the_settings_list_followed_folders_with_how_they_are() {
    let mut bench = Bench::empty();
    bench.write("first.txt", "Granite under the quay.");
    let folder = bench.documents_folder();
    let gone = folder.with_file_name("unplugged");
    std::fs::create_dir(&gone).unwrap();
    std::fs::write(gone.join("away.txt"), "Basalt under the light.").unwrap();
    let push = |bench: &mut Bench, command| bench.harness.state_mut().as_mut().unwrap().push(command);
    push(&mut bench, Command::FollowFolders(vec![folder.clone(), gone.clone()]));
    bench.until(|state| state.library.totals().0 == 2 && state.library.ingest.is_none());
    let aside = folder.with_file_name("aside");
    std::fs::rename(&gone, &aside).unwrap();
    push(&mut bench, Command::ShowSpace(Space::Settings));
    bench.until(|state| state.library.folders.get(&gone) == Some(&FolderState::Gone));
    bench.harness.get_by_label("gone");

    // Back again, it is read and followed again.
    std::fs::write(aside.join("new.txt"), "Chalk over the light.").unwrap();
    std::fs::rename(&aside, &gone).unwrap();
    push(&mut bench, Command::ShowSpace(Space::Library));
    bench.settle();
    push(&mut bench, Command::ShowSpace(Space::Settings));
    bench.until(|state| state.library.folders.get(&gone) == Some(&FolderState::There));
    bench
        .until(|state| state.library.documents.value().is_some_and(|all| all.iter().any(|one| one.title == "new.txt")));

    bench.harness.get_by_label("Show unplugged").click();
    bench.until(|state| state.space == Space::Library);
    bench.harness.get_by_role_and_label(Role::Row, "new.txt");
    assert!(bench.harness.query_by_role_and_label(Role::Row, "first.txt").is_none());
    push(&mut bench, Command::ShowSpace(Space::Settings));
    bench.settle();
    bench.harness.get_by_label("Stop following unplugged").click();
    bench.until(|state| state.settings.followed == [folder.clone()]);
    let titles = |state: &outcrop::state::AppState| {
        state.library.documents.value().is_some_and(|all| all.iter().any(|one| one.title == "new.txt"))
    };
    assert!(titles(bench.state()), "its documents stay");
}
