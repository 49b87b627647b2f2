//! console-subscriber shows what tokio reports with `--cfg tokio_unstable`, which the drop-in
//! refuses. The crate compiles, and its start fails with the same message as on tokio without that
//! option.

use std::panic::catch_unwind;

#[test]
fn the_console_says_that_tokio_reports_nothing() {
    let panic = catch_unwind(|| drop(console_subscriber::ConsoleLayer::builder().build())).expect_err("refused");
    let message = panic.downcast_ref::<&str>().expect("a message");
    assert!(message.starts_with("task tracing requires Tokio to be built with RUSTFLAGS"), "{message}");
}
