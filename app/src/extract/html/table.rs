//! One HTML data table: its cells in a grid, written as rows.

use ego_tree::NodeRef;
use scraper::Node;

use super::walker::{is_unseen, visible_text};
use crate::extract::rows::{RowWriter, is_header};
use crate::extract::{ExtractError, TextBuilder};

/// Columns that one cell may span; more is a mistake or an attack.
const MOST_COLUMNS_SPANNED: usize = 100;

/// A cell of the source.
struct Cell {
    text: String,
    columns: usize,
    rows: usize,
    is_header: bool,
}

/// A row of the source.
struct Row {
    cells: Vec<Cell>,
    in_head: bool,
}

/// Writes the table at `node`, which holds no other table.
pub(super) fn write_table(built: &mut TextBuilder, node: NodeRef<'_, Node>) -> Result<(), ExtractError> {
    if let Some(caption) = named_children(node, "caption").next() {
        built.push(&visible_text(caption))?;
        built.break_line();
    }
    let rows = source_rows(node);
    let header_rows = count_header_rows(&rows);
    let mut writer = RowWriter::default();
    let mut grid = Grid::default();
    for (at, row) in rows.iter().enumerate() {
        let fields = grid.place(row, at < header_rows);
        if at < header_rows {
            writer.add_header(fields.iter().map(String::as_str));
        } else {
            writer.write(built, fields.iter().map(String::as_str))?;
        }
    }
    if header_rows == rows.len() {
        built.push(&writer.header_line())?;
    }
    Ok(())
}

/// Cells that reach down into the rows below, by column, with the rows left.
#[derive(Default)]
struct Grid {
    reaching: Vec<Option<(usize, String)>>,
}

impl Grid {
    /// The fields of `row`, with what reaches into it from above. A header cell names each column it spans.
    fn place(&mut self, row: &Row, names_columns: bool) -> Vec<String> {
        let mut fields = Vec::new();
        for cell in &row.cells {
            self.take_reaching(&mut fields);
            for spanned in 0..cell.columns {
                let repeats = spanned == 0 || names_columns;
                let text = if repeats { cell.text.as_str() } else { "" };
                self.reach_down(fields.len(), cell.rows, text);
                fields.push(text.to_owned());
            }
        }
        self.take_reaching(&mut fields);
        fields
    }

    fn take_reaching(&mut self, fields: &mut Vec<String>) {
        while let Some(Some((rows_left, text))) = self.reaching.get_mut(fields.len()) {
            fields.push(text.clone());
            *rows_left -= 1;
            if *rows_left == 0 {
                self.reaching[fields.len() - 1] = None;
            }
        }
    }

    fn reach_down(&mut self, column: usize, rows: usize, text: &str) {
        if rows > 1 {
            if self.reaching.len() <= column {
                self.reaching.resize(column + 1, None);
            }
            self.reaching[column] = Some((rows - 1, text.to_owned()));
        }
    }
}

fn count_header_rows(rows: &[Row]) -> usize {
    let is_marked = |row: &Row| row.in_head || row.cells.iter().all(|cell| cell.is_header);
    let marked = rows.iter().take_while(|row| is_marked(row)).count();
    if marked > 0 || rows.len() < 2 {
        return marked;
    }
    let texts = |row: usize| rows[row].cells.iter().map(|cell| cell.text.as_str());
    let all_named = texts(0).all(|text| !text.is_empty()) && rows[0].cells.len() > 1;
    usize::from(all_named && is_header(texts(0), texts(1)))
}

fn source_rows(table: NodeRef<'_, Node>) -> Vec<Row> {
    let mut rows = Vec::new();
    for part in table.children() {
        match name_of(part) {
            "tr" => rows.push(source_row(part, false)),
            name @ ("thead" | "tbody" | "tfoot") => {
                let in_head = name == "thead";
                rows.extend(named_children(part, "tr").map(|row| source_row(row, in_head)));
            }
            _ => {}
        }
    }
    rows.retain(|row| !row.cells.is_empty());
    rows
}

fn source_row(row: NodeRef<'_, Node>, in_head: bool) -> Row {
    let cells = row.children().filter_map(source_cell).collect();
    Row { cells, in_head }
}

fn source_cell(node: NodeRef<'_, Node>) -> Option<Cell> {
    let element = node.value().as_element()?;
    if !matches!(element.name(), "td" | "th") || is_unseen(element) {
        return None;
    }
    let span = |name: &str| {
        let value = element.attr(name).and_then(|span| span.trim().parse().ok());
        value.unwrap_or(1_usize).max(1)
    };
    Some(Cell {
        text: visible_text(node),
        columns: span("colspan").min(MOST_COLUMNS_SPANNED),
        rows: span("rowspan"),
        is_header: element.name() == "th",
    })
}

fn named_children<'a>(node: NodeRef<'a, Node>, name: &'static str) -> impl Iterator<Item = NodeRef<'a, Node>> {
    node.children().filter(move |child| name_of(*child) == name)
}

fn name_of(node: NodeRef<'_, Node>) -> &str {
    match node.value() {
        Node::Element(element) => element.name(),
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use crate::extract::{ExtractLimits, ReadOptions, html};

    fn read_text(html: &str) -> String {
        html::read(html.as_bytes(), &ReadOptions::default(), &ExtractLimits::default()).unwrap().text
    }

    #[test]
    fn spans_repeat_what_a_row_needs() {
        let text = read_text(
            "<table><thead><tr><th rowspan=2>Region<th colspan=2>Sales<tr><th>2023<th>2024</thead>\
             <tr><td rowspan=2>North<td>1<td>2<tr><td>3<td>4</table>",
        );
        assert_eq!(
            text,
            "Region: North; Sales / 2023: 1; Sales / 2024: 2\nRegion: North; Sales / 2023: 3; Sales / 2024: 4"
        );
    }

    #[test]
    fn a_first_row_of_names_is_a_header_without_being_marked() {
        let text = read_text("<table><caption>Parts</caption><tr><td>Part<td>Mass<tr><td>bolt<td>5</table>");
        assert_eq!(text, "Parts\nPart: bolt; Mass: 5");
    }

    #[test]
    fn a_table_without_header_keeps_its_values() {
        assert_eq!(read_text("<table><tr><td>1<td>2<tr><td>3<td>4</table>"), "1; 2\n3; 4");
    }
}
