//! Micro-benchmarks: the parts of gmp-exec one by one, so that a regression is found where it
//! happens. README.md of benches has the command.
//!
//! `--baseline` shows the effect of a change. That is the reason for criterion: divan is smaller,
//! but stores no results. Without `--cfg gmp_bench` the parts are private, and criterion isn't
//! built.

#[cfg(gmp_bench)]
mod parts;

#[cfg(gmp_bench)]
fn main() {
    use std::time::Duration;

    let settings = criterion::Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(50);
    let mut criterion = settings.configure_from_args();
    for bench in [parts::queues, parts::ownership, parts::timers, parts::paths] {
        bench(&mut criterion);
    }
    criterion.final_summary();
}

#[cfg(not(gmp_bench))]
fn main() {
    eprintln!("the parts are private in this build: build with RUSTFLAGS=\"--cfg gmp_bench\"");
    std::process::exit(2);
}
