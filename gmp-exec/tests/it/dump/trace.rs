//! `trace_with`, `Trace` and `Root`.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use gmp_exec::runtime::Handle;
use gmp_exec::runtime::dump::{Trace, trace_with};
use gmp_exec::spawn;
use gmp_exec::task::{JoinSet, yield_now};
use gmp_exec::time::sleep;

use crate::support::{FOREVER, every_runtime, run};

fn poll_traced<F: Future>(future: Pin<&mut F>, cx: &mut Context<'_>) -> (Poll<F::Output>, usize) {
    let mut leaves = 0;
    (trace_with(|| future.poll(cx), |_| leaves += 1), leaves)
}

/// Polls the future once with a trace and then to its end, in a task of every runtime.
fn traced_then_run<F: Future<Output = u32> + Send + 'static>(make: impl Fn() -> F, expected_leaves: usize) {
    for runtime in every_runtime() {
        let future = make();
        let output = run(&runtime, async move {
            let mut future = pin!(future);
            let (polled, leaves) = poll_fn(|cx| Poll::Ready(poll_traced(future.as_mut(), cx))).await;
            assert_eq!((polled, leaves), (Poll::Pending, expected_leaves));
            future.await
        });
        assert_eq!(output, 7);
    }
}

#[test]
fn a_leaf_does_nothing_in_a_traced_poll_and_goes_on_in_the_next() {
    traced_then_run(
        || async {
            yield_now().await;
            7
        },
        1,
    );
    traced_then_run(|| async { spawn(async { 7 }).await.unwrap() }, 1);
    traced_then_run(|| async { JoinSet::from_iter([async { 7 }]).join_next().await.unwrap().unwrap() }, 1);
    traced_then_run(
        || async {
            futures::join!(yield_now(), yield_now());
            7
        },
        2,
    );
}

/// The combinator polls only futures that have woken it.
#[test]
fn each_leaf_is_woken_after_a_traced_poll() {
    let futures = || {
        (0..3)
            .map(|i| async move {
                yield_now().await;
                i
            })
            .collect::<FuturesUnordered<_>>()
    };
    traced_then_run(
        move || {
            let mut futures = futures();
            async move {
                let mut sum = 4;
                while let Some(i) = futures.next().await {
                    sum += i;
                }
                sum
            }
        },
        3,
    );
}

#[test]
fn the_inner_callback_is_called_and_the_outer_one_comes_back() {
    let mut cx = Context::from_waker(Waker::noop());
    let (mut outer, mut inner) = (0, 0);
    let mut poll = || assert!(pin!(yield_now()).poll(&mut cx).is_pending());
    trace_with(
        || {
            poll();
            trace_with(&mut poll, |_| inner += 1);
            assert!(catch_unwind(AssertUnwindSafe(|| trace_with(|| panic!("in the traced poll"), |_| ()))).is_err());
            poll();
        },
        |_| {
            outer += 1;
            assert!(!Handle::is_tracing(), "leaves in the callback are not traced");
        },
    );
    assert_eq!((outer, inner), (2, 1));
    assert!(!Handle::is_tracing());
}

#[test]
fn stacks_begin_with_the_innermost_root() {
    const INSIDE: u32 = line!() + 2;
    async fn inside() {
        sleep(FOREVER).await;
    }
    const OUTSIDE: u32 = line!() + 2;
    async fn outside(inside: impl Future<Output = ()> + Send) {
        inside.boxed().await;
    }
    let (inner, outer) = (format!("trace.rs:{INSIDE}:"), format!("trace.rs:{OUTSIDE}:"));
    for runtime in every_runtime() {
        let text = run(&runtime, async {
            let mut future = pin!(outside(Trace::root(inside().boxed())));
            poll_fn(|cx| Poll::Ready(Trace::capture(|| future.as_mut().poll(cx)).1)).await.to_string()
        });
        assert!(text.contains(&inner) && !text.contains(&outer), "{text}");
        // The future of `block_on` is a root.
        let text = runtime.block_on(async {
            let mut future = pin!(outside(inside().boxed()).boxed());
            poll_fn(|cx| Poll::Ready(Trace::capture(|| future.as_mut().poll(cx)).1)).await.to_string()
        });
        assert!(text.contains(&outer) && !text.contains("block_on"), "{text}");
    }
}
