//! Cargo features: the build without a window, and one set of features for every build.

use std::collections::BTreeSet;
use std::process::Command;

use crate::directions::WINDOW_CRATES;
use crate::tree::{assert_none, root};

/// Packages with their features, `NAME VERSION|FEATURES` each, as `cargo tree` sees them with `args`.
fn resolved(args: &[&str]) -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--prefix", "none", "--format", "{p}|{f}", "--offline", "--locked"])
        .args(args)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "cargo tree: {}", String::from_utf8_lossy(&tree.stderr));
    let listing = String::from_utf8(tree.stdout).unwrap();
    let packages: BTreeSet<String> = listing
        .lines()
        .filter(|line| line.contains('|'))
        .map(|line| line.replace(" (*)", "").replace(" (proc-macro)", ""))
        .collect();
    assert!(packages.iter().any(|line| line.starts_with("engine ")), "cargo tree does not list the engine:\n{listing}");
    packages
}

#[test]
fn without_the_gui_feature_no_window_crate_is_in_the_tree() {
    let found: Vec<String> = resolved(&["--package", "app", "--no-default-features", "--edges", "normal"])
        .into_iter()
        .filter(|line| {
            let package = line.split(' ').next().unwrap_or_default().replace('-', "_");
            WINDOW_CRATES.contains(&package.as_str()) || package == "rfd"
        })
        .collect();
    assert_none("`cargo check -p app --no-default-features` builds a window", &found);
}

#[test]
fn building_the_app_and_testing_the_workspace_share_every_dependency() {
    let app = resolved(&["--package", "app", "--edges", "normal,build"]);
    let workspace = resolved(&["--workspace", "--edges", "normal,build,dev"]);
    let found: Vec<String> = app.difference(&workspace).cloned().collect();
    assert_none(
        "`make run` and `make test` would build these twice, with other features: name the missing ones in app/Cargo.toml",
        &found,
    );
}
