//! Tasks and closures that block their thread until another task has ended.

use std::sync::mpsc;

use gmp_exec::runtime::Handle;
use gmp_exec::task::{block_in_place, spawn_blocking};

use super::actor::{Actor, counted};
use super::child::{Child, check};
use super::local::live_in_set;
use super::marked::Marked;
use crate::support::Random;

/// In a declared section, or in the middle of the poll.
pub(super) fn wait_by_blocking(actor: &mut Actor) {
    let means = actor.program.means;
    match actor.random.below(3) {
        0 if means.may_wait_in_sections => block_in_place(|| wait_for_leaf(actor)),
        1 if means.may_wait_in_sections => block_in_place(|| {
            let handle = Handle::current();
            handle.block_on(Child::spawn_on(&handle, &actor.program.leaf(), &mut actor.random).join());
        }),
        2 if means.may_wait_in_polls => wait_for_leaf(actor),
        _ => {}
    }
}

/// The sender may be dropped unused, when the runtime ends.
fn wait_for_leaf(actor: &mut Actor) {
    let (sender, receiver) = mpsc::channel();
    let leaf = Child::spawn_on(&Handle::current(), &actor.program.leaf(), &mut actor.random);
    let wait_and_tell = async move {
        leaf.join().await;
        let _ = sender.send(());
    };
    drop(gmp_exec::spawn(counted(&actor.program, wait_and_tell)));
    let _ = receiver.recv();
}

pub(super) async fn wait_in_closure(actor: &mut Actor) {
    if !actor.program.means.may_wait_in_closures {
        return;
    }
    let mark = Marked::closure(actor.program.tally);
    let (program, mut random) = (actor.program.leaf(), Random::new(actor.random.next()));
    let closure = spawn_blocking(move || {
        let _mark = mark;
        let handle = Handle::current();
        match random.below(2) {
            0 => live_in_set(&handle, &program, &mut random),
            _ => handle.block_on(Child::spawn_on(&handle, &program, &mut random).join()),
        }
    });
    check(closure.await, &actor.program);
}
