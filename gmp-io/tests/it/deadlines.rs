//! The scheduler's timers while it sleeps in the reactor.

#![cfg(all(target_os = "linux", not(gmp_portable)))]

use std::time::{Duration, Instant};

use gmp_exec::time::sleep;

use crate::support::{listen, on_both};

/// epoll counts milliseconds; the reactor's own timer doesn't, where the system has one. The best of many, because the
/// machine may be busy.
#[test]
fn a_sleep_beside_a_socket_is_finer_than_a_millisecond() {
    on_both(|| async {
        // Brings the reactor into being.
        let _listener = listen().await;
        const NAP: Duration = Duration::from_micros(200);
        let mut best = Duration::MAX;
        for _ in 0..200 {
            let start = Instant::now();
            sleep(NAP).await;
            best = best.min(start.elapsed());
        }
        assert!(best >= NAP, "woken too early, after {best:?}");
        assert!(best < Duration::from_millis(1), "the best of many took {best:?}");
    });
}
