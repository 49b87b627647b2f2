//! The budget of a poll, as other crates use it.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, ready};

use gmp_exec::bridge;
use gmp_exec::task::{coop, spawn_blocking};

use crate::support::{every_runtime, run};

#[test]
fn another_crate_takes_part_in_the_budget() {
    assert_eq!(bridge::budget(), None);
    assert!(!bridge::is_entered());
    for runtime in every_runtime() {
        run(&runtime, async {
            assert!(bridge::is_entered());
            coop::consume_budget().await;
            assert_eq!(bridge::budget(), Some(127));
            bridge::set_budget(Some(0));
            let mut yields = pin!(coop::consume_budget());
            let mut polls = 0;
            poll_fn(|cx| {
                polls += 1;
                ready!(yields.as_mut().poll(cx));
                Poll::Ready(())
            })
            .await;
            assert_eq!(polls, 2);
            let closure = spawn_blocking(|| (bridge::budget(), bridge::is_entered()));
            assert_eq!(closure.await.unwrap(), (None, false));
        });
    }
}
