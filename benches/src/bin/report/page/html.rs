//! The few elements that a page is made of.

use gmp_benches::plots::escape;

/// A part of the page under a heading; `body` is HTML.
pub(crate) fn section(id: &str, title: &str, body: &str) -> String {
    format!("<section id=\"{id}\">\n<h2>{}</h2>\n{body}</section>\n", escape(title))
}

/// A paragraph of plain text.
pub(crate) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(text))
}

/// A paragraph that nobody must miss.
pub(crate) fn warning(text: &str) -> String {
    format!("<p class=\"warning\">{}</p>\n", escape(text))
}

/// What stands where results are missing.
pub(crate) fn not_measured(command: &str) -> String {
    let command = escape(command);
    format!("<p class=\"missing\">Not measured yet: <code>{command}</code> does.</p>\n")
}

/// Drawings beside each other as far as there is room.
pub(crate) fn panels(drawings: &[String]) -> String {
    format!("<div class=\"panels\">\n{}</div>\n", drawings.concat())
}

/// A table; the first column has names, the others numbers. It scrolls by itself where the page is narrow.
pub(crate) fn table(head: &[&str], rows: impl IntoIterator<Item = Line>) -> String {
    let head: String = head.iter().map(|cell| format!("<th scope=\"col\">{}</th>", escape(cell))).collect();
    let body: String = rows.into_iter().map(Line::html).collect();
    format!("<div class=\"scroll\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n")
}

/// A table whose columns have words instead of numbers.
pub(crate) fn words_table(head: &[&str], rows: impl IntoIterator<Item = Line>) -> String {
    format!("<div class=\"words\">\n{}</div>\n", table(head, rows))
}

/// HTML that is shown when its title is clicked.
pub(crate) fn folded(title: &str, body: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n{body}</details>\n", escape(title))
}

/// A line of a table.
#[derive(Debug)]
pub(crate) enum Line {
    /// What the following lines have in common; over so many columns.
    Heading(String, usize),
    /// A name and numbers, as plain text.
    Cells(Vec<String>),
    /// The same where something is as it should not be.
    Bad(Vec<String>),
}

impl Line {
    fn html(self) -> String {
        let (class, cells) = match self {
            Line::Heading(text, columns) => {
                let text = escape(&text);
                return format!(
                    "<tr class=\"heading\"><th scope=\"rowgroup\" colspan=\"{columns}\">{text}</th></tr>\n"
                );
            }
            Line::Cells(cells) => ("", cells),
            Line::Bad(cells) => (" class=\"bad\"", cells),
        };
        let cell = |(index, text): (usize, &String)| match index {
            0 => format!("<th scope=\"row\">{}</th>", escape(text)),
            _ => format!("<td>{}</td>", escape(text)),
        };
        let cells: String = cells.iter().enumerate().map(cell).collect();
        format!("<tr{class}>{cells}</tr>\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_files_cannot_become_markup() {
        let evil = || "<script>".to_owned();
        let table =
            table(&["<b>"], [Line::Heading(evil(), 2), Line::Cells(vec![evil(), evil()]), Line::Bad(vec![evil()])]);
        let html = [table, paragraph("<b>"), section("id", "<b>", ""), not_measured("<b>"), warning("<b>")].concat();
        assert!(!html.contains("<script>") && !html.contains("<b>"), "{html}");
    }
}
