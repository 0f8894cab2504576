//! `outcrop map`: the passages of the library in the plane, like near like.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::Ending;
use super::error::CliError;
use super::output::{expect_places, print_line, progress_bar, write_drawing, write_file};
use super::session::Session;
use crate::library::{Access, LibraryMap};
use crate::similarity::MapLayout;

#[derive(Debug, ClapArgs)]
pub(super) struct MapVerb {
    /// How it is laid out: pca (principal components) or umap (neighbours stay together)
    #[arg(long, default_value_t = MapLayout::Pca, value_name = "pca|umap")]
    layout: MapLayout,
    /// Write the map to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the map to this file, as a PNG
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Write the places of the passages to this file as a table
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// A passage with its place, from -1 to 1 each way.
#[derive(Serialize)]
struct Place<'a> {
    document: u64,
    title: &'a str,
    start: usize,
    x: f32,
    y: f32,
}

/// Lays the passages out and says where each lies.
pub(super) fn run(session: &Session, verb: &MapVerb) -> Result<Ending, CliError> {
    expect_places(verb.svg.iter().chain(&verb.png).chain(&verb.csv))?;
    let library = session.open_library(Access::Read)?;
    let bar = progress_bar(session.global.quiet, 0, "{bar:24} {percent} % · {eta} left");
    let on_done = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    let map = library.map(verb.layout, &session.cancel, &on_done);
    bar.finish_and_clear();
    let map = map?;
    write_drawing((verb.svg.as_deref(), verb.png.as_deref()), || map.projection.to_svg(&session.global.library))?;
    if let Some(path) = &verb.csv {
        write_file(path, map.projection.to_csv().as_bytes())?;
    }
    session.print(&places(&map), |places| {
        let left_out = if map.left_out > 0 { format!("; {} more are left out", map.left_out) } else { String::new() };
        print_line(&format!("{} passages of {} documents{left_out}", places.len(), map.projection.names.len()));
        if verb.svg.is_none() && verb.png.is_none() && verb.csv.is_none() {
            print_line("write the map with --svg, --png or --csv, or its places with --json");
        }
    })?;
    Ok(Ending::Done)
}

fn places(map: &LibraryMap) -> Vec<Place<'_>> {
    let titles = map.projection.groups.iter().map(|group| map.projection.names.get(*group));
    let points = map.passages.iter().zip(&map.projection.points).zip(titles);
    let place = points.map(|((passage, point), title)| Place {
        document: passage.document.0,
        title: title.map_or("", String::as_str),
        start: passage.start,
        x: point.x,
        y: point.y,
    });
    place.collect()
}
