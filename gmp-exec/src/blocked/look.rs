//! The system call and the stack of a thread that sleeps in a stuck poll. The stack of a thread
//! that computes can be taken by a signal.
//!
//! The thread may wake up at any moment, and may be in another poll by the time that it is looked
//! at. The report thread takes these steps:
//!
//! 1. how often has the thread been given a core? (`schedstat`)
//! 2. where does it sleep? (`syscall`: the kernel makes sure that it has no core)
//! 3. copy the stack
//! 4. is the machine still in this poll?
//! 5. how often has the thread been given a core?
//!
//! *Claim: if 1 and 5 give the same number, the copy and the answer of 4 are of the sleep that 2
//! saw.* At 2 the thread has no core. To run after 2 it must be given one, which increases the
//! number before 5, so it has not run between 2 and 5. Neither its stack nor the number of its turn
//! has changed in between. Another thread may have written to a variable on that stack, but not to
//! a return address.
//!
//! A thread that is interrupted copies its stack itself. It is in the poll before the signal is
//! sent, and after the copy was made, and the numbers of its turns only grow, so the copy is of
//! that poll.

use super::frame::Frames;
use super::record::Begun;
use super::stack::{self, Stacks};
use crate::sys::system_call::{self, Sleep, SystemCall};
use crate::sys::thread_state::ThreadState;

/// A system call, and what its descriptor refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) call: SystemCall,
    pub(super) target: Option<String>,
}

/// The result of a look. `stack` is `None` if no stack was asked for, and otherwise the frames, or
/// why there are none.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    pub(super) call: Option<Call>,
    pub(super) stack: Option<Result<Frames, String>>,
}

impl Look {
    /// Empty, if the poll is over, or goes on, or if the kernel does not say.
    pub(super) fn at(begun: &Begun, stacks: &mut Stacks) -> Look {
        let Some(thread) = begun.machine.thread_id() else { return Look::default() };
        let runs = thread.runs(); // 1
        let sleep = match Sleep::of(thread) {
            Ok(Some(sleep)) => sleep, // 2
            Ok(None) => return Look::default(),
            Err(error) => return Look { call: None, stack: stack::refused(&error) },
        };
        let taken = stack::take(&sleep); // 3
        if !begun.is_under_way() {
            return Look::default(); // 4
        }
        let runs_again = thread.runs(); // 5
        let call = sleep.call.map(|call| Call { call, target: call.descriptor.and_then(system_call::target) });
        let stack = match (runs, taken) {
            (_, None) => None,
            (None, _) => Some(Err("the kernel does not count how often a thread runs".to_owned())),
            (_, Some(Err(error))) => Some(Err(error)),
            (_, Some(Ok(taken))) => (runs == runs_again).then(|| stacks.frames_of(&taken)),
        };
        Look { call, stack }
    }

    /// The stack of a thread that computes, which is interrupted for that. Empty, if the poll is
    /// over, or if the thread sleeps by now: then a signal could end its system call.
    pub(super) fn by_signal(begun: &Begun, stacks: &mut Stacks) -> Look {
        let Some(thread) = begun.machine.thread_id() else { return Look::default() };
        if !begun.is_under_way() || thread.state() != Some(ThreadState::Runnable) {
            return Look::default();
        }
        let taken = stack::interrupt(thread);
        if !begun.is_under_way() {
            return Look::default();
        }
        Look { call: None, stack: taken.map(|taken| stacks.frames_of(&taken?)) }
    }
}

#[cfg(all(
    test,
    feature = "blocked-stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(loom, shuttle))
))]
mod tests {
    use std::hint::black_box;
    use std::panic::Location;
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::SeqCst;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::blocked::BlockedCause;
    use crate::sched::state::machine::Machine;
    use crate::sched::state::machine::ownership::Region;
    use crate::sched::state::machine::thread_root;
    use crate::sync::Arc;
    use crate::task::Id;

    fn begun(machine: &Arc<Machine>, turn: u64) -> Begun {
        let (task, location, since) = (Id::next(), Location::caller(), Instant::now());
        Begun {
            machine: machine.clone(),
            turn,
            task,
            name: None,
            location,
            is_root: false,
            cause: BlockedCause::Blocked,
            since,
        }
    }

    #[inline(never)]
    fn sleeps_in_even_turns(depth: u64, time: Duration) {
        match depth {
            0 => thread::sleep(time),
            _ => sleeps_in_even_turns(depth - 1, time),
        }
        black_box(depth);
    }

    #[inline(never)]
    fn sleeps_in_odd_turns(depth: u64, time: Duration) {
        let bytes = [depth; 7];
        match depth {
            0 => thread::sleep(time),
            _ => sleeps_in_odd_turns(depth - 1, time),
        }
        black_box(bytes);
    }

    /// Ends the turns, also when the test fails.
    struct End<'a>(&'a AtomicBool);

    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }

    #[inline(never)]
    fn computes_in_even_turns(depth: u64, time: Duration) {
        match depth {
            0 => compute(time),
            _ => computes_in_even_turns(depth - 1, time),
        }
        black_box(depth);
    }

    #[inline(never)]
    fn computes_in_odd_turns(depth: u64, time: Duration) {
        let bytes = [depth; 7];
        match depth {
            0 => compute(time),
            _ => computes_in_odd_turns(depth - 1, time),
        }
        black_box(bytes);
    }

    fn compute(time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {
            black_box(());
        }
    }

    /// The work of even turns, and that of odd turns.
    type Bodies = [fn(u64, Duration); 2];

    /// A machine whose turns are short, and are held at different depths, until the flag is set.
    fn run_turns(machine: &Machine, is_over: &AtomicBool, bodies: Bodies) {
        machine.bind();
        while !is_over.load(SeqCst) {
            machine.ownership.begin(Region::Poll);
            let turn = machine.ownership.turn();
            let time = Duration::from_micros(turn % 7 * 10);
            for depth in [3, 0, 2, 1, 3, 0] {
                bodies[(turn % 2) as usize](depth, time);
            }
            let _ = machine.ownership.enter();
        }
    }

    /// A poll that ends while its stack is copied has no stack, or its own. Without the step 4 or 5
    /// some are those of the turn before or after, or can't be unwound.
    #[test]
    fn no_stack_is_that_of_another_turn() {
        let bodies: Bodies = [sleeps_in_even_turns, sleeps_in_odd_turns];
        assert_stacks_are_of_their_turns(bodies, ["sleeps_in_even_turns", "sleeps_in_odd_turns"], Look::at);
    }

    /// The same by a signal.
    #[test]
    fn no_stack_that_a_signal_takes_is_that_of_another_turn() {
        let bodies: Bodies = [computes_in_even_turns, computes_in_odd_turns];
        let names = ["computes_in_even_turns", "computes_in_odd_turns"];
        assert_stacks_are_of_their_turns(bodies, names, Look::by_signal);
    }

    fn assert_stacks_are_of_their_turns(bodies: Bodies, names: [&str; 2], look: fn(&Begun, &mut Stacks) -> Look) {
        const LOOKS: usize = 300;
        let (machine, is_over) = (Machine::new(1), AtomicBool::new(false));
        let mut stacks = Stacks::default();
        let mut seen = 0;
        thread::scope(|scope| {
            let _end = End(&is_over);
            scope.spawn(|| thread_root::run(&mut || run_turns(&machine, &is_over, bodies)));
            // Where a look takes longer than a turn, as on an emulated computer, few of them find a stack.
            let deadline = Instant::now() + Duration::from_secs(600);
            while seen < LOOKS {
                assert!(Instant::now() < deadline, "{seen} stacks");
                let turn = machine.ownership.turn();
                let Some(stack) = look(&begun(&machine, turn), &mut stacks).stack else { continue };
                let stack = match stack {
                    Ok(stack) => stack,
                    // It was given no core for long.
                    Err(reason) if reason == "the thread does not answer the signal" => continue,
                    Err(reason) => panic!("{reason} in turn {turn}"),
                };
                let is_in = |name: &str| {
                    stack
                        .named()
                        .iter()
                        .any(|frame| frame.function.as_ref().is_some_and(|function| function.ends_with(name)))
                };
                if names.into_iter().any(is_in) {
                    assert!(is_in(names[(turn % 2) as usize]), "turn {turn}: {stack:#?}");
                    seen += 1;
                }
            }
        });
    }
}
