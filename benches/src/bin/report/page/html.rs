//! The few parts that several sections of the page use.

use maud::{Markup, PreEscaped, html};

/// A column of a table: its heading, and the text of its cells.
pub(crate) type Column<T> = (&'static str, fn(&T) -> String);

/// A line of a table.
#[derive(Debug)]
pub(crate) enum Line {
    /// A heading for the lines that follow.
    Heading(String),
    /// A name and numbers.
    Cells(Vec<String>),
    /// A name and numbers with a fault.
    Bad(Vec<String>),
}

impl Line {
    pub(crate) fn new<T>(columns: &[Column<T>], row: &T, is_bad: bool) -> Self {
        Line::judged(columns.iter().map(|(_, cell)| cell(row)).collect(), is_bad)
    }

    pub(crate) fn judged(cells: Vec<String>, is_bad: bool) -> Self {
        if is_bad { Line::Bad(cells) } else { Line::Cells(cells) }
    }
}

/// The headings of columns.
pub(crate) fn head<T>(columns: &[Column<T>]) -> Vec<&'static str> {
    columns.iter().map(|(heading, _)| *heading).collect()
}

/// A table; the first column has names, the others numbers. The table scrolls by itself if the page
/// is narrow.
pub(crate) fn table(head: &[&str], lines: impl IntoIterator<Item = Line>) -> Markup {
    let cells = |bad: bool, cells: Vec<String>| {
        html! {
            tr class=[bad.then_some("bad")] {
                @for (index, cell) in cells.iter().enumerate() {
                    @if index == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                }
            }
        }
    };
    let line = |line: Line| match line {
        Line::Heading(text) => html! { tr.heading { th scope="rowgroup" colspan=(head.len()) { (text) } } },
        Line::Cells(line) => cells(false, line),
        Line::Bad(line) => cells(true, line),
    };
    html! {
        div.scroll { table {
            thead { tr { @for cell in head { th scope="col" { (cell) } } } }
            tbody { @for it in lines { (line(it)) } }
        } }
    }
}

/// A table whose columns have words instead of numbers.
pub(crate) fn words_table(head: &[&str], lines: impl IntoIterator<Item = Line>) -> Markup {
    html! { div.words { (table(head, lines)) } }
}

/// Drawings side by side, as many as there is room for.
pub(crate) fn panels(drawings: &[String]) -> Markup {
    html! { div.panels { @for drawing in drawings { (PreEscaped(drawing)) } } }
}
