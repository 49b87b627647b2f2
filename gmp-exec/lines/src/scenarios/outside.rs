//! Threads that are no machines spawn.

use crate::meeting::{Meeting, Tally};
use crate::stage::Stage;
use crate::{Subject, recorder};

/// Threads that are no machines spawn tasks.
pub(super) fn spawn_outside<S: Subject>(stage: &Stage<S>, producers: usize) {
    produce(stage, producers, |stage, done| {
        stage.runtime.spawn(async move {
            done.add();
        });
    });
}

/// Threads that are no machines spawn closures that are over at once.
pub(super) fn closures<S: Subject>(stage: &Stage<S>, producers: usize) {
    produce(stage, producers, |stage, done| {
        stage.runtime.spawn_closure(move || {
            done.add();
        })
    });
}

/// Calls `operation` on so many threads. It must make the tally grow by one.
fn produce<S: Subject>(stage: &Stage<S>, producers: usize, operation: fn(&Stage<S>, Tally)) {
    const OPERATIONS: usize = 1280;
    const BEFORE: usize = 320;
    stage.on_each(|_, _| async {});
    let done = Tally::new();
    let meeting = Meeting::new(producers + 1);
    let threads: Vec<_> = (0..producers)
        .map(|_| {
            let (stage, done, meeting) = (stage.clone(), done.clone(), meeting.clone());
            shuttle::thread::spawn(move || {
                (0..BEFORE / producers).for_each(|_| operation(&stage, done.clone()));
                meeting.meet(|| ());
                (0..OPERATIONS / producers).for_each(|_| operation(&stage, done.clone()));
            })
        })
        .collect();
    done.wait_for(BEFORE);
    meeting.meet(recorder::begin);
    done.wait_for(BEFORE + OPERATIONS);
    stage.end_count(OPERATIONS);
    for thread in threads {
        thread.join().expect("it does not panic");
    }
}
