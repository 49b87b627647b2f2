//! Cost by number of Ps.

use gmp_benches::report::Line as Row;
use gmp_benches::side::Side;
use maud::Markup;

use super::html::panels;
use crate::plots::{Line, procs};

/// One panel per workload, in the order of the rows.
pub(crate) fn plots(rows: &[Row], cores: Option<usize>) -> Markup {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.workload.as_str()) {
            names.push(&row.workload);
        }
    }
    let drawing = |name| {
        let unit = rows.iter().find(|row| row.workload == name).map_or("", |row| &row.unit);
        procs::inline(name, unit, cores.unwrap_or_default(), lines(name, rows))
    };
    panels(&names.into_iter().map(drawing).collect::<Vec<_>>())
}

fn lines(name: &str, rows: &[Row]) -> Vec<Line> {
    let rows = || rows.iter().filter(|row| row.workload == name);
    let of = |value: fn(&Row) -> f64| rows().map(|row| (row.procs as f64, value(row))).collect();
    let (gmp, tokio) = (of(|row| row.gmp), of(|row| row.tokio));
    vec![Line { side: Side::Gmp, points: gmp }, Line { side: Side::Tokio, points: tokio }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::row;

    #[test]
    fn a_workload_has_one_panel_with_all_its_numbers_of_procs() {
        let at = |procs, name| Row { procs, ..row(name, 50.0, 100.0) };
        let rows = [at(1, "ring_500"), at(1, "mpsc_1"), at(64, "ring_500")];
        assert_eq!(plots(&rows, None).into_string().matches("<svg").count(), 2);
        assert_eq!(lines("ring_500", &rows)[1].points, [(1.0, 100.0), (64.0, 100.0)]);
    }
}
