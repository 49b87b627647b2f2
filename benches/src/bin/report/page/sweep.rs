//! Cost against the number of Ps.

use gmp_benches::plots::Side;
use gmp_benches::plots::procs::{self, Sweep};
use gmp_benches::report::Line as Row;
use maud::Markup;

use super::html::panels;

/// A panel a workload, in the order of the rows.
pub(crate) fn plots(rows: &[Row], cores: Option<usize>) -> Markup {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.workload.as_str()) {
            names.push(&row.workload);
        }
    }
    let drawings: Vec<String> = names.into_iter().map(|name| procs::inline(&sweep(name, rows, cores))).collect();
    panels(&drawings)
}

fn sweep(name: &str, rows: &[Row], cores: Option<usize>) -> Sweep {
    let rows = || rows.iter().filter(|row| row.workload == name);
    let of = |value: fn(&Row) -> f64| rows().map(|row| (row.procs as f64, value(row))).collect();
    Sweep {
        name: name.to_owned(),
        unit: rows().next().map_or(String::new(), |row| row.unit.clone()),
        cores: cores.unwrap_or_default(),
        sides: vec![(Side::Gmp, of(|row| row.gmp)), (Side::Tokio, of(|row| row.tokio))],
    }
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
        assert_eq!(sweep("ring_500", &rows, None).sides[1].1, [(1.0, 100.0), (64.0, 100.0)]);
    }
}
