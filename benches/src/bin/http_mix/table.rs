//! The table on the terminal.

use gmp_benches::http::Reuse;
use gmp_benches::report::{Mix, met, or_dash};

use crate::args::Options;
use crate::compare::Cell;

/// A column: its heading, its width, and the text of its cells.
pub(crate) type Column<T> = (&'static str, usize, fn(&T) -> String);

const COLUMNS: [Column<Mix>; 20] = [
    ("variant", 8, |row| row.variant.clone()),
    ("on", 15, |row| row.side.name().to_owned()),
    ("requests", 10, |row| row.requests.to_string()),
    ("failed", 7, |row| (row.failed + row.holding_failed).to_string()),
    ("p50", 9, |row| millis(row.p50)),
    ("p99", 9, |row| millis(row.p99)),
    ("p99.9", 9, |row| millis(row.p99_9)),
    ("max", 10, |row| millis(row.max)),
    ("x plain", 10, |row| format!("{:.2}", row.times_plain)),
    ("in rounds", 20, |row| row.times_plain_range.map(|times| format!("{times:.2}")).join("..")),
    ("limit", 6, |row| or_dash(row.limit.map(|limit| format!("{limit:.2}")))),
    ("met", 7, |row| or_dash(row.limit.map(|limit| met(row.times_plain, limit, 0.0)))),
    ("sent p99", 9, |row| millis(row.served_p99)),
    ("late p99", 9, |row| millis(row.sent_late_p99)),
    ("late max", 9, |row| millis(row.sent_late_max)),
    ("no conn", 8, |row| row.no_connection.to_string()),
    ("threads", 8, |row| or_dash(row.threads)),
    ("CPU s", 7, |row| or_dash(row.cpu_s.map(|cpu| format!("{cpu:.2}")))),
    ("switches", 9, |row| or_dash(row.context_switches)),
    ("busy", 5, |row| or_dash(row.busy.map(|busy| format!("{:.0}%", busy * 100.0)))),
];

fn millis(value: f64) -> String {
    format!("{value:.2}")
}

pub(crate) fn line(row: &Mix) {
    println!("{}", cells(&COLUMNS, |(_, _, value)| value(row)));
}

/// The cells of a line, each as wide as its column.
pub(crate) fn cells<T>(columns: &[Column<T>], cell: impl Fn(&Column<T>) -> String) -> String {
    columns.iter().map(|column| format!("{:>width$}", cell(column), width = column.1)).collect()
}

pub(crate) fn header(options: &Options, rate: u64) {
    println!(
        "\n{rate} requests a second, {} Ps and workers, {} servers for each row measured for {} s each, in turns",
        options.procs,
        options.reps(),
        options.duration().as_secs()
    );
    if options.reuse() == Reuse::Never {
        println!("a new connection for every request");
    }
    if options.shared {
        println!("all over the same connections");
    }
    println!(
        "plain: all ask for `/`; block: 5 % block their thread for 100 ms; compute: 5 % compute for 20 ms\n\
         latencies in ms from the due moment, of the requests for `/`; x plain: p99 over the side's own when none hold \
         their thread,\nthe median of the rounds, and the lowest and the highest; sent: p99 from the moment of sending; \
         late: sent late by the generator\nitself; no conn: sent late because each connection was waiting for an answer; \
         CPU and switches: the server's, for one of the servers;\nbusy: of the cores, generator included\n"
    );
    println!("{}", cells(&COLUMNS, |(heading, ..)| (*heading).to_owned()));
}

/// The reasons why requests failed.
pub(crate) fn errors(cells: &[Cell]) {
    for Cell { side, variant, measured, .. } in cells {
        for (what, count) in measured.others.answers.errors().chain(measured.holding.errors()) {
            println!("{} on {}: {count} times: {what}", variant.name, side.key());
        }
    }
}
