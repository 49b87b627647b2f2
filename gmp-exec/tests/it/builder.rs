//! The settings of a runtime.

use gmp_exec::runtime::Builder;

use crate::support::{current, panic_message};

#[test]
fn names_and_limits_are_what_was_set() {
    let runtime = current().name("the runtime").max_io_events_per_tick(7).build().unwrap();
    assert_eq!(runtime.handle().name(), Some("the runtime"));
    assert_eq!(runtime.handle().max_io_events(), (7, 7));
    let runtime = current().max_io_events_per_busy_tick(3).build().unwrap();
    assert_eq!(runtime.handle().max_io_events(), (1024, 3));
    assert_eq!(runtime.handle().name(), None);

    let text = panic_message(|| {
        Builder::new_current_thread().name(" ");
    });
    assert_eq!(text, "runtime name shouldn't be empty");
    let text = panic_message(|| {
        Builder::new_current_thread().max_io_events_per_tick(0);
    });
    assert_eq!(text, "max_io_events_per_tick must be non-zero");
    let text = panic_message(|| {
        Builder::new_current_thread().max_io_events_per_busy_tick(0);
    });
    assert_eq!(text, "max_io_events_per_busy_tick must be non-zero");
}
