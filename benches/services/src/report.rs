//! The table.

use crate::measure::{Figures, Row};

/// A column: its title, its figure, and how many digits follow the point.
type Column = (&'static str, fn(&Figures) -> f64, usize);

const COLUMNS: [Column; 7] = [
    ("requests/s", |figures| figures.requests_per_second, 0),
    ("p50 µs", |figures| figures.p50, 0),
    ("p99 µs", |figures| figures.p99, 0),
    ("p99.9 µs", |figures| figures.p999, 0),
    ("max µs", |figures| figures.max, 0),
    ("CPU µs", |figures| figures.cpu_per_request, 1),
    ("switches", |figures| figures.switches_per_request, 2),
];

/// Medians of the rounds as `tokio → gmp (Go)`, and of the requests a second gmp's ratio and its spread.
/// CPU time and context switches are for each request, and of the server alone.
pub(crate) fn print(rows: &[Row]) {
    let titles: Vec<_> = COLUMNS.iter().map(|(title, ..)| *title).collect();
    println!("| service | trouble | gmp over tokio | {} |", titles.join(" | "));
    println!("|---|---|---|{}", "---:|".repeat(COLUMNS.len()));
    for row in rows {
        let cells: Vec<_> = COLUMNS.iter().map(|column| cell(row, *column)).collect();
        println!("| {} | {} | {} | {} |", row.service.name(), row.trouble.name(), ratio(row), cells.join(" | "));
    }
}

fn cell(row: &Row, (_, figure, digits): Column) -> String {
    let [tokio, gmp, go] = row.rounds.each_ref().map(|rounds| {
        let median = (!rounds.is_empty()).then(|| median(rounds.iter().map(figure).collect()));
        median.map_or(String::new(), |figure| format!("{figure:.digits$}"))
    });
    if go.is_empty() { format!("{tokio} → {gmp}") } else { format!("{tokio} → {gmp} ({go})") }
}

/// Requests a second of the servers that were started one after the other.
fn ratio(row: &Row) -> String {
    let [tokio, gmp, _] = &row.rounds;
    let mut ratios: Vec<_> =
        tokio.iter().zip(gmp).map(|(tokio, gmp)| gmp.requests_per_second / tokio.requests_per_second).collect();
    ratios.sort_by(f64::total_cmp);
    let [low, high] = [ratios[0], ratios[ratios.len() - 1]];
    format!("{:.2} ({low:.2} to {high:.2})", median(ratios))
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    if figures.len() % 2 == 1 { figures[middle] } else { (figures[middle - 1] + figures[middle]) / 2.0 }
}
