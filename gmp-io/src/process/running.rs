//! A child whose exit has not been seen.

use std::io;
use std::process::{self, ExitStatus};
use std::task::{Context, Poll, ready};

use gmp_exec::task::{KeptThread, coop};

use super::exit::Exit;
use super::orphans;

/// A running child, and the means to notice its exit.
#[derive(Debug)]
pub(super) struct Running {
    exit: Exit,
    guarded: Guarded,
}

impl Running {
    /// Watches `child`, which is killed on drop until [`set_kill_on_drop`](Self::set_kill_on_drop)
    /// says otherwise. `parent` is the thread that started the child.
    pub(super) fn new(child: process::Child, parent: KeptThread) -> io::Result<Self> {
        let guarded = Guarded { child: Some((child, parent)), kill_on_drop: true };
        Ok(Running { exit: Exit::of(guarded.child().id())?, guarded })
    }

    pub(super) fn set_kill_on_drop(&mut self, kill_on_drop: bool) {
        self.guarded.kill_on_drop = kill_on_drop;
    }

    pub(super) fn id(&self) -> u32 {
        self.guarded.child().id()
    }

    /// After this the child is not killed again on drop: it can't survive the first kill.
    pub(super) fn kill(&mut self) -> io::Result<()> {
        self.guarded.child_mut().kill()?;
        self.guarded.kill_on_drop = false;
        Ok(())
    }

    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.guarded.child_mut().try_wait()
    }

    /// Consumes budget, as on tokio.
    pub(super) fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        let coop = ready!(coop::poll_proceed(cx));
        let result = ready!(self.exit.poll(self.guarded.child_mut(), cx));
        coop.made_progress();
        Poll::Ready(result)
    }
}

/// Makes sure that the child is waited for in the end, and killed before that if asked for.
#[derive(Debug)]
struct Guarded {
    /// `Some` until the drop.
    child: Option<(process::Child, KeptThread)>,
    kill_on_drop: bool,
}

impl Guarded {
    fn child(&self) -> &process::Child {
        &self.child.as_ref().expect("the child is there until the drop").0
    }

    fn child_mut(&mut self) -> &mut process::Child {
        &mut self.child.as_mut().expect("the child is there until the drop").0
    }
}

impl Drop for Guarded {
    /// A child that was waited for is neither killed nor adopted: the standard library remembers
    /// the status.
    fn drop(&mut self) {
        let Some((mut child, parent)) = self.child.take() else { return };
        if self.kill_on_drop {
            let _ = child.kill();
        }
        // An error means that other code has waited for the child.
        if let Ok(None) = child.try_wait() {
            orphans::adopt(child, parent);
        }
    }
}
