//! Where output goes: results on stdout, progress and notes on stderr.

use std::io::{IsTerminal as _, Write as _};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::error::CliError;

/// Writes one line to stdout. A closed pipe (`outcrop … | head`) is not an error.
pub(super) fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Writes a file that was asked for.
pub(super) fn write_file(path: &std::path::Path, bytes: &[u8]) -> Result<(), CliError> {
    std::fs::write(path, bytes)
        .map_err(|err| CliError::failed("the file could not be written", format!("{err}: {path:?}"), None))
}

/// Checks before the work that a file can be made at each of these places.
///
/// # Errors
/// The folder is not there, or the place is a folder.
pub(super) fn expect_places<'p>(places: impl IntoIterator<Item = &'p std::path::PathBuf>) -> Result<(), CliError> {
    let failed = |detail| Err(CliError::failed("the file could not be written", detail, None));
    for path in places {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() {
            return failed(format!("{path:?} is a folder; expected a file's name"));
        }
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return failed(format!("there is no folder {folder:?}; make it, or name another place"));
        }
    }
    Ok(())
}

/// Writes a drawing as SVG and as PNG, where they were asked for.
pub(super) fn write_drawing(
    (svg, png): (Option<&std::path::Path>, Option<&std::path::Path>),
    draw: impl FnOnce() -> String,
) -> Result<(), CliError> {
    if svg.is_none() && png.is_none() {
        return Ok(());
    }
    let drawing = draw();
    if let Some(path) = svg {
        write_file(path, drawing.as_bytes())?;
    }
    if let Some(path) = png {
        let picture = crate::figure::to_png(&drawing, PNG_SCALE)
            .map_err(|err| CliError::failed("the figure could not be drawn", err, None))?;
        write_file(path, &picture)?;
    }
    Ok(())
}

/// Pixels for each unit of a drawing.
const PNG_SCALE: f32 = 2.0;

/// Writes a piece of a line to stdout and shows it at once.
pub(super) fn print_piece(piece: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = write!(stdout, "{piece}");
    let _ = stdout.flush();
}

/// Writes one JSON value to stdout.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|err| CliError::failed("the result could not be written as JSON", err, None))?;
    print_line(&text);
    Ok(())
}

/// Columns of text, aligned by display of their characters; the first row is the header.
pub(super) fn print_table(rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| pad(cell, *width)).collect();
        print_line(cells.join("  ").trim_end());
    }
}

fn pad(cell: &str, width: usize) -> String {
    let missing = width.saturating_sub(cell.chars().count());
    format!("{cell}{}", " ".repeat(missing))
}

/// A progress bar on stderr; invisible when stderr is no terminal or `quiet` is set.
pub(super) fn progress_bar(quiet: bool, total: u64, template: &str) -> ProgressBar {
    let target = if quiet || !std::io::stderr().is_terminal() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar
}

/// A duration for people: `0.8 s`, `2 min 5 s`.
pub(super) fn human_secs(secs: f64) -> String {
    if secs < 60.0 {
        return format!("{secs:.1} s");
    }
    let whole = secs.round() as u64;
    format!("{} min {} s", whole / 60, whole % 60)
}

/// A size for people: `512 B`, `34.8 MB` (powers of 1000).
pub(super) fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if value < 999.95 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    format!("{value:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_read_well() {
        assert_eq!(human_bytes(999), "999 B");
        assert_eq!(human_bytes(34_824_680), "34.8 MB");
        assert_eq!(human_bytes(999_999_999), "1.0 GB");
        assert_eq!(human_secs(0.84), "0.8 s");
        assert_eq!(human_secs(125.2), "2 min 5 s");
    }
}
