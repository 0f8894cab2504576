//! A library goes into one file and comes back; a damaged or foreign file changes nothing.

use std::path::Path;

use outcrop::library::Error;
use outcrop::retrieve::SearchOptions;
use outcrop::{CancelToken, Library, LibraryOptions};

use crate::fixture::{World, ingest};

fn export(library: &Library, to: &Path) -> Result<(), Error> {
    library.export(to, &mut |_, _| (), &CancelToken::new()).map(drop)
}

fn import(world: &World, name: &str, from: &Path) -> Result<Library, Error> {
    let options = LibraryOptions { name: Some(name.to_owned()), ..world.options() };
    Library::import(from, options, &mut |_, _| (), &CancelToken::new()).map(|(library, _)| library)
}

/// A library with two documents, and its archive.
fn archived(world: &World) -> std::path::PathBuf {
    let library = world.open();
    let paths = [world.write("a.txt", "Basalt flows cool fast."), world.write("b.txt", "Granite cools slowly below.")];
    ingest(&library, &paths);
    let file = world.home().join("notes.outcrop");
    export(&library, &file).unwrap();
    file
}

#[test]
fn what_comes_back_answers_as_before_and_is_sound() {
    let world = World::new();
    let file = archived(&world);
    let before = world.open().search("granite", &SearchOptions::default()).unwrap();
    let back = import(&world, "back", &file).unwrap();
    let after = back.search("granite", &SearchOptions::default()).unwrap();
    assert_eq!(after.hits, before.hits);
    assert!(!after.hits.is_empty());
    assert!(back.verify(false).unwrap().is_healthy());
}

#[test]
fn a_library_that_forgot_rows_comes_back_too() {
    let world = World::new();
    archived(&world);
    let library = world.open();
    let changed = world.write("a.txt", "Basalt flows cool fast, and crack into columns.");
    ingest(&library, std::slice::from_ref(&changed));
    let gone = library.documents().unwrap().into_iter().find(|document| document.path != changed).unwrap();
    library.remove(&[gone.id]).unwrap();
    let file = world.home().join("changed.outcrop");
    export(&library, &file).unwrap();
    let back = import(&world, "back", &file).unwrap();
    let find = |library: &Library| library.search("columns of basalt", &SearchOptions::default()).unwrap().hits;
    assert!(!find(&back).is_empty() && find(&back) == find(&library));
    assert!(back.verify(false).unwrap().is_healthy());
}

#[test]
fn a_library_that_holds_something_is_never_replaced() {
    let world = World::new();
    let file = archived(&world);
    let err = import(&world, "default", &file).err().unwrap();
    assert_eq!(err.title, "Library exists");
    assert_eq!(world.open().documents().unwrap().len(), 2);
    drop(Library::open(LibraryOptions { name: Some("fresh".to_owned()), ..world.options() }).unwrap());
    assert_eq!(import(&world, "fresh", &file).unwrap().documents().unwrap().len(), 2);
}

#[test]
fn every_cut_and_many_flips_are_refused_and_leave_nothing() {
    let world = World::new();
    let file = archived(&world);
    let whole = std::fs::read(&file).unwrap();
    let broken = world.home().join("broken.outcrop");
    let tenths = (0..10).map(|tenth| whole.len() * tenth / 10);
    for cut in tenths.chain([1, whole.len() - 30, whole.len() - 10, whole.len() - 1]) {
        std::fs::write(&broken, &whole[..cut]).unwrap();
        let err = import(&world, "cut", &broken).err().unwrap();
        assert_eq!(err.title, "Library archive", "cut at {cut}");
        for told in ["the file ends early", &format!("its {cut} bytes"), "export it again"] {
            assert!(err.detail.contains(told), "cut at {cut}: {}", err.detail);
        }
    }
    for step in 1..20 {
        let mut flipped = whole.clone();
        let at = flipped.len() * step / 20;
        flipped[at] ^= 0x55;
        std::fs::write(&broken, &flipped).unwrap();
        // A flip in a date of the ZIP changes nothing that matters; what is opened must be whole.
        if let Ok(library) = import(&world, &format!("flip{step}"), &broken) {
            assert!(library.verify(false).unwrap().is_healthy(), "flip at {at}");
        }
    }
    assert!(!world.home().join("libraries/cut").exists());
    let left: Vec<_> = std::fs::read_dir(world.home().join("libraries")).unwrap().flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".import")), "{left:?}");
}

#[test]
fn another_zip_is_named_and_a_cancel_leaves_no_file() {
    let world = World::new();
    archived(&world);
    let other = world.home().join("other.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&other).unwrap());
    zip.start_file("readme.txt", zip::write::SimpleFileOptions::default()).unwrap();
    zip.finish().unwrap();
    assert!(import(&world, "other", &other).err().unwrap().detail.contains("archive.json"));
    std::fs::write(&other, "no archive").unwrap();
    let detail = import(&world, "other", &other).err().unwrap().detail;
    assert!(detail.contains("it is no file of `outcrop export`"), "{detail}");

    let cancel = CancelToken::new();
    cancel.cancel();
    let to = world.home().join("stopped.outcrop");
    assert!(world.open().export(&to, &mut |_, _| (), &cancel).is_err());
    assert!(!to.exists());
}
