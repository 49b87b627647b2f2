//! `LocalSet`: its tasks run and end on one thread, whichever thread wakes them.

mod current_set;
mod ending;
mod fairness;
mod handles;
mod identity;
mod inside;
mod races;
mod running;

use std::cell::Cell;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use gmp_exec::runtime::{Builder, Runtime};

fn runtimes() -> [Runtime; 2] {
    [
        Builder::new_current_thread().enable_all().build().unwrap(),
        Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap(),
    ]
}

struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0.take().unwrap()();
    }
}

/// Never ends by itself, and counts when it is dropped.
fn end_here(ended: &Rc<Cell<u32>>) -> impl Future<Output = ()> + 'static {
    let guard = OnDrop(Some(count_here(ended)));
    async move {
        let _guard = guard;
        pending().await
    }
}

fn count_here(ended: &Rc<Cell<u32>>) -> impl FnOnce() + 'static {
    let ended = ended.clone();
    move || ended.set(ended.get() + 1)
}

fn panic_message(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it should panic");
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => (*payload.downcast::<&str>().unwrap()).to_owned(),
    }
}
