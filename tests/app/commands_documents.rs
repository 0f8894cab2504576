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
