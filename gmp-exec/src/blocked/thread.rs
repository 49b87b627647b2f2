//! The report thread: the only thread that formats and writes.

use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use super::look::Look;
use super::record::{Begun, Record};
use super::report::{BlockedEntry, name_stacks, prefixed};
use super::sight::{Sight, Told};
use super::stack::Stacks;
use super::{Blocked, BlockedCause};

/// How long records gather before the next look at them.
const PAUSE: Duration = Duration::from_millis(20);
/// How often the thread waits for polls under way before it writes the summary.
const LAST_PAUSES: u32 = 5;

pub(super) fn run(blocked: &Blocked, told: &dyn Told) {
    blocked.queue.bind();
    let mut stacks = Stacks::default();
    let mut is_stopped = false;
    while !is_stopped {
        let has_more = work(blocked, &mut stacks, told);
        is_stopped = if has_more {
            blocked.queue.gather(PAUSE)
        } else {
            stacks.rest();
            blocked.queue.wait()
        };
    }
    work(blocked, &mut stacks, told);
    if blocked.settings.summary {
        wait_for_ends(blocked);
        write(&blocked.last_words().unwrap_or_default());
    }
    let last = blocked.aggregate.lock().take_events();
    last.emit();
}

/// The result of a task may end the program before the machine is out of the poll.
fn wait_for_ends(blocked: &Blocked) {
    for _ in 0..LAST_PAUSES {
        if !blocked.aggregate.lock().finish_those_over(Instant::now()) {
            return;
        }
        thread::sleep(PAUSE);
    }
}

/// Takes in what is queued, and prints what is due. Whether there is reason to look again soon.
fn work(blocked: &Blocked, stacks: &mut Stacks, told: &dyn Told) -> bool {
    let mut is_any = false;
    while let Some(record) = blocked.queue.pop() {
        is_any = true;
        take_in(blocked, record, stacks, told);
    }
    let mut aggregate = blocked.aggregate.lock();
    let now = Instant::now();
    let has_new = aggregate.look_again(now);
    let due = aggregate.take_due(now);
    let events = aggregate.take_events();
    drop(aggregate);
    events.emit();
    if blocked.settings.print {
        print(due);
    }
    is_any || has_new
}

/// The thread is looked at first: it may wake up at any moment.
fn take_in(blocked: &Blocked, record: Record, stacks: &mut Stacks, told: &dyn Told) {
    match record {
        Record::Begun(begun) => {
            let look = look_at(blocked, &begun, stacks, told);
            told.stuck(&begun, Sight::of(&look));
            blocked.aggregate.lock().begin(begun, look);
        }
        Record::Ended(ended) => blocked.aggregate.lock().end(ended),
        Record::Whole(begun, at) => blocked.aggregate.lock().whole(begun, at),
    }
}

fn look_at(blocked: &Blocked, begun: &Begun, stacks: &mut Stacks, told: &dyn Told) -> Look {
    let look = match begun.cause {
        BlockedCause::Blocked => Look::at,
        BlockedCause::Computing if blocked.settings.signal => Look::by_signal,
        BlockedCause::Computing | BlockedCause::Starved => return Look::default(),
    };
    let is_wanted = blocked.aggregate.lock().wants_look(begun) || told.wants_looks();
    if is_wanted { look(begun, stacks) } else { Look::default() }
}

fn print(mut due: Vec<BlockedEntry>) {
    if !due.is_empty() {
        name_stacks(&mut due);
        write(&prefixed(&due.iter().map(|entry| format!("{entry}\n")).collect::<String>()));
    }
}

/// One write, so that the lines of several runtimes do not mix. Nothing can be done about a closed
/// stderr.
fn write(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
