//! Tables on the terminal and on the report's page, from one description.

/// A column: its heading, its width on the terminal (below zero: flush left), and the text of its
/// cells.
pub type Column<T> = (&'static str, i32, fn(&T) -> String);

pub fn headings<T>(columns: &[Column<T>]) -> String {
    columns.iter().map(|(heading, width, _)| padded(heading, *width)).collect()
}

pub fn line<T>(columns: &[Column<T>], row: &T) -> String {
    columns.iter().map(|(_, width, cell)| padded(&cell(row), *width)).collect()
}

fn padded(cell: &str, width: i32) -> String {
    let size = width.unsigned_abs() as usize;
    if width < 0 { format!("{cell:<size$}") } else { format!("{cell:>size$}") }
}

/// A cell of a table. A missing value is a dash.
pub fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or("–".to_owned(), |value| value.to_string())
}

pub fn decimals(value: f64) -> String {
    format!("{value:.2}")
}
