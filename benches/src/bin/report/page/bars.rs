//! The table as bars.

use gmp_benches::report::Line as Row;
use gmp_benches::workloads::Group;
use maud::{Markup, html};

use crate::plots::quantity;
use crate::plots::ratios::{self, Bar, Group as Bars};

/// The groups in their order, and their names.
pub(crate) const GROUPS: [(Group, &str); 5] = [
    (Group::Scheduler, "Scheduler"),
    (Group::Blocking, "Closures that may block"),
    (Group::Time, "Timers"),
    (Group::Io, "Sockets and files"),
    (Group::Memory, "Memory"),
];

/// Three widths: for a telephone, for a window beside another one, and for a whole screen. The page
/// shows the one that fits.
const WIDTHS: [(&str, f64); 3] = [("narrow", 340.0), ("medium", 660.0), ("wide", 1040.0)];

/// The largest width that fits beside the text of a README.
const README_WIDTH: f64 = 830.0;

/// The rows as bars, for the page.
pub(crate) fn inline(rows: &[Row]) -> Markup {
    let groups = groups(rows);
    html! { @for (class, width) in WIDTHS { div class=(class) { (ratios::inline(&groups, width)) } } }
}

/// The rows as bars, in a file of its own. Limits are left out: they inform only developers of gmp.
pub(crate) fn file(rows: &[Row], lines: &[&str]) -> String {
    let mut groups = groups(rows);
    groups.iter_mut().flat_map(|group| &mut group.bars).for_each(|bar| bar.limit = None);
    ratios::file(&groups, README_WIDTH, lines)
}

/// The rows in groups, with the geometric mean below its rows.
fn groups(rows: &[Row]) -> Vec<Bars> {
    let group = |(group, title): &(Group, &'static str)| {
        let bars = rows.iter().filter(|row| row.group() == *group).map(bar);
        let mean = mean(rows).filter(|_| *group == Group::Scheduler);
        Bars { title, bars: bars.chain(mean).collect() }
    };
    GROUPS.iter().map(group).filter(|group| !group.bars.is_empty()).collect()
}

fn bar(row: &Row) -> Bar {
    Bar {
        name: row.workload.clone(),
        ratio: row.ratio(),
        limit: row.limit(),
        go: row.go.map(|go| go / row.tokio),
        smol: row.smol.map(|smol| smol / row.tokio),
        values: Some([row.gmp, row.tokio].map(|value| quantity(value, &row.unit))),
    }
}

fn mean(rows: &[Row]) -> Option<Bar> {
    let mean = Row::mean(rows)?;
    Some(Bar { name: "geometric mean".to_owned(), ratio: mean.ratio, limit: mean.limit(), ..Bar::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{row, scheduler};

    #[test]
    fn the_mean_stands_below_the_rows_that_it_is_of() {
        let mut rows = scheduler();
        rows.push(row("timeouts", 1.0, 2.0));
        let groups = groups(&rows);
        assert_eq!(groups.iter().map(|group| group.title).collect::<Vec<_>>(), ["Scheduler", "Timers"]);
        assert_eq!(groups[0].bars.last().unwrap().name, "geometric mean");
    }

    #[test]
    fn the_readme_is_shown_no_limits() {
        assert!(inline(&scheduler()).into_string().contains(">limit<"));
        assert!(!file(&scheduler(), &["title"]).contains(">limit<"));
    }
}
