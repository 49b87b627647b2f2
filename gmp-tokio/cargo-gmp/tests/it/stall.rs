//! Checks the statements that README.md makes about its example on tokio and on gmp.

use std::process::Command;

use crate::support::{Project, repository, shared, succeeds};

/// The latencies of the requests, in milliseconds.
#[derive(Debug)]
struct Latency {
    half_within: f64,
    nearly_all_within: f64,
}

#[test]
fn a_handler_that_blocks_stalls_a_server_on_tokio_and_not_on_gmp() {
    let elsewhere = Project::with_tokio("\"1\"");
    let half = latency(elsewhere.cargo("run --quiet --locked")).half_within;
    // Each handler blocks for 100 ms. Load on the machine can only make that longer.
    assert!(half > 50.0, "no stall to compare with: {half} ms");
    // gmp's latencies are compared with tokio's and have no limit of their own, because a machine
    // that is busy with other tests delays a program on gmp too. If the machine stalls for half a
    // second, the stall affects even one request in a hundred. A stall of gmp's own would be in
    // every run, so one quick run is enough.
    let mut runs = Vec::new();
    let is_quick = (0..5).any(|_| {
        let gmp = latency(elsewhere.gmp("run --quiet --locked"));
        let is_quick = gmp.half_within < half / 4.0 && gmp.nearly_all_within < half;
        runs.push(gmp);
        is_quick
    });
    assert!(is_quick, "on gmp {runs:?}, half within {half} ms on tokio");
}

fn latency(run: Command) -> Latency {
    let mut run = shared(run);
    run.current_dir(repository().join("examples/blocking-handler"));
    // With a proxy configured, the example's client would send its requests to the proxy instead of
    // to its own server.
    run.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
    let said = succeeds(&mut run);
    assert!(said.starts_with("GET /: 1000 answered, "), "{said}");
    Latency { half_within: figure(&said, "p50 "), nearly_all_within: figure(&said, "p99 ") }
}

fn figure(said: &str, name: &str) -> f64 {
    let (_, rest) = said.split_once(name).unwrap();
    rest.split_once(" ms").unwrap().0.parse().unwrap()
}
