//! The id and the `Debug` output of a set.

use std::future::pending;

use gmp_exec::task::LocalSet;

use super::runtimes;

#[test]
fn ids_tell_sets_and_runtimes_apart() {
    let runtime = &runtimes()[0];
    let (one, other) = (LocalSet::new(), LocalSet::new());
    assert_ne!(one.id(), other.id());
    assert_ne!(one.id(), runtime.handle().id());
    assert_eq!(one.id(), one.id());
}

#[test]
fn debug_shows_the_number_of_tasks() {
    let set = LocalSet::new();
    set.spawn_local(pending::<()>());
    assert_eq!(format!("{set:?}"), "LocalSet { tasks: 1 }");
    let task = set.spawn_local(async {});
    assert!(format!("{task:?}").starts_with("JoinHandle"));
}
