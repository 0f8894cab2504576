//! The directions of the architecture: which module of the app may name which, and who may know of a window.
//!
//! `main -> cli | ui -> command -> jobs -> library -> ingest | retrieve | answer -> extract | chunk | embed | store |
//! worker | models -> engine`, never the other way.

use crate::scan::{code_of, find_word, names_under, word_at};
use crate::tree::{SourceFile, assert_none, files, full};

/// Each module of the app with the modules that it may name, lowest first. A new module is added here on purpose.
#[rustfmt::skip] // One row for each module.
const MAY_NAME: &[(&str, &str)] = &[
    ("dice", ""),
    ("progress", ""),
    ("secrets", ""),
    ("http", "progress"),
    ("models", "http progress secrets"),
    ("watch", ""),
    ("onnx", ""),
    ("figure", ""),
    ("similarity", "dice figure progress"),
    ("extract", "onnx progress"),
    ("embed", "models onnx progress"),
    ("chunk", "extract figure"),
    ("store", "chunk embed extract progress"),
    ("worker", "extract progress secrets"),
    ("retrieve", "embed extract progress store"),
    ("ingest", "chunk embed extract progress store"),
    ("answer", "extract http models progress retrieve secrets store worker"),
    ("library", "answer chunk embed extract ingest models progress retrieve similarity store watch worker"),
    ("eval", "answer chunk dice embed extract figure progress retrieve store"),
    ("state", "answer chunk eval extract ingest library models progress retrieve similarity store"),
    ("jobs", "answer chunk embed eval extract figure ingest library models progress retrieve similarity state store watch"),
    ("command", "answer chunk eval extract ingest jobs library models progress retrieve similarity state store"),
    ("ui", "answer chunk command eval extract ingest jobs library models progress retrieve similarity state store"),
    ("cli", "answer chunk embed eval extract figure ingest library models onnx progress retrieve secrets similarity store ui watch worker"),
];

/// What a window is made of.
pub(crate) const WINDOW_CRATES: [&str; 7] =
    ["egui", "eframe", "egui_commonmark", "egui_extras", "egui_plot", "egui_wgpu", "winit"];

fn app_sources() -> Vec<SourceFile> {
    files(&["rs"]).into_iter().filter(|file| file.path.starts_with("app/src/")).collect()
}

/// The module of the app that a file belongs to; `None` for `lib.rs` and `main.rs`.
fn module_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix("app/src/")?;
    let first = inside.split('/').next()?;
    let module = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(module, "lib" | "main")).then_some(module)
}

/// The modules that `module` may name; `None` where the table does not have it.
fn may_name(module: &str) -> Option<Vec<&'static str>> {
    let row = MAY_NAME.iter().find(|(name, _)| *name == module)?;
    Some(row.1.split_whitespace().collect())
}

/// The modules that a file of `module` names through `crate::` without being allowed to, as messages.
fn violations(file: &SourceFile, module: &str) -> Vec<String> {
    let Some(allowed) = may_name(module) else {
        return vec![format!("{}: module `{module}` is not in the table", file.path)];
    };
    names_under(&code_of(&file.text), "crate")
        .into_iter()
        .filter(|(_, name)| name != module && may_name(name).is_some() && !allowed.contains(&name.as_str()))
        .map(|(byte, name)| format!("{}: `{module}` names `{name}`", file.at(byte)))
        .collect()
}

#[test]
fn modules_name_only_what_lies_below_them() {
    let found: Vec<String> =
        app_sources().iter().filter_map(|file| Some(violations(file, module_of(&file.path)?))).flatten().collect();
    assert_none("a module names one that does not lie below it", &found);
}

#[test]
fn every_module_of_the_table_exists() {
    let sources = app_sources();
    let found: Vec<String> = MAY_NAME
        .iter()
        .filter(|(module, _)| !sources.iter().any(|file| module_of(&file.path) == Some(module)))
        .map(|(module, _)| (*module).to_owned())
        .collect();
    assert_none("the table names modules that are not there", &found);
}

#[test]
fn the_table_has_no_circle() {
    // In the order of the table each module may name only earlier ones: that is what makes it a direction.
    for (place, (module, _)) in MAY_NAME.iter().enumerate() {
        for name in may_name(module).unwrap() {
            let below = MAY_NAME[..place].iter().any(|(earlier, _)| *earlier == name);
            assert!(below, "`{module}` may name `{name}`, which does not come before it");
        }
    }
}

#[test]
fn a_violation_is_found() {
    let file = SourceFile {
        path: "app/src/store/rows.rs".to_owned(),
        text: "// crate::ui is fine here\nuse crate::{chunk::Chunk, ui::Panel};\n".to_owned(),
    };
    assert_eq!(violations(&file, "store"), ["app/src/store/rows.rs:2: `store` names `ui`"]);
}

#[test]
fn the_top_of_the_crate_is_never_reached_through_super() {
    let found: Vec<String> =
        app_sources().iter().filter(|file| module_of(&file.path).is_some()).flat_map(reached_through_super).collect();
    assert_none("write `crate::` where another module of the app is meant", &found);
}

/// `super::NAME` where NAME is a module of the app and no file beside this one.
fn reached_through_super(file: &SourceFile) -> Vec<String> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    names_under(&code_of(&file.text), "super")
        .into_iter()
        .filter(|(_, name)| MAY_NAME.iter().any(|(module, _)| module == name))
        .filter(|(_, name)| {
            !full(&format!("{folder}/{name}.rs")).exists() && !full(&format!("{folder}/{name}")).exists()
        })
        .map(|(byte, name)| format!("{}: super::{name}", file.at(byte)))
        .collect()
}

#[test]
fn nothing_below_the_window_names_it() {
    let mut found = Vec::new();
    for file in app_sources().iter().filter(|file| !file.path.starts_with("app/src/ui/")) {
        let code = code_of(&file.text);
        for name in WINDOW_CRATES {
            for byte in find_word(&code, name) {
                if !is_repaint_handle(file, &code, byte) {
                    found.push(format!("{}: {name}", file.at(byte)));
                }
            }
        }
    }
    assert_none("only `ui` may name the crates of the window, and `jobs` the handle that asks for a repaint", &found);
}

/// Jobs wake the window through `egui::Context::request_repaint`, and know nothing else of it.
fn is_repaint_handle(file: &SourceFile, code: &str, byte: usize) -> bool {
    let rest = byte + "egui".len();
    file.path.starts_with("app/src/jobs/") && code[rest..].starts_with("::") && word_at(code, rest + 2) == "Context"
}

#[test]
fn the_engine_never_names_the_app() {
    let mut found = Vec::new();
    for file in files(&["rs"]).iter().filter(|file| file.path.starts_with("engine/")) {
        let code = code_of(&file.text);
        for name in ["outcrop", "egui", "eframe"] {
            found.extend(find_word(&code, name).into_iter().map(|byte| format!("{}: {name}", file.at(byte))));
        }
    }
    let manifest: toml::Table = std::fs::read_to_string(full("engine/Cargo.toml")).unwrap().parse().unwrap();
    let dependencies = manifest["dependencies"].as_table().unwrap();
    found.extend(
        ["app", "egui", "eframe"]
            .iter()
            .filter(|name| dependencies.contains_key(**name))
            .map(|name| format!("engine/Cargo.toml: {name}")),
    );
    assert_none("the engine knows nothing of documents or windows", &found);
}
