//! Workbooks (XLSX, XLSB, XLS, ODS) through calamine: each sheet a section, each row a line with the names of its
//! columns, under the row's own number in the sheet.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use calamine::{Cell, Data, DataRef, ExcelDateTime, Ods, Reader, SheetType, Xls, Xlsb, Xlsx};

use super::blocks::{Block, BlockWriter, Notes, Paragraph};
use super::package::Package;
use super::rows::{RowWriter, is_header};
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, Metadata, TextBuilder, opendocument};

/// What the errors call this format.
const FORMAT: &str = "spreadsheet";
/// Cells of one sheet that are kept at once for formats that are not read cell by cell.
const MOST_COLUMNS: u32 = 16_384;

/// How a workbook is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Workbook {
    Xlsx,
    Xlsb,
    Xls,
    Ods,
}

type Source = BufReader<File>;

/// Reads the workbook at `path`.
pub(super) fn read(path: &Path, workbook: Workbook, limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    match read_cells(path, workbook, limits) {
        // calamine takes no white space between the elements of an ODS, which some programs write.
        Err(ExtractError::Damaged { .. }) if workbook == Workbook::Ods => {
            opendocument::read(path, DocumentKind::Spreadsheet, limits)
        }
        result => result,
    }
}

fn read_cells(path: &Path, workbook: Workbook, limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let mut sheets = Sheets::open(path, workbook, limits)?;
    let mut built = TextBuilder::new(limits);
    (built.title, built.metadata) = sheets.properties;
    let notes = Notes::new();
    let mut writer = BlockWriter::new(&mut built, &notes);
    for name in std::mem::take(&mut sheets.names) {
        let mut sheet = SheetWriter::new(&name);
        sheets.workbook.each_cell(&name, &mut |row, column, text| sheet.add(&mut writer, row, column, text))?;
        sheet.finish(&mut writer)?;
    }
    writer.finish();
    built.finish(DocumentKind::Spreadsheet)
}

struct Sheets {
    workbook: Box<dyn Cells>,
    names: Vec<String>,
    /// Title and the rest.
    properties: (Option<String>, Metadata),
}

impl Sheets {
    fn open(path: &Path, workbook: Workbook, limits: &ExtractLimits) -> Result<Self, ExtractError> {
        let mut properties = (None, Metadata::default());
        if workbook != Workbook::Xls {
            let mut package = Package::open(path, FORMAT, limits.text_bytes)?;
            package.expect_within_budget()?;
            properties = match workbook {
                Workbook::Ods => opendocument::properties(&mut package)?,
                _ => package.office_properties()?,
            };
        }
        let source = BufReader::new(File::open(path).map_err(|err| ExtractError::io(&err))?);
        let (workbook, names): (Box<dyn Cells>, _) = match workbook {
            Workbook::Xlsx => opened(Xlsx::new(source).map_err(xlsx_error)?),
            Workbook::Xlsb => opened(Xlsb::new(source).map_err(damaged)?),
            Workbook::Xls => opened(Xls::new(source).map_err(xls_error)?),
            Workbook::Ods => opened(Ods::new(source).map_err(ods_error)?),
        };
        Ok(Self { workbook, names, properties })
    }
}

fn opened<W: Cells + Reader<Source> + 'static>(workbook: W) -> (Box<dyn Cells>, Vec<String>) {
    let sheets = workbook.sheets_metadata().iter();
    let names = sheets.filter(|sheet| matches!(sheet.typ, SheetType::WorkSheet)).map(|sheet| sheet.name.clone());
    let names = names.collect();
    (Box::new(workbook), names)
}

/// Takes a cell: row and column from 0, and its text.
type OnCell<'a> = &'a mut dyn FnMut(u32, u32, &str) -> Result<(), ExtractError>;

/// A workbook whose cells come one after the other, row by row.
trait Cells {
    fn each_cell(&mut self, sheet: &str, on_cell: OnCell<'_>) -> Result<(), ExtractError>;
}

impl Cells for Xlsx<Source> {
    fn each_cell(&mut self, sheet: &str, on_cell: OnCell<'_>) -> Result<(), ExtractError> {
        let mut cells = self.worksheet_cells_reader(sheet).map_err(damaged)?;
        while let Some(cell) = cells.next_cell().map_err(damaged)? {
            give(&cell, on_cell)?;
        }
        Ok(())
    }
}

impl Cells for Xlsb<Source> {
    fn each_cell(&mut self, sheet: &str, on_cell: OnCell<'_>) -> Result<(), ExtractError> {
        let mut cells = self.worksheet_cells_reader(sheet).map_err(damaged)?;
        while let Some(cell) = cells.next_cell().map_err(damaged)? {
            give(&cell, on_cell)?;
        }
        Ok(())
    }
}

impl Cells for Xls<Source> {
    fn each_cell(&mut self, sheet: &str, on_cell: OnCell<'_>) -> Result<(), ExtractError> {
        give_range(&self.worksheet_range(sheet).map_err(damaged)?, on_cell)
    }
}

impl Cells for Ods<Source> {
    fn each_cell(&mut self, sheet: &str, on_cell: OnCell<'_>) -> Result<(), ExtractError> {
        give_range(&self.worksheet_range(sheet).map_err(damaged)?, on_cell)
    }
}

fn give(cell: &Cell<DataRef<'_>>, on_cell: OnCell<'_>) -> Result<(), ExtractError> {
    let (row, column) = cell.get_position();
    match cell.get_value() {
        DataRef::Empty => Ok(()),
        DataRef::SharedString(text) => on_cell(row, column, text),
        value => on_cell(row, column, &text_of(&Data::from(value.clone()))),
    }
}

fn give_range(range: &calamine::Range<Data>, on_cell: OnCell<'_>) -> Result<(), ExtractError> {
    let (first_row, first_column) = range.start().unwrap_or_default();
    for (row, column, value) in range.used_cells() {
        on_cell(first_row + row as u32, first_column + column as u32, &text_of(value))?;
    }
    Ok(())
}

/// A cell as a person reads it.
fn text_of(value: &Data) -> String {
    match value {
        Data::Empty => String::new(),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Int(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        Data::Bool(value) => value.to_string(),
        Data::DateTime(moment) => moment_text(moment),
        Data::Error(error) => error.to_string(),
    }
}

fn moment_text(moment: &ExcelDateTime) -> String {
    if moment.is_duration() {
        return format!("{} days", moment.as_f64());
    }
    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    if (hour, minute, second) == (0, 0, 0) { date } else { format!("{date} {hour:02}:{minute:02}:{second:02}") }
}

/// Collects the cells of one sheet to rows.
struct SheetWriter<'n> {
    name: &'n str,
    rows: RowWriter,
    /// The row under way: its number from 0, and its fields.
    row: Option<(u32, Vec<String>)>,
    /// The first row with text, until the second one says whether it is a header.
    first: Option<(u32, Vec<String>)>,
    is_begun: bool,
}

impl<'n> SheetWriter<'n> {
    fn new(name: &'n str) -> Self {
        Self { name, rows: RowWriter::default(), row: None, first: None, is_begun: false }
    }

    fn add(&mut self, writer: &mut BlockWriter<'_>, row: u32, column: u32, text: &str) -> Result<(), ExtractError> {
        if text.trim().is_empty() || column >= MOST_COLUMNS {
            return Ok(());
        }
        if self.row.as_ref().is_some_and(|(open, _)| *open != row) {
            self.end_row(writer)?;
        }
        let (_, fields) = self.row.get_or_insert_with(|| (row, Vec::new()));
        if fields.len() <= column as usize {
            fields.resize(column as usize + 1, String::new());
        }
        text.clone_into(&mut fields[column as usize]);
        Ok(())
    }

    fn end_row(&mut self, writer: &mut BlockWriter<'_>) -> Result<(), ExtractError> {
        let Some((row, fields)) = self.row.take() else {
            return Ok(());
        };
        match self.first.take() {
            Some((title_row, title)) if is_title(&title, &fields) => {
                self.write_row(writer, title_row, &title)?;
                self.first = Some((row, fields));
                Ok(())
            }
            Some((first_row, first)) => {
                self.write_first(writer, first_row, &first, &fields)?;
                self.write_row(writer, row, &fields)
            }
            None if self.is_begun => self.write_row(writer, row, &fields),
            None => {
                self.first = Some((row, fields));
                self.begin(writer)
            }
        }
    }

    fn begin(&mut self, writer: &mut BlockWriter<'_>) -> Result<(), ExtractError> {
        self.is_begun = true;
        let title = Paragraph { text: self.name.to_owned(), level: Some(1), ..Paragraph::default() };
        writer.write(&[Block::Paragraph(title)])?;
        writer.built().break_paragraph();
        Ok(())
    }

    /// The first row names the columns, or is a row like the others.
    fn write_first(
        &mut self,
        writer: &mut BlockWriter<'_>,
        row: u32,
        first: &[String],
        second: &[String],
    ) -> Result<(), ExtractError> {
        let (names, below) = (first.iter().map(String::as_str), second.iter().map(String::as_str));
        if is_header(names.clone(), below) {
            self.rows.add_header(names);
            return Ok(());
        }
        self.write_row(writer, row, first)
    }

    fn write_row(&mut self, writer: &mut BlockWriter<'_>, row: u32, fields: &[String]) -> Result<(), ExtractError> {
        self.rows.skip_to(row);
        self.rows.write(writer.built(), fields.iter().map(String::as_str))
    }

    fn finish(mut self, writer: &mut BlockWriter<'_>) -> Result<(), ExtractError> {
        self.end_row(writer)?;
        if let Some((row, first)) = self.first.take() {
            self.write_row(writer, row, &first)?;
        }
        writer.built().break_paragraph();
        Ok(())
    }
}

/// Whether a row is a title over a table: one field over several.
fn is_title(fields: &[String], below: &[String]) -> bool {
    let texts = |fields: &[String]| fields.iter().filter(|field| !field.is_empty()).count();
    texts(fields) == 1 && texts(below) > 1
}

fn damaged(err: impl std::fmt::Display) -> ExtractError {
    ExtractError::damaged(FORMAT, err.to_string())
}

fn xlsx_error(err: calamine::XlsxError) -> ExtractError {
    if matches!(err, calamine::XlsxError::Password) { ExtractError::encrypted() } else { damaged(err) }
}

fn xls_error(err: calamine::XlsError) -> ExtractError {
    if matches!(err, calamine::XlsError::Password) { ExtractError::encrypted() } else { damaged(err) }
}

fn ods_error(err: calamine::OdsError) -> ExtractError {
    if matches!(err, calamine::OdsError::Password) { ExtractError::encrypted() } else { damaged(err) }
}
