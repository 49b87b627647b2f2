//! 1 000 clients connect to one listener at once and exchange 30 messages each; connecting is
//! measured.

use std::time::{Duration, Instant};

use super::streams::Stream;
use super::{HERE, answer, ask_and_tell};
use crate::rt::{Io, in_task};
use crate::workloads::countdown::Countdown;

const CONNECTIONS: u32 = 1_000;
const EXCHANGES_EACH: u32 = 30;
pub(in crate::workloads) const EXCHANGES: u32 = CONNECTIONS * EXCHANGES_EACH;

/// When the listener's backlog is full, the kernel sends a connection's request again a second
/// later. That second is part of the measurement.
pub(in crate::workloads) fn round<R: Io>(rt: &R) -> Duration {
    let countdown = Countdown::new(CONNECTIONS);
    in_task(rt, async move {
        let start = Instant::now();
        let listener = R::listen(HERE).await.expect("this machine has a free port");
        let address = R::local_addr(&listener).expect("a listener has an address");
        drop(R::spawn(accept::<R>(listener)));
        for _ in 0..CONNECTIONS {
            let countdown = countdown.clone();
            drop(R::spawn(async move {
                let stream = R::connect(address).await.expect("the listener accepts");
                ask_and_tell(Stream(stream), EXCHANGES_EACH, countdown).await;
            }));
        }
        countdown.finished().await;
        start.elapsed()
    })
}

async fn accept<R: Io>(listener: R::TcpListener) {
    for _ in 0..CONNECTIONS {
        let stream = R::accept(&listener).await.expect("every client connects");
        drop(R::spawn(answer(Stream(stream), EXCHANGES_EACH)));
    }
}
