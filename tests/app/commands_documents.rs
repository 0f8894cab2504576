//! Documents on the command line: laid out as a map, and removed.

use super::{Home, assert_has};

#[test]
fn the_library_is_laid_out_as_a_map() {
    let home = Home::new();
    home.json(1, &["map"]);
    home.ingest();
    let chunks: u64 =
        home.json(0, &["documents"]).as_array().unwrap().iter().map(|one| one["chunks"].as_u64().unwrap()).sum();
    for layout in ["pca", "umap"] {
        let svg = home.path("map.svg");
        let places = home.json(0, &["map", "--layout", layout, "--svg", &svg]);
        let places = places.as_array().unwrap();
        assert_eq!(places.len() as u64, chunks);
        for place in places {
            assert_has(place, &["document", "title", "start", "x", "y"]);
            assert!(place["x"].as_f64().unwrap().abs() <= 1.001 && place["y"].as_f64().unwrap().abs() <= 1.001);
        }
        assert!(std::fs::read_to_string(svg).unwrap().starts_with("<svg"));
    }
    home.json(2, &["map", "--layout", "sphere"]);
}

#[test]
fn documents_are_removed_by_glob_and_a_glob_without_a_match_is_an_error() {
    let home = Home::new();
    home.ingest();
    let nothing = home.json(1, &["remove", "*.pdf"]);
    assert!(nothing["error"]["detail"].as_str().unwrap().contains("matches the path of none of the 2 documents"));
    let elsewhere = home.json(1, &["remove", "*.t?t"]);
    assert!(elsewhere["error"]["detail"].as_str().unwrap().contains("*.t?t"), "a relative glob begins where one is");
    home.json(0, &["remove", &home.path("*.t?t")]);
    let left = home.json(0, &["documents"]);
    assert!(left.as_array().unwrap().len() == 1 && left[0]["path"].as_str().unwrap().ends_with("notes.md"));
    // A file that is no document is meant by its name, though its name is also a glob that matches one.
    std::fs::write(home.path("note[s].md"), "Not in the library.").unwrap();
    home.json(1, &["remove", &home.path("note[s].md")]);
    assert_eq!(home.json(0, &["documents"]).as_array().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_document_behind_a_link_is_removed_by_the_link() {
    let home = Home::new();
    let link = home.folder.path().join("link");
    std::os::unix::fs::symlink(home.files(), &link).unwrap();
    let name = link.join("notes.md").to_str().unwrap().to_owned();
    home.json(0, &["ingest", &name]);
    home.json(0, &["remove", &name]);
    assert_eq!(home.json(0, &["documents"]), serde_json::json!([]));
}

#[test]
fn documents_are_searched_by_what_they_say_of_themselves() {
    let home = Home::new();
    std::fs::write(home.path("plan.md"), "---\nauthor: Ada Petrel\nrating: 4.5\n---\n\nThe slate is grey.\n").unwrap();
    home.ingest();
    let found = |conditions: &[&str]| {
        let conditions = conditions.iter().flat_map(|condition| ["--where", condition]);
        let args: Vec<&str> = ["search", "slate"].into_iter().chain(conditions).collect();
        let results = home.json(0, &args);
        (results["hits"].as_array().unwrap().len(), results["notes"].clone())
    };
    assert_eq!(found(&["author=ada*", "rating>4"]), (1, serde_json::json!([])));
    assert_eq!(found(&["rating>5"]), (0, serde_json::json!(["no document has rating>5"])));
    let misspelt = found(&["autor=ada*"]).1.to_string();
    assert!(misspelt.contains("there are author, bytes, pages, rating, title"), "{misspelt}");
    home.json(2, &["search", "slate", "--where", "author>ada"]);
    let listed = home.json(0, &["documents"]);
    let plan =
        listed.as_array().unwrap().iter().find(|one| one["path"].as_str().unwrap().ends_with("plan.md")).unwrap();
    assert_eq!(plan["metadata"], serde_json::json!({ "author": ["Ada Petrel"], "rating": ["4.5"] }));
}

/// The pages are drawn with the words marked; a place that cannot be is refused before anything is asked.
#[test]
fn cited_pages_are_drawn_with_the_words_marked() {
    let home = Home::new();
    let models =
        std::env::var_os("OUTCROP_MODELS").expect("run this with `make test`: OUTCROP_MODELS names the models");
    let report = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/samples/lava-sequence-report.pdf");
    let run = |args: &[&str]| {
        let output = home.command().env("OUTCROP_MODELS", &models).arg("--json").args(args).output().unwrap();
        (output.status.code(), serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap())
    };
    assert_eq!(run(&["ingest", report]).0, Some(0));
    let pages = home.path("pages");
    let question = ["ask", "How thick is the lava sequence?", "--model", "extractive", "--pages"];
    let (status, answer) = run(&[&question[..], &[&pages]].concat());
    assert_eq!(status, Some(0));
    let drawn = answer["page_pictures"].as_array().unwrap();
    assert!(!drawn.is_empty(), "{answer}");
    for page in drawn {
        assert!(!page["boxes"].as_array().unwrap().is_empty(), "{page}");
        let picture = std::fs::read(page["file"].as_str().unwrap()).unwrap();
        assert!(picture.starts_with(b"\x89PNG"), "{page}");
    }
    let (status, refused) = run(&[&question[..], &[&home.path("notes.md")]].concat());
    assert_eq!(status, Some(1));
    assert!(refused["error"]["title"].as_str().unwrap().contains("folder for the pages"), "{refused}");
}

#[test]
fn outputs_that_cannot_be_written_are_named_before_the_work() {
    let home = Home::new();
    let (file, nowhere) = (home.path("notes.md"), home.path("no-folder/x.svg"));
    for args in [
        &["chunk", &file, "--svg", &nowhere] as &[&str],
        &["compare", &file, "--chunker", "fixed", "--chunker", "recursive", "--svg", &nowhere],
        &["similarity", &file, "--svg", &nowhere],
        &["map", "--svg", &nowhere],
        &["export", &nowhere],
        &["eval", "chunking", &file, "--svg", &nowhere],
        &["eval", "retrieval", &file, "--csv", &nowhere],
    ] {
        let error = home.json(1, args)["error"]["detail"].to_string();
        assert!(error.contains("there is no folder"), "{args:?}: {error}");
    }
}

#[test]
fn a_model_that_is_not_here_cannot_be_removed() {
    let home = Home::new();
    let error = home.json(1, &["models", "remove", "minilm-int8"])["error"]["detail"].to_string();
    assert!(error.contains("none is here"), "{error}");
}

#[test]
fn what_a_reader_has_to_say_stands_with_the_file() {
    let home = Home::new();
    let path = home.path("broken.md");
    std::fs::write(&path, "---\ntitle: Tides: spring\nauthor: Ada\n---\n\n# Tides\n\nThe spring tide is high.\n")
        .unwrap();
    let report = home.json(0, &["ingest", &path]);
    let note = report["files"][0]["notes"][0].as_str().unwrap();
    assert!(note.contains("from line 2 on"), "{note}");
}
