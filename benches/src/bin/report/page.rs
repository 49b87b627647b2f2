//! The page: one file, without scripts and without a network, that is as good to read on a telephone as on a wide screen.

mod bars;
mod how;
mod html;
mod minutes;
mod mix;
mod overview;
mod sweep;
mod table;
mod ticker;
mod words;

use gmp_benches::plots;

use self::html::{not_measured, paragraph, section};
use crate::saved::{Row, Saved};

const SHEET: &str = include_str!("page.css");

/// The whole page.
pub(crate) fn html(saved: &Saved) -> String {
    let sections = [ratios(saved), table(saved), mix(saved), ticker(saved), procs(saved), long_run(saved), how(saved)];
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>gmp beside tokio</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<style>\n{SHEET}{}</style>\n</head>\n<body>\n\
         <h1>gmp beside tokio</h1>\n{}{}</body>\n</html>\n",
        plots::sheet(),
        overview::body(saved),
        sections.concat(),
    )
}

/// The bars as a file of its own.
pub(crate) fn svg(saved: &Saved) -> String {
    let on = saved.about.first().map(|(_, about)| about);
    let tokio = on.map_or(String::new(), |about| format!(" {}", about.tokio));
    let procs = saved.table.first().map_or(0, |row| row.procs);
    let below = format!("Cost of an operation as a multiple of tokio's{tokio}, {procs} threads, logarithmic: shorter to the left is faster");
    bars::file(&saved.table, &["gmp beside tokio", &below])
}
