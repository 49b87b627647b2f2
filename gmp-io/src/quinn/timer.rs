//! A timer for quinn.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use gmp_exec::time::{self, Sleep};
use pin_project_lite::pin_project;
use quinn::AsyncTimer;

pin_project! {
    #[derive(Debug)]
    pub(super) struct QuicTimer {
        #[pin]
        sleep: Sleep,
    }
}

impl QuicTimer {
    pub(super) fn new(deadline: Instant) -> QuicTimer {
        QuicTimer { sleep: time::sleep_until(deadline.into()) }
    }
}

impl AsyncTimer for QuicTimer {
    fn reset(self: Pin<&mut Self>, deadline: Instant) {
        self.project().sleep.reset(deadline.into());
    }

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().sleep.poll(cx)
    }
}
