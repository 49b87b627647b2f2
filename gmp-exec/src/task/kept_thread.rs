//! Threads that something outside depends on.

use crate::context;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;

/// Keeps the thread that made it, from [`keep_thread`].
#[derive(Debug)]
#[must_use = "the thread is kept until this is dropped"]
pub struct KeptThread(Option<Arc<Machine>>);

/// Keeps this thread, if it is one of a runtime's, from ending for want of work, until what is
/// returned is dropped.
///
/// For what the system ties to the thread that made it. On Linux, a child process that has asked
/// for it (`PR_SET_PDEATHSIG`) gets a signal when the thread ends that has started it, and not when
/// the process does.
///
/// The end of the runtime ends the thread all the same. A thread that is no runtime's own, such as
/// the one inside `block_on`, belongs to its owner, and nothing is done.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let thread = gmp_exec::task::keep_thread();
/// let mut child = std::process::Command::new("true").spawn().unwrap();
/// child.wait().unwrap();
/// drop(thread);
/// # });
/// ```
pub fn keep_thread() -> KeptThread {
    let machine = context::with_machine(|local| local.map(|local| local.machine.clone()));
    KeptThread(machine.inspect(|machine| machine.keep()))
}

impl Drop for KeptThread {
    fn drop(&mut self) {
        if let Some(machine) = &self.0 {
            machine.let_go();
        }
    }
}
