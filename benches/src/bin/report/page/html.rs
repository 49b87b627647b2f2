//! The tables of the page.

use maud::{Markup, html};

/// A column of a table: its heading, and the text of its cells.
pub(crate) type Column<T> = (&'static str, fn(&T) -> String);

#[derive(Debug)]
pub(crate) struct Line {
    cells: Vec<String>,
    /// `heading`, or `bad` if there is a fault.
    class: Option<&'static str>,
}

impl Line {
    /// A name and numbers, which may have a fault.
    pub(crate) fn new(cells: Vec<String>, is_bad: bool) -> Self {
        Line { cells, class: is_bad.then_some("bad") }
    }

    /// A heading for the lines that follow.
    pub(crate) fn heading(text: &str) -> Self {
        Line { cells: vec![text.to_owned()], class: Some("heading") }
    }

    pub(crate) fn of<T>(columns: &[Column<T>], row: &T, is_bad: bool) -> Self {
        Line::new(columns.iter().map(|(_, cell)| cell(row)).collect(), is_bad)
    }
}

pub(crate) fn head<T>(columns: &[Column<T>]) -> Vec<&'static str> {
    columns.iter().map(|(heading, _)| *heading).collect()
}

/// A table; the first column has names, the others numbers. The table scrolls by itself if the page
/// is narrow.
pub(crate) fn table(head: &[&str], lines: impl IntoIterator<Item = Line>) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { @for cell in head { th scope="col" { (cell) } } } }
            tbody { @for Line { cells, class } in lines {
                tr class=[class] {
                    @if class == Some("heading") {
                        th scope="rowgroup" colspan=(head.len()) { (cells[0]) }
                    } @else {
                        th scope="row" { (cells[0]) }
                        @for cell in &cells[1..] { td { (cell) } }
                    }
                }
            } }
        } }
    }
}

/// A table whose columns have words instead of numbers.
pub(crate) fn words_table(head: &[&str], lines: impl IntoIterator<Item = Line>) -> Markup {
    html! { div.words { (table(head, lines)) } }
}
