//! A model of the end of a set against a wake-up that is under way: the task ends on the thread of
//! the set, and the drop does not miss the task's arrival.
//!
//! The wake-up is modelled from the moment when the other thread holds the scheduled task. All
//! threads of a model share the thread-local of the current set, so the model pushes the task to
//! its home directly.

use std::collections::VecDeque;
use std::future::pending;
use std::rc::Rc;

use super::context::LocalContext;
use super::home::LocalHome;
use crate::task::{JoinHandle, Runnable};

fn scheduled_task(context: &Rc<LocalContext>) -> (Runnable, JoinHandle<()>) {
    let handle = context.spawn(pending::<()>(), None);
    let (mut queue, mut foreign) = (VecDeque::new(), VecDeque::new());
    context.home().move_into(&mut queue, &mut foreign);
    (queue.pop_front().expect("a new task is scheduled"), handle)
}

#[test]
fn loom_local_set_end_against_wake() {
    loom::model(|| {
        let context = LocalContext::new(LocalHome::default());
        let (task, _handle) = scheduled_task(&context);
        let home = context.home().clone();
        let waking = loom::thread::spawn(move || home.push(task));
        context.end();
        assert!(context.home().is_empty());
        waking.join().unwrap();
        let (mut own, mut foreign) = (VecDeque::new(), VecDeque::new());
        context.home().move_into(&mut own, &mut foreign);
        assert!(own.is_empty() && foreign.is_empty());
    });
}
