//! The table as bars.

use gmp_benches::report::{Line as Row, grouped, quantity};
use gmp_benches::workloads::Group;
use maud::{Markup, html};

use crate::plots::ratios::{self, Bar, Group as Bars};

/// Three widths: for a telephone, for a window beside another one, and for a whole screen. The page
/// shows the one that fits.
const WIDTHS: [(&str, f64); 3] = [("narrow", 340.0), ("medium", 660.0), ("wide", 1040.0)];

/// The largest width that fits beside the text of a README.
const README_WIDTH: f64 = 830.0;

/// The rows as bars, for the page.
pub(crate) fn bars(rows: &[Row]) -> Markup {
    let groups = groups(rows);
    html! { @for (class, width) in WIDTHS { div class=(class) { (ratios::inline(&groups, width)) } } }
}

/// The rows as bars, in a file of its own. Limits are left out: they inform only developers of gmp.
pub(crate) fn file(rows: &[Row], lines: &[&str]) -> String {
    let mut groups = groups(rows);
    groups.iter_mut().flat_map(|group| &mut group.bars).for_each(|bar| bar.limit = None);
    ratios::file(&groups, README_WIDTH, lines)
}

/// The geometric mean stands below its rows.
fn groups(rows: &[Row]) -> Vec<Bars> {
    let mean = Row::mean(rows);
    let group = |(group, rows): (Group, Vec<&Row>)| {
        let mean = mean.as_ref().filter(|mean| mean.group() == group);
        Bars { title: title(group).to_owned(), bars: rows.into_iter().chain(mean).map(bar).collect() }
    };
    grouped(rows, Row::group).into_iter().map(group).collect()
}

fn title(group: Group) -> &'static str {
    match group {
        Group::Scheduler => "Scheduler",
        Group::Blocking => "Closures that may block",
        Group::Time => "Timers",
        Group::Io => "Sockets and files",
        Group::Memory => "Memory",
    }
}

fn bar(row: &Row) -> Bar {
    let over_tokio = |value: Option<f64>| value.filter(|_| !row.is_mean()).map(|value| value / row.tokio);
    Bar {
        name: row.name().to_owned(),
        ratio: row.ratio(),
        limit: row.limit(),
        go: over_tokio(row.go),
        smol: over_tokio(row.smol),
        values: (!row.is_mean()).then(|| [row.gmp, row.tokio].map(|value| quantity(value, &row.unit))),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use gmp_benches::measure::Samples;
    use gmp_benches::rt::Tokio;
    use gmp_benches::workloads;

    use super::*;

    /// All rows of the scheduler, gmp's twice as fast as tokio's.
    pub(crate) fn scheduler() -> Vec<Row> {
        let samples = |nanos| Some(Samples::new(vec![nanos]));
        let row = |name| Row::new(name, 2, [samples(50.0), samples(100.0), None, None]);
        workloads::scheduler::<Tokio>().iter().map(|workload| row(workload.name)).collect()
    }

    #[test]
    fn the_mean_stands_below_its_rows() {
        let groups = groups(&scheduler());
        assert_eq!((groups.len(), groups[0].bars.last().unwrap().name.as_str()), (1, "geometric mean"));
    }
}
