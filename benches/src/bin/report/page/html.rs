//! The tables of the page.

use gmp_benches::report::Column;
use maud::{Markup, html};

/// Rows that belong together, and their heading.
pub(crate) type Group<'a, T> = (&'a str, Vec<&'a T>);

/// The rows in groups, in the order of the groups. A group without rows is left out.
pub(crate) fn grouped<'a, T, K: PartialEq>(
    rows: &'a [T],
    groups: &[(K, &'a str)],
    of: fn(&T) -> K,
) -> Vec<Group<'a, T>> {
    let group = |(key, title): &(K, &'a str)| (*title, rows.iter().filter(|row| of(row) == *key).collect::<Vec<_>>());
    groups.iter().map(group).filter(|group| !group.1.is_empty()).collect()
}

/// A table; the first column has names, the others numbers. The rows with a fault are marked. The
/// table scrolls by itself if the page is narrow.
pub(crate) fn table<T>(columns: &[Column<T>], groups: &[Group<'_, T>], is_bad: fn(&T) -> bool) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { @for (heading, ..) in columns { th scope="col" { (heading) } } } }
            tbody { @for (heading, rows) in groups {
                @if !heading.is_empty() {
                    tr.heading { th scope="rowgroup" colspan=(columns.len()) { (heading) } }
                }
                @for row in rows {
                    tr class=[is_bad(row).then_some("bad")] {
                        th scope="row" { (columns[0].2(row)) }
                        @for (.., cell) in &columns[1..] { td { (cell(row)) } }
                    }
                }
            } }
        } }
    }
}

/// A table whose columns have words instead of numbers.
pub(crate) fn words_table<'a, T: 'a>(columns: &[Column<T>], rows: impl IntoIterator<Item = &'a T>) -> Markup {
    html! { div.words { (table(columns, &[("", rows.into_iter().collect())], |_| false)) } }
}
