//! console-subscriber asks at its start for one of two cfgs. Without them it fails with the same
//! message as on tokio. `compat-tests/console` has one of them.

use std::panic::catch_unwind;

#[test]
fn the_console_says_that_tokio_reports_nothing() {
    let panic = catch_unwind(|| drop(console_subscriber::ConsoleLayer::builder().build())).expect_err("refused");
    let message = panic.downcast_ref::<&str>().expect("a message");
    assert!(message.starts_with("task tracing requires Tokio to be built with RUSTFLAGS"), "{message}");
}
