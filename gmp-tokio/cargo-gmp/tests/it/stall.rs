//! The example of README.md: what it says about tokio and about gmp.

use crate::support::{Project, repository, succeeds};
use std::path::Path;
use std::process::Command;

/// How long the requests waited for their answers, in milliseconds.
struct Latency {
    half_within: f64,
    nearly_all_within: f64,
}

#[test]
fn a_handler_that_blocks_stalls_a_server_on_tokio_and_not_on_gmp() {
    let elsewhere = Project::with_tokio("\"1\"");
    let [tokio, gmp] = [elsewhere.cargo("run --quiet --locked"), elsewhere.gmp("run --quiet --locked")].map(latency);
    let half = tokio.half_within;
    // Each handler blocks for 100 ms; a busy machine can only make it longer.
    assert!(half > 50.0, "no stall to compare with: {half} ms");
    // gmp is only compared, because a machine that is busy with other tests delays what runs on gmp too.
    assert!(gmp.half_within < half / 4.0, "half within {} ms on gmp, {half} ms on tokio", gmp.half_within);
    let nearly_all = gmp.nearly_all_within;
    assert!(nearly_all < half, "99 % within {nearly_all} ms on gmp, half within {half} ms on tokio");
}

fn latency(mut run: Command) -> Latency {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    run.current_dir(repository().join("examples/blocking-handler")).env("CARGO_TARGET_DIR", target);
    let said = succeeds(&mut run);
    assert!(said.starts_with("GET /: 1000 answered, "), "{said}");
    Latency { half_within: figure(&said, "p50 "), nearly_all_within: figure(&said, "p99 ") }
}

fn figure(said: &str, name: &str) -> f64 {
    let (_, rest) = said.split_once(name).unwrap();
    rest.split_once(" ms").unwrap().0.parse().unwrap()
}
