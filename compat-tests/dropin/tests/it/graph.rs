//! The dependency graph of this package has one tokio, the drop-in.

use crate::support::{assert_gmp, on_gmp};

/// If the patch were unused, cargo would only warn, and crates that require another tokio would get
/// the registry's.
#[test]
fn the_only_tokio_is_the_drop_in() {
    let lock = include_str!("../../Cargo.lock");
    let tokios: Vec<_> = lock.split("\n\n").filter(|package| package.contains("name = \"tokio\"\n")).collect();
    let [tokio] = tokios[..] else { panic!("{tokios:?}") };
    assert!(!tokio.contains("source = "), "from a registry: {tokio}");
    assert!(tokio.contains("\"tokio-real\""), "not the drop-in: {tokio}");
}

#[test]
fn what_tokio_spawns_runs_on_gmp() {
    on_gmp(|| async {
        tokio::spawn(async { assert_gmp() }).await.expect("a task");
        tokio::task::spawn_blocking(assert_gmp).await.expect("a closure");
    });
}

#[tokio::test]
async fn the_attribute_makes_a_runtime_of_gmp() {
    assert_gmp();
}
