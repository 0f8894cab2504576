//! Every command as a program calls it: its JSON, its exit status, its errors. No model is installed here, so that the
//! hash embedder and the extractive answer speak.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "commands_documents.rs"]
mod documents;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use tests::outcrop_binary;

const NOTES: &str =
    "# Quarry notes\n\nThe lower bench yields grey slate.\n\n# Prices\n\nA pallet of slate costs 310 euros.\n";

struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("files")).unwrap();
        std::fs::write(folder.path().join("files/notes.md"), NOTES).unwrap();
        std::fs::write(folder.path().join("files/short.txt"), "Crane 7 was inspected in May.").unwrap();
        Self { folder }
    }

    fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    fn path(&self, name: &str) -> String {
        self.files().join(name).to_str().unwrap().to_owned()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(outcrop_binary());
        command.env("OUTCROP_HOME", self.folder.path().join("home"));
        command.env("OUTCROP_MODELS", self.folder.path().join("no-models")).env("OUTCROP_GPU", "off");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command().args(args).output().unwrap()
    }

    /// What the command prints with `--json`; it must end with `status`.
    fn json(&self, status: i32, args: &[&str]) -> Value {
        let output = self.command().arg("--json").args(args).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{args:?}: {errors}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|err| panic!("{args:?}: {err}: {errors}"))
    }

    fn ingest(&self) -> Value {
        self.json(0, &["ingest", self.files().to_str().unwrap()])
    }
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn assert_has(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(keys(value).contains(field), "no {field:?} in {:?}", keys(value));
    }
}

#[test]
fn documents_are_added_listed_and_removed() {
    let home = Home::new();
    home.ingest();
    let documents = home.json(0, &["documents"]);
    let documents = documents.as_array().unwrap();
    assert_eq!(documents.len(), 2);
    for document in documents {
        assert_has(document, &["id", "path", "status", "reason", "pages", "chunks", "bytes", "chunker", "embedder"]);
        assert_eq!(document["status"], "ready");
    }
    home.json(0, &["remove", &home.path("short.txt")]);
    assert_eq!(home.json(0, &["documents"]).as_array().unwrap().len(), 1);
    assert!(Path::new(&home.path("short.txt")).is_file(), "the file itself stays");
    home.json(0, &["verify"]);
}

#[test]
fn a_file_is_chunked_without_a_library() {
    let home = Home::new();
    let chunks =
        home.json(0, &["chunk", &home.path("notes.md"), "--chunker", "markdown", "--size", "60", "--min-size", "1"]);
    let chunks = chunks.as_array().unwrap();
    assert!(chunks.len() >= 2, "{chunks:?}");
    for chunk in chunks {
        assert_has(chunk, &["index", "start", "end", "text", "pages", "heading", "tokens", "left_similarity"]);
        let range = usize::try_from(chunk["start"].as_u64().unwrap()).unwrap()
            ..usize::try_from(chunk["end"].as_u64().unwrap()).unwrap();
        assert_eq!(&NOTES[range], chunk["text"].as_str().unwrap());
    }
    assert!(!home.folder.path().join("home/libraries").exists(), "no library was made");
}

#[test]
fn a_boundary_plot_is_written() {
    let home = Home::new();
    let plot = home.path("plot.svg");
    home.json(0, &["chunk", &home.path("notes.md"), "--chunker", "semantic", "--svg", &plot]);
    assert!(std::fs::read_to_string(plot).unwrap().contains("<svg"));
}

#[test]
fn a_search_names_its_scores() {
    let home = Home::new();
    home.ingest();
    for mode in ["keyword", "vector", "hybrid"] {
        let found = home.json(0, &["search", "pallet of slate", "--mode", mode, "-k", "1"]);
        assert_has(&found, &["query", "mode", "took_ms", "backend", "hits"]);
        let hit = &found["hits"][0];
        assert_has(hit, &["rank", "score", "scores", "match", "document", "path", "chunk"]);
        assert_has(&hit["scores"], &["vector", "keyword", "rerank", "fused"]);
        assert!(hit["chunk"]["text"].as_str().unwrap().contains("310 euros"), "{mode}: {hit}");
    }
}

#[test]
fn searches_and_questions_look_where_they_are_told_to() {
    let home = Home::new();
    home.ingest();
    let files = home.files();
    let folder = files.to_str().unwrap();
    for (filter, expected) in [
        (["--type", "markdown"], true),
        (["--type", "MD"], true),
        (["--type", "text"], false),
        (["--folder", folder], true),
        (["--folder", "files"], true),
        (["--folder", "elsewhere"], false),
        (["--after", "2001-01-01"], true),
        (["--before", "2001-01-01"], false),
    ] {
        let args = [&["pallet of slate"], &filter[..]].concat();
        let hits = home.json(0, &[&["search"], &args[..]].concat())["hits"].to_string();
        assert_eq!(hits.contains("notes.md"), expected, "{filter:?}: {hits}");
        let answer = home.json(0, &[&["ask", "--model", "extractive"], &args[..]].concat());
        assert_eq!(answer["answer"].to_string().contains("310 euros"), expected, "{filter:?}: {answer}");
    }
    let both = home.json(0, &["search", "slate inspected", "--type", "text", "--type", "markdown"]);
    assert!(both["hits"].as_array().unwrap().len() >= 2, "{both}");
}

#[test]
fn an_answer_cites_what_stands_in_the_file() {
    let home = Home::new();
    home.ingest();
    let answer = home.json(0, &["ask", "How many euros does a pallet of slate cost?", "--model", "extractive"]);
    assert_has(&answer, &["question", "answer", "refused", "reason", "model", "citations", "passages_used", "took_ms"]);
    assert_eq!(answer["refused"], false, "{answer}");
    let citation = &answer["citations"][0];
    assert_has(citation, &["marker", "document", "path", "pages", "heading", "start", "end", "quote", "score"]);
    assert!(citation["quote"].as_str().unwrap().contains("310 euros"));
    let range = usize::try_from(citation["start"].as_u64().unwrap()).unwrap()
        ..usize::try_from(citation["end"].as_u64().unwrap()).unwrap();
    assert!(NOTES[range].contains("310 euros"));
}

#[test]
fn a_passage_is_read_with_its_neighbours() {
    let home = Home::new();
    home.json(0, &["ingest", &home.path("notes.md"), "--chunker", "sentence", "--size", "40", "--min-size", "1"]);
    let question = "What does a pallet of slate cost?";
    let cited = |neighbours: &str| {
        let args = ["ask", question, "--model", "extractive", "-k", "1", "--neighbours", neighbours];
        let answer = home.json(0, &args);
        let citation = &answer["citations"][0];
        ["quote", "start", "lines", "heading"].map(|field| citation[field].clone())
    };
    let alone = cited("0");
    assert_eq!(alone[0], "A pallet of slate costs 310 euros.");
    assert_eq!(alone[2], serde_json::json!([7, 7]));
    assert_eq!((cited("2"), cited("99999999999")), (alone.clone(), alone));
}

#[test]
fn a_question_without_an_answer_is_refused_with_success() {
    let home = Home::new();
    home.ingest();
    let answer = home.json(0, &["ask", "Who painted the ceiling of the chapel?", "--model", "extractive"]);
    assert_eq!(answer["refused"], true, "{answer}");
    assert!(answer["reason"].is_string());
}

#[test]
fn an_ingest_that_fails_in_part_ends_with_three() {
    let home = Home::new();
    std::fs::write(home.path("broken.docx"), b"PK\x03\x04 not an archive").unwrap();
    home.json(3, &["ingest", home.files().to_str().unwrap()]);
    let documents = home.json(0, &["documents"]);
    let broken = documents.as_array().unwrap().iter().find(|document| document["status"] == "failed").unwrap();
    assert!(!broken["reason"].as_str().unwrap().is_empty());
}

#[test]
fn errors_are_values_too() {
    let home = Home::new();
    for args in
        [&["chunk", "no-such-file.md"][..], &["remove", "no-such-document"], &["--library", "../up", "documents"]]
    {
        let output = home.command().arg("--json").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_has(&value["error"], &["title", "detail", "hint"]);
    }
}

#[test]
fn wrong_usage_ends_with_two() {
    let home = Home::new();
    let wrong: &[&[&str]] = &[
        &["chunk"],
        &["search", "x", "--mode", "psychic"],
        &["search", "x", "--alpha", "2"],
        &["search", "x", "-k", "0"],
        &["search", "x", "--min-score", "nan"],
        &["ask", "x", "--source", "["],
        &["search", "x", "--type", "papyrus"],
        &["search", "x", "--after", "yesterday"],
        &["ask", "x", "--after", "2026-05-02", "--before", "2026-05-01"],
        &["ingest"],
        &["--gpu", "fast", "documents"],
        &["screenshots", "here", "--width", "0"],
        &["screenshots", "here", "--scale", "nan"],
    ];
    for args in wrong {
        let output = home.command().arg("--json").args(*args).output().unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_has(&value["error"], &["title", "detail", "hint"]);
        assert_eq!(home.run(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let home = Home::new();
    let mut command = home.command();
    command.env("OUTCROP_HOME", "").env("OUTCROP_GPU", "").env("XDG_DATA_HOME", home.folder.path().join("data"));
    let output = command.args(["--json", "ingest", &home.path("notes.md")]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn any_query_text_is_a_query() {
    let home = Home::new();
    home.ingest();
    for query in
        ["what's it, roughly?", "BENCH-100821", "\"--flag\"", "a:b", "NEAR(", "*", "🪨", "AND OR NOT", "\"", "-", "%_"]
    {
        home.json(0, &["search", "--", query]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_is_listed_and_found() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::new();
    let name = home.files().join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt"));
    std::fs::write(name, "The kettle holds two litres.").unwrap();
    home.ingest();
    assert_eq!(home.json(0, &["documents"]).as_array().unwrap().len(), 3);
    let found = home.json(0, &["search", "kettle", "-k", "1"]);
    assert!(found["hits"][0]["path"].as_str().unwrap().contains("caf"), "{found}");
    home.json(0, &["ask", "How much does the kettle hold?", "--model", "extractive"]);
}

/// ONNX Runtime keeps a queue of reports under the user's cache folder unless it is told not to.
#[cfg(unix)]
#[test]
fn nothing_is_written_outside_the_home() {
    let home = Home::new();
    let user = home.folder.path().join("user");
    std::fs::create_dir(&user).unwrap();
    let mut command = home.command();
    match std::env::var_os("OUTCROP_MODELS") {
        Some(models) => command.env("OUTCROP_MODELS", models),
        None => panic!("run this with `make test`: OUTCROP_MODELS names the models"),
    };
    command.env("HOME", &user).env_remove("XDG_CACHE_HOME").env_remove("ORT_DISABLE_TELEMETRY");
    let output = command.args(["--json", "ingest"]).arg(home.files()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let left: Vec<_> = std::fs::read_dir(&user).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_library_that_is_not_there_is_named_and_not_made() {
    let home = Home::new();
    for args in [&["search", "slate"] as &[&str], &["ask", "What?"], &["documents"], &["verify"], &["remove", "1"]] {
        let args: Vec<&str> = [args, &["--library", "mistyped"]].concat();
        let value = home.json(1, &args);
        assert_eq!(value["error"]["title"], "No such library");
        assert!(value["error"]["hint"].as_str().unwrap().contains("outcrop ingest"));
    }
    assert!(!home.folder.path().join("home/libraries/mistyped").exists());
    home.ingest();
    let detail = home.json(1, &["search", "slate", "--library", "mistyped"])["error"]["detail"].to_string();
    assert!(detail.contains("there are default"), "{detail}");
}

#[test]
fn a_library_that_another_process_writes_is_searched() {
    let home = Home::new();
    home.ingest();
    let _writer = outcrop::Library::open(outcrop::LibraryOptions {
        home: Some(home.folder.path().join("home")),
        embedder: Some(std::sync::Arc::new(outcrop::embed::HashEmbedder)),
        ..outcrop::LibraryOptions::default()
    })
    .unwrap();
    assert_eq!(home.json(0, &["search", "pallet of slate", "-k", "1"])["hits"].as_array().unwrap().len(), 1);
    assert_eq!(home.json(1, &["remove", "1"])["error"]["title"], "Read-only library");
    // A search leaves the lock to others.
    drop(home.run(&["search", "slate"]));
}

#[test]
fn a_document_keeps_its_chunker_until_another_is_asked_for() {
    let home = Home::new();
    let folder = home.files();
    let folder = folder.to_str().unwrap();
    home.json(0, &["ingest", folder, "--chunker", "sentence", "--size", "60"]);
    let chunkers = |home: &Home| -> Vec<Value> {
        let documents = home.json(0, &["documents"]);
        documents.as_array().unwrap().iter().map(|document| document["chunker"].clone()).collect()
    };
    let sentence = chunkers(&home);
    assert!(sentence.iter().all(|chunker| chunker["kind"] == "sentence" && chunker["size"] == 60), "{sentence:?}");
    std::fs::write(home.path("short.txt"), "Crane 7 was inspected in June. It passed. The log says so.").unwrap();
    let report = home.json(0, &["ingest", folder]);
    let unchanged = report["files"].as_array().unwrap().iter().filter(|file| file["unchanged"] == true).count();
    assert_eq!((unchanged, chunkers(&home)), (1, sentence));
    home.json(0, &["ingest", folder, "--chunker", "recursive"]);
    assert!(chunkers(&home).iter().all(|chunker| chunker["kind"] == "recursive"));
}

#[test]
fn what_is_skipped_in_a_folder_is_named() {
    let home = Home::new();
    std::fs::write(home.path("blob.xyz"), [0_u8, 159, 146, 150, 1, 2, 3]).unwrap();
    let output = home.run(&["ingest", home.files().to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.lines().any(|line| line.starts_with("skipped") && line.contains("blob.xyz")), "{said}");
}

#[test]
fn a_folder_stands_for_all_documents_in_it() {
    let home = Home::new();
    home.ingest();
    home.json(1, &["remove", ""]);
    assert_eq!(home.json(0, &["documents"]).as_array().unwrap().len(), 2);
    let removed = home.json(0, &["remove", home.files().to_str().unwrap()]);
    assert_eq!(removed["removed"].as_array().unwrap().len(), 2);
    assert_eq!(home.json(0, &["documents"]).as_array().unwrap().len(), 0);
}

#[test]
fn an_excerpt_shows_the_words_that_were_asked_for() {
    let home = Home::new();
    let filler = "The shed was painted again in the spring. ".repeat(20);
    std::fs::write(home.path("long.txt"), format!("{filler}The winch takes four tonnes. {filler}")).unwrap();
    home.json(0, &["ingest", &home.path("long.txt"), "--size", "4000"]);
    let output = home.run(&["search", "winch tonnes", "-k", "1"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("winch takes four tonnes"));
}

#[test]
fn a_library_goes_into_a_file_and_back() {
    let home = Home::new();
    home.ingest();
    let file = home.path("notes.outcrop");
    home.json(0, &["export", &file]);
    home.json(0, &["import", &file, "--library", "copy"]);
    let found = home.json(0, &["search", "pallet of slate", "-k", "1", "--library", "copy"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn an_emptied_database_is_no_new_library() {
    let home = Home::new();
    home.ingest();
    std::fs::write(home.folder.path().join("home/libraries/default/library.db"), "").unwrap();
    assert_eq!(home.json(1, &["verify"])["error"]["title"], "Damaged library");
}

#[test]
fn how_a_file_is_read_is_an_option_that_stays() {
    let home = Home::new();
    // "Мир под водой" in the code page of DOS.
    let dos = [0x8c, 0xa8, 0xe0, 0x20, 0xaf, 0xae, 0xa4, 0x20, 0xa2, 0xae, 0xa4, 0xae, 0xa9];
    std::fs::write(home.files().join("dos.txt"), dos).unwrap();
    std::fs::write(home.files().join("page.html"), "<nav>menu</nav><main><p>The quarry.</p></main>").unwrap();
    std::fs::write(home.files().join("log.jsonl"), "{\"id\": 1, \"body\": \"one\"}\n{\"id\": 2, \"body\": \"two\"}\n")
        .unwrap();
    let text = |args: &[&str]| home.json(0, args)[0]["text"].as_str().unwrap().to_owned();
    assert_eq!(text(&["chunk", &home.path("dos.txt"), "--encoding", "cp866"]), "Мир под водой");
    assert_eq!(text(&["chunk", &home.path("page.html"), "--html-selector", "main"]), "The quarry.");
    let rows = home.json(0, &["chunk", &home.path("log.jsonl"), "--json-field", "body"]);
    assert_eq!(
        (rows[0]["text"].as_str().unwrap().trim(), &rows[0]["rows"]),
        ("one\n\ntwo", &serde_json::json!([1, 2]))
    );

    let wrong = home.json(2, &["ingest", &home.path("dos.txt"), "--encoding", "klingon"]);
    let detail = wrong["error"]["detail"].as_str().unwrap();
    assert!(detail.contains("klingon") && detail.contains("windows-1252"), "{detail}");
    home.json(2, &["ingest", &home.path("page.html"), "--html-selector", "p >"]);
    let nothing = home.json(1, &["ingest", &home.path("page.html"), "--html-selector", "article"]);
    assert!(nothing["files"][0]["reason"].as_str().unwrap().contains("no element of the page matches"));

    home.json(0, &["ingest", &home.path("dos.txt"), "--encoding", "cp866"]);
    home.json(0, &["ingest", &home.path("page.html"), "--html-selector", "main"]);
    home.ingest();
    let documents = home.json(0, &["documents"]);
    let read = |name: &str, option: &str| {
        let mut found =
            documents.as_array().unwrap().iter().filter(|one| one["path"].as_str().unwrap().ends_with(name));
        found.next().unwrap()["read"][option].clone()
    };
    assert_eq!(read("dos.txt", "encoding"), "IBM866");
    assert_eq!(read("page.html", "html_selector"), "main");
    assert_eq!(read("page.html", "encoding"), Value::Null);
    assert_eq!(home.json(0, &["search", "menu", "--mode", "keyword"])["hits"], serde_json::json!([]));
}

#[test]
fn a_password_comes_from_a_file_or_the_environment_and_from_no_argument() {
    let home = Home::new();
    let empty = home.path("empty-password");
    std::fs::write(&empty, "\n").unwrap();
    let notes = home.path("notes.md");
    let refused = home.json(2, &["ingest", &notes, "--password-file", &empty]);
    assert!(refused["error"]["detail"].as_str().unwrap().contains("first line is empty"));
    // Nobody is at a terminal here.
    let asked = home.json(2, &["ingest", &notes, "--password"]);
    assert!(asked["error"]["detail"].as_str().unwrap().contains("OUTCROP_PASSWORD"));
    let output = home.command().args(["ingest", &notes, "--password"]).env("OUTCROP_PASSWORD", "harbour-7").output();
    assert_eq!(output.unwrap().status.code(), Some(0));
    #[cfg(unix)]
    {
        let not_text: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"harbour-\xff");
        let output = home.command().args(["ingest", &notes]).env("OUTCROP_PASSWORD", not_text).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("OUTCROP_PASSWORD is no valid text") && !said.contains("harbour"), "{said}");
    }
    let valued = home.run(&["ingest", &notes, "--password=harbour-7"]);
    assert_eq!(valued.status.code(), Some(2));
}
