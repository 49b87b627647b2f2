//! The parts of a random program.

use std::fmt;

/// Steps that run one after the other.
pub type Branch = Vec<Step>;

/// A program. Its tasks are spawned by steps, except for the tasks that exist before the runtime
/// runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Each branch is spawned from outside of the runtime, before its first `block_on`.
    pub before: Vec<Branch>,
    /// Each branch is the future of a `block_on`, one after the other, on the same runtime.
    pub roots: Vec<Branch>,
    /// Whether the roots run inside of a `LocalSet`.
    pub is_local: bool,
    /// `event_interval` and `global_queue_interval` of the runtime.
    pub intervals: [u32; 2],
}

/// A single action of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The step's number in the trace.
    pub id: u32,
    /// The action.
    pub kind: StepKind,
}

/// The number of shared objects of each kind: channels, semaphores, handles.
pub(crate) const SHARED: usize = 3;

/// The kinds of steps. A number selects one of the shared objects.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of what is called")]
pub enum StepKind {
    Yield,
    /// Wakes its own task and waits to be polled again.
    WakeSelf,
    /// Uses this many units of the task's budget.
    Consume(u32),
    Sleep(u64),
    Advance(u64),
    /// The new handle replaces the previous one, whose task is thereby detached.
    Spawn {
        handle: usize,
        is_local: bool,
        branch: Branch,
    },
    /// Tasks without a handle.
    SpawnMany {
        count: u32,
        branch: Branch,
    },
    Join(usize),
    Abort(usize),
    IsFinished(usize),
    Send(usize),
    Receive(usize),
    NotifyOne(usize),
    NotifyWaiters(usize),
    Notified(usize),
    /// Holds a permit of a semaphore while the branch runs.
    Hold(usize, Branch),
    OneshotSend(usize),
    OneshotReceive(usize),
    /// Panics, without a message.
    Panic,
    /// Another thread performs the steps while this one waits for it. None of the steps waits.
    Elsewhere(Branch),
    /// Both branches in one task, the left one polled first.
    Both(Branch, Branch),
    /// Runs until one of the branches ends; the left one is polled first.
    Either(Branch, Branch),
    /// All branches in one task, each with a waker of its own.
    Unordered(Vec<Branch>),
}

impl StepKind {
    /// The branches inside of the step.
    pub fn branches_mut(&mut self) -> Vec<&mut Branch> {
        match self {
            StepKind::Spawn { branch, .. } | StepKind::SpawnMany { branch, .. } => vec![branch],
            StepKind::Hold(_, branch) | StepKind::Elsewhere(branch) => vec![branch],
            StepKind::Both(left, right) | StepKind::Either(left, right) => vec![left, right],
            StepKind::Unordered(branches) => branches.iter_mut().collect(),
            _ => Vec::new(),
        }
    }
}

impl Program {
    /// All branches that are not inside of a step.
    pub fn branches_mut(&mut self) -> impl Iterator<Item = &mut Branch> {
        self.before.iter_mut().chain(&mut self.roots)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "intervals: {:?}", self.intervals)?;
        for branch in &self.before {
            writeln!(f, "spawned before:")?;
            write_branch(f, branch, 1)?;
        }
        for root in &self.roots {
            writeln!(f, "block_on{}:", if self.is_local { " (LocalSet)" } else { "" })?;
            write_branch(f, root, 1)?;
        }
        Ok(())
    }
}

fn write_branch(f: &mut fmt::Formatter<'_>, branch: &Branch, depth: usize) -> fmt::Result {
    for step in branch {
        let mut step = step.clone();
        let inner: Vec<Branch> = step.kind.branches_mut().into_iter().map(std::mem::take).collect();
        writeln!(f, "{:indent$}{}: {:?}", "", step.id, step.kind, indent = depth * 4)?;
        for (index, branch) in inner.iter().enumerate() {
            if index > 0 {
                writeln!(f, "{:indent$}and", "", indent = depth * 4)?;
            }
            write_branch(f, branch, depth + 1)?;
        }
    }
    Ok(())
}
