//! Timers of the scheduler while it sleeps in the reactor.

#![cfg(all(target_os = "linux", not(gmp_portable)))]

use std::time::{Duration, Instant};

use gmp_exec::time::sleep;

use crate::support::{DEADLINE, listen, on_both};

/// epoll counts milliseconds; the reactor's own timer is finer, where the system has one. Takes the
/// best of many attempts, and of more as long as the machine is busy.
#[test]
fn a_sleep_beside_a_socket_is_finer_than_a_millisecond() {
    on_both(|| async {
        // Makes the reactor.
        let _listener = listen().await;
        const NAP: Duration = Duration::from_micros(200);
        const TICK: Duration = Duration::from_millis(1);
        let (begin, mut naps, mut best) = (Instant::now(), 0, Duration::MAX);
        while naps < 200 || best >= TICK && begin.elapsed() < DEADLINE / 2 {
            let start = Instant::now();
            sleep(NAP).await;
            best = best.min(start.elapsed());
            naps += 1;
        }
        assert!(best >= NAP, "woken too early, after {best:?}");
        assert!(best < TICK, "the best of {naps} took {best:?}");
    });
}
