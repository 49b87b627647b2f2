//! The handle of an actor, and whether it reports what it must.

use gmp_exec::runtime::Handle;
use gmp_exec::task::{JoinError, JoinHandle, spawn_local};

use super::actor::{Actor, Expected, Fate, Life, actor};
use super::cell::Setter;
use super::local::OnThread;
use super::marked::Marked;
use super::program::Program;
use crate::support::Random;

pub(super) struct Child {
    pub(super) handle: JoinHandle<Marked>,
    expected: Expected,
    program: Program,
    was_aborted: bool,
}

impl Child {
    pub(super) fn new(handle: JoinHandle<Marked>, expected: Expected, program: &Program) -> Child {
        Child { handle, expected, program: program.clone(), was_aborted: false }
    }

    pub(super) fn spawn_on(handle: &Handle, program: &Program, random: &mut Random) -> Child {
        let (life, expected) = actor(program, random, None);
        Child::new(handle.spawn(life), expected, program)
    }

    pub(super) fn abort(&mut self) {
        self.expect_abort();
        self.handle.abort();
    }

    /// Another handle, or the end of a set, aborts the task.
    pub(super) fn expect_abort(&mut self) {
        self.was_aborted = true;
    }

    pub(super) async fn join(mut self) {
        let result = (&mut self.handle).await;
        self.judge(result);
    }

    pub(super) fn judge(&self, result: Result<Marked, JoinError>) {
        judge(result, self.expected, &self.program, self.was_aborted);
    }
}

impl Actor {
    pub(super) fn spawn_child(&mut self) -> Child {
        self.spawn_with_errand(None)
    }

    pub(super) fn spawn_with_errand(&mut self, errand: Option<Setter>) -> Child {
        let is_local = self.program.means.is_local && self.random.below(2) == 0;
        let program = if is_local { self.program.child() } else { self.program.child().of_runtime() };
        let (life, expected) = actor(&program, &mut self.random, errand);
        let handle = if is_local { spawn_local(OnThread::new(life, &program)) } else { gmp_exec::spawn(life) };
        Child::new(handle, expected, &program)
    }

    /// An actor that is no task of its own.
    pub(super) fn child_in_place(&mut self) -> Life<Marked> {
        super::actor::tame_actor(&self.program.child(), &mut self.random).0
    }
}

pub(super) fn judge(result: Result<Marked, JoinError>, expected: Expected, program: &Program, was_aborted: bool) {
    let told = tell(result, program);
    let may_be_cancelled = was_aborted || program.is_ending();
    let is_right = match (expected.fate, &told) {
        (Fate::Returns, Told::Output(of)) => *of == expected.of,
        (Fate::PanicsInPoll | Fate::PanicsInDrop, Told::Panic(of)) => *of == expected.of,
        (_, Told::Cancelled) => may_be_cancelled,
        _ => false,
    };
    program.tally.expect(is_right, || format!("{told:?}, but expected: {expected:?}, {may_be_cancelled}"));
}

#[derive(Debug)]
enum Told {
    Output(usize),
    Panic(usize),
    Cancelled,
    OtherPanic,
}

fn tell(result: Result<Marked, JoinError>, program: &Program) -> Told {
    match result {
        Ok(output) => Told::Output(output.receive()),
        Err(error) if error.is_cancelled() => Told::Cancelled,
        Err(error) => {
            let text = error.to_string();
            match error.into_panic().downcast::<Marked>() {
                Ok(payload) => Told::Panic(payload.receive()),
                Err(_) => {
                    program.tally.fault(text);
                    Told::OtherPanic
                }
            }
        }
    }
}

/// For a task that returns. `None`: it was cancelled because the runtime ends.
pub(super) fn check<T>(result: Result<T, JoinError>, program: &Program) -> Option<T> {
    let error = match result {
        Ok(output) => return Some(output),
        Err(error) => error,
    };
    let is_right = error.is_cancelled() && program.is_ending();
    program.tally.expect(is_right, || format!("a task failed: {error}"));
    None
}
