//! The table on the terminal.

use gmp_benches::report::{Mix, headings};

use crate::args::Options;
use crate::compare::Cell;

pub(crate) fn header(options: &Options, rate: u64) {
    println!(
        "\n{rate} requests a second, {} Ps and workers, {} servers for each row measured for {} s each, in turns",
        options.procs,
        options.reps(),
        options.duration().as_secs()
    );
    if options.fresh {
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
    println!("{}", headings(&Mix::COLUMNS));
}

/// The reasons why requests failed.
pub(crate) fn errors(cells: &[Cell]) {
    for Cell { side, variant, measured, .. } in cells {
        for (what, count) in [measured.others.answers.errors(), measured.holding.errors()].into_iter().flatten() {
            println!("{} on {}: {count} times: {what}", variant.name, side.key());
        }
    }
}
