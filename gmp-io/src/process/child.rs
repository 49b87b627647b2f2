use std::future::poll_fn;
use std::io;
use std::process::{self, ExitStatus, Output};
use std::task::{Context, Poll, ready};

use gmp_exec::task::KeptThread;

use super::collect::Collect;
use super::running::Running;
use super::{ChildStderr, ChildStdin, ChildStdout};

/// A child process. Made by [`Command::spawn`](super::Command::spawn).
///
/// Dropping it does not end the process, unless [`kill_on_drop`](super::Command::kill_on_drop) was set; nor does the process
/// stay behind as a zombie later.
///
/// It may be waited for in another runtime than the one that started it, also when that one is gone.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use gmp_io::process::Command;
///
/// let mut child = Command::new("sleep").arg("1000").spawn()?;
/// assert!(child.id().is_some());
/// assert!(child.try_wait()?.is_none(), "still running");
///
/// child.kill().await?;
/// assert!(child.id().is_none());
/// assert!(!child.wait().await?.success(), "the status stays");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Child {
    process: Process,
    /// The pipe to the child's standard input, if it was asked for. To use it beside the child's methods, `take` it.
    pub stdin: Option<ChildStdin>,
    /// The pipe from the child's standard output, if it was asked for. To use it beside the child's methods, `take` it.
    pub stdout: Option<ChildStdout>,
    /// The pipe from the child's standard error, if it was asked for. To use it beside the child's methods, `take` it.
    pub stderr: Option<ChildStderr>,
}

/// A status once seen is the answer for ever. By then the number may belong to another process.
#[derive(Debug)]
enum Process {
    Running(Running),
    Exited(ExitStatus),
}

impl Child {
    /// Takes over a child that has just been started, or kills it if that can't be done.
    pub(super) fn new(mut child: process::Child, parent: KeptThread, kill_on_drop: bool) -> io::Result<Child> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut running = Running::new(child, parent)?;
        let stdin = stdin.map(ChildStdin::from_std).transpose()?;
        let stdout = stdout.map(ChildStdout::from_std).transpose()?;
        let stderr = stderr.map(ChildStderr::from_std).transpose()?;
        running.set_kill_on_drop(kill_on_drop);
        Ok(Child { process: Process::Running(running), stdin, stdout, stderr })
    }

    /// The process' number, as long as the exit has not been seen. Afterwards it may belong to another process.
    pub fn id(&self) -> Option<u32> {
        match &self.process {
            Process::Running(running) => Some(running.id()),
            Process::Exited(_) => None,
        }
    }

    /// Kills the process (SIGKILL), and does not wait until it is dead. Does nothing if the exit has been seen already.
    ///
    /// # Errors
    ///
    /// The process runs as another user meanwhile.
    pub fn start_kill(&mut self) -> io::Result<()> {
        match &mut self.process {
            Process::Running(running) => running.kill(),
            Process::Exited(_) => Ok(()),
        }
    }

    /// Kills the process (SIGKILL), and waits until it is dead.
    ///
    /// # Errors
    ///
    /// As for [`start_kill`](Child::start_kill) and [`wait`](Child::wait).
    ///
    /// # Cancel safety
    ///
    /// Once it has been polled the process is killed; the wait may be taken up again.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # use std::time::Duration;
    /// use gmp_io::process::Command;
    ///
    /// let mut child = Command::new("sleep").arg("1000").spawn()?;
    /// tokio::select! {
    ///     _ = child.wait() => unreachable!("it sleeps for long"),
    ///     _ = gmp_exec::time::sleep(Duration::from_millis(1)) => child.kill().await?,
    /// }
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn kill(&mut self) -> io::Result<()> {
        self.start_kill()?;
        self.wait().await.map(drop)
    }

    /// Waits until the process has exited. Its standard input is closed first, since it may be waiting for the end of it;
    /// `take` the pipe to prevent that.
    ///
    /// Its output is not read: a child that writes more than its pipe holds (64 KiB on Linux) never exits. Read at the same
    /// time, or use [`wait_with_output`](Child::wait_with_output).
    ///
    /// # Errors
    ///
    /// Somebody else has waited for the process, so its status is gone. The runtime that it was started in has been shut
    /// down, and this future is not polled in another one.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: it can be called again, also after it has returned.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        poll_fn(|cx| self.process.poll_exit(cx)).await
    }

    /// The status, if the process has exited. Neither waits nor closes anything.
    ///
    /// # Errors
    ///
    /// Somebody else has waited for the process, so its status is gone.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match &mut self.process {
            Process::Exited(status) => Ok(Some(*status)),
            Process::Running(running) => {
                let status = running.try_wait()?;
                Ok(status.inspect(|&status| self.process = Process::Exited(status)))
            }
        }
    }

    /// Waits until the process has exited, and collects what it writes until the ends of its standard output and error, as
    /// far as these are pipes. Its standard input is closed first.
    ///
    /// A pipe ends when all who can write to it have closed it: children of the child as well.
    ///
    /// # Errors
    ///
    /// As for [`wait`](Child::wait), and of reading. The first one ends the wait.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use std::process::Stdio;
    ///
    /// use gmp_io::process::Command;
    ///
    /// let child = Command::new("sh").args(["-c", "echo oops >&2; exit 1"]).stderr(Stdio::piped()).spawn()?;
    /// let output = child.wait_with_output().await?;
    /// assert_eq!(output.status.code(), Some(1));
    /// assert_eq!(output.stderr, b"oops\n");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn wait_with_output(mut self) -> io::Result<Output> {
        drop(self.stdin.take());
        let mut stdout = Collect::new(self.stdout.take().map(ChildStdout::into_receiver));
        let mut stderr = Collect::new(self.stderr.take().map(ChildStderr::into_receiver));
        // The pipes stay open to the end: a child that writes into a closed one is killed for it.
        let status = poll_fn(|cx| {
            // All three are polled each time, as each leaves a waker.
            let exit = self.process.poll_exit(cx)?;
            let (out, err) = (stdout.poll_end(cx)?, stderr.poll_end(cx)?);
            ready!(out);
            ready!(err);
            exit.map(Ok::<_, io::Error>)
        })
        .await?;
        Ok(Output { status, stdout: stdout.into_bytes(), stderr: stderr.into_bytes() })
    }
}

impl Process {
    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        let status = match self {
            Process::Running(running) => ready!(running.poll_exit(cx))?,
            Process::Exited(status) => *status,
        };
        *self = Process::Exited(status);
        Poll::Ready(Ok(status))
    }
}
