//! Shaders: one entry point per file, named like the file, and named by the engine that runs it.

use crate::scan::{code_of, word_at};
use crate::tree::{SourceFile, assert_none, files};

/// `shaders/NAME.wgsl` with NAME.
fn shaders() -> Vec<(String, SourceFile)> {
    files(&["wgsl"])
        .into_iter()
        .map(|file| {
            let name = file.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".wgsl").to_owned();
            (name, file)
        })
        .collect()
}

#[test]
fn shaders_lie_in_their_folder() {
    let all = shaders();
    assert!(!all.is_empty(), "there are no shaders");
    let found: Vec<String> =
        all.into_iter().map(|(_, file)| file.path).filter(|path| !path.starts_with("shaders/")).collect();
    assert_none("a shader outside shaders/", &found);
}

#[test]
fn a_shader_has_one_entry_point_with_its_own_name() {
    let found: Vec<String> = shaders()
        .into_iter()
        .filter_map(|(name, file)| {
            let entries = entry_points(&file.text);
            (entries != [name.as_str()]).then(|| format!("{}: entry points {entries:?}", file.path))
        })
        .collect();
    assert_none("one file, one entry point, one name", &found);
}

/// The names of the functions that follow a stage attribute.
fn entry_points(text: &str) -> Vec<String> {
    let code = code_of(text);
    ["@compute", "@vertex", "@fragment"]
        .iter()
        .flat_map(|stage| code.match_indices(stage).collect::<Vec<_>>())
        .filter_map(|(byte, _)| {
            let function = byte + code[byte..].find("fn ")? + "fn ".len();
            Some(word_at(&code, function).to_owned())
        })
        .collect()
}

#[test]
fn every_shader_is_run_and_has_a_twin() {
    let engine: Vec<SourceFile> =
        files(&["rs"]).into_iter().filter(|file| file.path.starts_with("engine/src/")).collect();
    let mut found = Vec::new();
    for (name, file) in shaders() {
        let included = format!("{name}.wgsl");
        if !engine.iter().any(|source| source.path.contains("/gpu/") && source.text.contains(&included)) {
            found.push(format!("{}: engine/src/gpu does not include it", file.path));
        }
    }
    assert_none("a shader that nothing runs", &found);
}
