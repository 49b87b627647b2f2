//! Tasks that exchange messages, and tasks in such numbers that queues overflow.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

use gmp_exec::task::yield_now;

use super::actor::{Actor, counted, tame_actor};
use super::child::check;
use crate::support::{Flag, Random};

/// Sends numbers to another task. Either of the two may be cancelled before the end.
pub(super) async fn channel(actor: &mut Actor) {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1 + actor.random.below(4) as usize);
    let (program, mut random) = (actor.program.leaf().of_runtime(), Random::new(actor.random.next()));
    let receive = async move {
        let mut next = 0;
        while let Some(number) = receiver.recv().await {
            program.tally.expect(number == next, || format!("received {number} instead of {next}"));
            next += 1;
            if number % 8 == 0 {
                tame_actor(&program, &mut random).0.await.receive();
            }
        }
    };
    let receiving = gmp_exec::spawn(counted(&actor.program, receive));
    for number in 0..actor.random.below(40) {
        if sender.send(number).await.is_err() {
            break;
        }
    }
    drop(sender);
    check(receiving.await, &actor.program);
}

pub(super) async fn ping_pong(actor: &mut Actor) {
    let (send_there, mut receive_there) = tokio::sync::mpsc::channel(1);
    let (send_back, mut receive_back) = tokio::sync::mpsc::channel(1);
    let answer = async move {
        while let Some(turn) = receive_there.recv().await {
            if send_back.send(turn).await.is_err() {
                return;
            }
        }
    };
    let partner = gmp_exec::spawn(counted(&actor.program, answer));
    for turn in 0..1 + actor.random.below(50) {
        if send_there.send(turn).await.is_err() || receive_back.recv().await != Some(turn) {
            let result = partner.await;
            return actor.program.tally.expect(result.is_err(), || "a partner left a game".to_owned());
        }
    }
    drop(send_there);
    check(partner.await, &actor.program);
}

/// More tasks than a local queue holds.
pub(super) async fn burst(actor: &mut Actor) {
    let done = Arc::new(AtomicU64::new(0));
    let count = actor.random.below(400);
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let done = done.clone();
            gmp_exec::spawn(async move { _ = done.fetch_add(1, SeqCst) })
        })
        .collect();
    let mut finished = 0;
    for task in tasks {
        finished += u64::from(check(task.await, &actor.program).is_some());
    }
    let done = done.load(SeqCst);
    actor.program.tally.expect(done == finished, || format!("{done} of {finished} tasks ran"));
}

/// Two tasks wait for each other and yield all the time: neither may prevent the other one from
/// running.
pub(super) async fn cross_over(actor: &mut Actor) {
    let (here, there) = (Flag::new(), Flag::new());
    let other = {
        let (here, there) = (here.clone(), there.clone());
        let meet = async move {
            there.set();
            while !here.is_set() {
                yield_now().await;
            }
        };
        gmp_exec::spawn(counted(&actor.program, meet))
    };
    here.set();
    while !there.is_set() && !other.is_finished() {
        yield_now().await;
    }
    check(other.await, &actor.program);
}
