//! A task that waits is woken, again and again.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use super::WARM_UP;
use crate::meeting::Tally;
use crate::stage::Stage;
use crate::{Subject, recorder};

/// A machine wakes a task that last ran on another machine.
pub(super) fn wake_machine<S: Subject>(stage: &Stage<S>) {
    const ROUNDS: usize = 200;
    let ball = Ball::new();
    stage.runtime.spawn(ball.clone().catch());
    ball.caught.wait_for(1);
    let turn = Tally::new();
    let counting = stage.clone();
    stage.on_each(|index, meeting| {
        let (ball, turn, counting) = (ball.clone(), turn.clone(), counting.clone());
        async move {
            let members = counting.processors;
            for round in (index..WARM_UP + ROUNDS).step_by(members) {
                turn.wait_for(round);
                if round == WARM_UP {
                    recorder::begin();
                }
                ball.throw();
                while ball.caught.get() < round + 2 {
                    S::yield_now().await;
                }
                if round + 1 == WARM_UP + ROUNDS {
                    counting.end_count(ROUNDS);
                }
                turn.add();
            }
            meeting.meet(|| ());
        }
    });
    ball.end();
}

/// A thread outside wakes a task, while all processors are idle or about to be.
pub(super) fn wake_outside<S: Subject>(stage: &Stage<S>) {
    const ROUNDS: usize = 200;
    stage.on_each(|_, _| async {});
    let ball = Ball::new();
    stage.runtime.spawn(ball.clone().catch());
    for round in 0..WARM_UP + ROUNDS {
        ball.caught.wait_for(round + 1);
        if round == WARM_UP {
            recorder::begin();
        }
        ball.throw();
    }
    ball.caught.wait_for(WARM_UP + ROUNDS + 1);
    stage.end_count(ROUNDS);
    ball.end();
}

/// A task that waits until it is woken, again and again.
#[derive(Clone)]
struct Ball {
    caught: Tally,
    waker: Arc<Mutex<Option<Waker>>>,
    is_over: Tally,
}

impl Ball {
    fn new() -> Ball {
        Ball { caught: Tally::new(), waker: Arc::default(), is_over: Tally::new() }
    }

    async fn catch(self) {
        poll_fn(|cx| {
            if self.is_over.get() > 0 {
                return Poll::Ready(());
            }
            *self.waker.lock().expect("not poisoned") = Some(cx.waker().clone());
            self.caught.add();
            Poll::Pending
        })
        .await;
    }

    fn throw(&self) {
        let waker = self.waker.lock().expect("not poisoned").take();
        waker.expect("the task waits").wake();
    }

    fn end(&self) {
        self.is_over.add();
        self.throw();
    }
}
