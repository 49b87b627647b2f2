//! The table as bars.

use gmp_benches::report::{Line as Row, grouped};
use gmp_benches::workloads::Group;
use maud::{Markup, html};

use crate::plots::ratios::{self, Group as Bars};

/// Three widths: for a telephone, for a window beside another one, and for a whole screen. The page
/// shows the one that fits.
const WIDTHS: [(&str, f64); 3] = [("narrow", 340.0), ("medium", 660.0), ("wide", 1040.0)];

/// The largest width that fits beside the text of a README.
const README_WIDTH: f64 = 830.0;

/// The rows as bars, for the page.
pub(crate) fn bars(rows: &[Row]) -> Markup {
    let mean = Row::mean(rows);
    let groups = groups(rows, mean.as_ref());
    html! { @for (class, width) in WIDTHS { div class=(class) { (ratios::inline(&groups, width)) } } }
}

/// The rows as bars, in a file of its own.
pub(crate) fn file(rows: &[Row], lines: &[&str]) -> String {
    ratios::file(&groups(rows, Row::mean(rows).as_ref()), README_WIDTH, lines)
}

/// The geometric mean stands below its rows.
fn groups<'a>(rows: &'a [Row], mean: Option<&'a Row>) -> Vec<Bars<'a>> {
    let groups = grouped(rows.iter().chain(mean), Row::group).into_iter();
    groups.map(|(group, rows)| (title(group), rows)).collect()
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
        let (rows, mean) = (scheduler(), Row::mean(&scheduler()));
        let groups = groups(&rows, mean.as_ref());
        assert_eq!((groups.len(), groups[0].1.last().unwrap().name()), (1, "geometric mean"));
    }
}
