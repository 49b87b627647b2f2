//! What the end of a runtime waits for, in one line.

use std::time::Instant;

use super::look::Look;
use super::report::BlockedCall;
use super::stack::{self, Stacks};
use super::{Begun, BlockedCause, BlockedStack};
use crate::escaped::short;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::sys::thread_state::ThreadState;
use crate::task::name_of;

/// More places are not named.
const MOST: usize = 10;

/// The tasks and closures that these machines run, by where they were spawned, and what one of each
/// place does.
pub(crate) fn describe(machines: &[Arc<Machine>]) -> String {
    let mut places: Vec<Place> = Vec::new();
    for machine in machines {
        let text = spawned(machine);
        match places.iter_mut().find(|place| place.text == text) {
            Some(place) => place.count += 1,
            None => places.push(Place { text, count: 1, first: machine }),
        }
    }
    let mut stacks = Stacks::default();
    let named: Vec<String> = places.iter().take(MOST).map(|place| place.describe(&mut stacks)).collect();
    stack::forget_symbols();
    let more = match places.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!("; {more} more places"),
    };
    named.join("; ") + &more
}

/// Where tasks were spawned.
struct Place<'a> {
    text: String,
    count: usize,
    /// The machine of one of them.
    first: &'a Arc<Machine>,
}

impl Place<'_> {
    fn describe(&self, stacks: &mut Stacks) -> String {
        match (self.count, activity(self.first, stacks)) {
            (1, Some(activity)) => format!("{}, {activity}", self.text),
            (1, None) => self.text.clone(),
            (count, Some(activity)) => format!("{count}x {}, one of them {activity}", self.text),
            (count, None) => format!("{count}x {}", self.text),
        }
    }
}

fn spawned(machine: &Machine) -> String {
    let Some(running) = machine.running_in(machine.ownership.turn()) else {
        return "a thread of gmp's own, which may be writing the recording".to_owned();
    };
    let kind = if running.is_closure { "closure" } else { "task" };
    let name = name_of(running.task).map_or_else(String::new, |name| format!(" {name:?},"));
    format!("{kind}{name} spawned at {}:{}", short(running.location.file()), running.location.line())
}

/// What the thread does, as far as the kernel says.
fn activity(machine: &Arc<Machine>, stacks: &mut Stacks) -> Option<String> {
    let turn = machine.ownership.turn();
    let running = machine.running_in(turn)?;
    let look = Look::at(
        &Begun {
            machine: machine.clone(),
            turn,
            task: running.task,
            name: None,
            location: running.location,
            is_root: false,
            cause: BlockedCause::Blocked,
            since: Instant::now(),
        },
        stacks,
    );
    let Some(call) = look.call else {
        return (machine.state() == Some(ThreadState::Runnable)).then(|| "computing".to_owned());
    };
    let call = format!("in {}", BlockedCall::of(&call));
    let stack = look.stack.and_then(Result::ok).map(BlockedStack::of);
    Some(stack.map_or_else(|| call.clone(), |stack| format!("{call}, {stack}")))
}
