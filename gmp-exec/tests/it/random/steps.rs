//! The operations of an actor: which there are, and the simple ones.

use std::future::{pending, poll_fn};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use gmp_exec::task::{block_in_place, blocking, yield_now};
use gmp_exec::time::{interval, sleep, timeout};

use super::actor::Actor;
use super::keeper::Request;
use super::thread_state::ThreadState;
use super::{blocking as waits, cells, channels, children, closures, nested};
use crate::support::compute_for;

pub(super) async fn step(actor: &mut Actor) {
    look_at_thread(actor);
    match actor.random.below(if actor.program.depth > 0 { 36 } else { 13 }) {
        0 | 1 => yield_now().await,
        2 => pause(actor, 600).await,
        3 => time_out(actor).await,
        4 => compute_for(actor.micros(1_000)),
        5 => thread::sleep(actor.micros(1_000)),
        6 => section(actor),
        7 => compute_in_sections(actor),
        8 | 9 => keep_waker(actor).await,
        10 => cells::set_by_foreign_thread(actor).await,
        11 => wait_for_readiness(actor).await,
        12 => tick(actor).await,
        13 | 14 => closures::closure(actor).await,
        15 => cells::set_by_closure(actor).await,
        16 | 17 => cells::set_by_task(actor).await,
        18 => actor.spawn_child().join().await,
        19 => drop(actor.spawn_child()),
        20 | 21 => children::abort_one(actor).await,
        22 => children::join_several(actor).await,
        23 => children::set(actor).await,
        24 => children::drop_in_place(actor).await,
        25 => children::select(actor).await,
        26 => channels::channel(actor).await,
        27 => channels::ping_pong(actor).await,
        28 => channels::burst(actor).await,
        29 => channels::cross_over(actor).await,
        30 => waits::wait_by_blocking(actor),
        31 => waits::wait_in_closure(actor).await,
        32 => nested::in_closure(actor).await,
        33 => nested::in_section(actor),
        _ => nested::in_task(actor).await,
    }
}

fn look_at_thread(actor: &Actor) {
    if let Some(expected) = &actor.program.thread {
        let found = ThreadState::of_this_thread();
        actor.program.tally.expect(found == **expected, || format!("polls on {found:?}, not on {expected:?}"));
    }
}

pub(super) async fn pause(actor: &mut Actor, micros: u64) {
    if actor.program.means.has_timers {
        sleep(actor.micros(micros)).await;
    } else {
        yield_now().await;
    }
}

async fn time_out(actor: &mut Actor) {
    if actor.program.means.has_timers {
        let result = timeout(actor.micros(300), pending::<()>()).await;
        actor.program.tally.expect(result.is_err(), || "a future that is never ready was".to_owned());
    }
}

async fn tick(actor: &mut Actor) {
    if actor.program.means.has_timers {
        let mut interval = interval(Duration::from_micros(20) + actor.micros(100));
        for _ in 0..actor.random.below(6) {
            interval.tick().await;
        }
    }
}

fn section(actor: &mut Actor) {
    let duration = actor.micros(1_000);
    if actor.program.means.has_block_in_place && actor.random.below(2) == 0 {
        block_in_place(|| thread::sleep(duration))
    } else {
        blocking(|| thread::sleep(duration))
    }
}

fn compute_in_sections(actor: &mut Actor) {
    for _ in 0..actor.random.below(20) {
        compute_for(Duration::from_micros(50));
        blocking(|| ());
    }
}

/// A foreign thread wakes the task later: as it runs, waits for something else, or is no more.
async fn keep_waker(actor: &mut Actor) {
    poll_fn(|cx| {
        actor.program.ask(Request::Keep(cx.waker().clone()));
        Poll::Ready(())
    })
    .await
}

async fn wait_for_readiness(actor: &Actor) {
    if let Some(netpoll) = &actor.program.netpoll {
        netpoll.wait().await;
    }
}
