//! A child process.

use std::future::poll_fn;
use std::io;
use std::process::{self, ExitStatus, Output};
use std::task::{Context, Poll, ready};

use gmp_exec::task::KeptThread;

use super::collect::Collect;
use super::running::Running;
use super::{ChildStderr, ChildStdin, ChildStdout};

/// A child process, from [`Command::spawn`](super::Command::spawn).
///
/// Dropping the `Child` does not end the process, unless
/// [`kill_on_drop`](super::Command::kill_on_drop) was set. The process does not stay behind as a
/// zombie after it exits.
///
/// A child can be waited for in another runtime than the one that started it, even if that runtime
/// is gone.
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
    /// The pipe to the child's standard input, if one was asked for. To use the pipe beside the
    /// child's methods, `take` it.
    pub stdin: Option<ChildStdin>,
    /// The pipe from the child's standard output, if one was asked for. To use the pipe beside the
    /// child's methods, `take` it.
    pub stdout: Option<ChildStdout>,
    /// The pipe from the child's standard error, if one was asked for. To use the pipe beside the
    /// child's methods, `take` it.
    pub stderr: Option<ChildStderr>,
}

/// A status that was seen is kept, because by then the process number may belong to another
/// process.
#[derive(Debug)]
enum Process {
    Running(Running),
    Exited(ExitStatus),
}

impl Child {
    /// Takes over a child that has just been started, or kills the child if it can't be watched.
    pub(super) fn new(mut child: process::Child, parent: KeptThread, kill_on_drop: bool) -> io::Result<Child> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut running = Running::new(child, parent)?;
        let stdin = stdin.map(ChildStdin::from_std).transpose()?;
        let stdout = stdout.map(ChildStdout::from_std).transpose()?;
        let stderr = stderr.map(ChildStderr::from_std).transpose()?;
        running.set_kill_on_drop(kill_on_drop);
        Ok(Child { process: Process::Running(running), stdin, stdout, stderr })
    }

    /// The process number, as long as the exit has not been seen. Afterwards the number may belong
    /// to another process.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let mut child = Command::new("true").spawn()?;
    /// assert!(child.id().is_some());
    /// child.wait().await?;
    /// assert_eq!(child.id(), None);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn id(&self) -> Option<u32> {
        match &self.process {
            Process::Running(running) => Some(running.id()),
            Process::Exited(_) => None,
        }
    }

    /// Kills the process (SIGKILL) without waiting for its exit. Does nothing if the exit has been
    /// seen already.
    ///
    /// # Errors
    ///
    /// The process now runs as another user.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let mut child = Command::new("sleep").arg("1000").spawn()?;
    /// child.start_kill()?;
    /// assert_eq!(child.wait().await?.code(), None, "ended by a signal");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn start_kill(&mut self) -> io::Result<()> {
        match &mut self.process {
            Process::Running(running) => running.kill(),
            Process::Exited(_) => Ok(()),
        }
    }

    /// Kills the process (SIGKILL), and waits for its exit.
    ///
    /// # Errors
    ///
    /// As for [`start_kill`](Child::start_kill) and [`wait`](Child::wait).
    ///
    /// # Cancel safety
    ///
    /// Once the future has been polled the process is killed; the wait can be repeated.
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
    ///     _ = child.wait() => unreachable!("the child sleeps longer"),
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

    /// Waits until the process has exited. The pipe to its standard input is closed first, because
    /// the process may be waiting for the end of its input. To prevent that, `take` the pipe.
    ///
    /// The output is not read: a child that writes more than its pipe holds (64 KiB on Linux) never
    /// exits. Read at the same time, or use [`wait_with_output`](Child::wait_with_output).
    ///
    /// # Errors
    ///
    /// Other code has waited for the process, so its status is lost. Or the runtime in which the
    /// child was started has been shut down, and this future is not polled in another one.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the method can be called again, even after it has returned.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let mut child = Command::new("sh").args(["-c", "exit 7"]).spawn()?;
    /// assert_eq!(child.wait().await?.code(), Some(7));
    /// assert_eq!(child.wait().await?.code(), Some(7), "the status stays");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        poll_fn(|cx| self.process.poll_exit(cx)).await
    }

    /// Returns the status if the process has exited. Neither waits nor closes the standard input.
    ///
    /// # Errors
    ///
    /// Other code has waited for the process, so its status is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::process::Command;
    ///
    /// let mut child = Command::new("sleep").arg("1000").spawn()?;
    /// assert!(child.try_wait()?.is_none(), "still running");
    /// child.kill().await?;
    /// assert!(child.try_wait()?.is_some());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match &mut self.process {
            Process::Exited(status) => Ok(Some(*status)),
            Process::Running(running) => {
                let status = running.try_wait()?;
                Ok(status.inspect(|&status| self.process = Process::Exited(status)))
            }
        }
    }

    /// Waits until the process has exited, and collects its output up to the end of its standard
    /// output and error, if these are pipes. The pipe to its standard input is closed first.
    ///
    /// A pipe ends when all processes that can write to it have closed it, including children of
    /// the child.
    ///
    /// # Errors
    ///
    /// As for [`wait`](Child::wait), and the errors of reading. The first error ends the wait.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use std::process::Stdio;
    ///
    /// use gmp_io::process::Command;
    ///
    /// let mut command = Command::new("sh");
    /// command.args(["-c", "echo oops >&2; exit 1"]).stderr(Stdio::piped());
    /// let output = command.spawn()?.wait_with_output().await?;
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
        // The pipes stay open to the end: a child that writes into a closed pipe is killed by
        // SIGPIPE.
        let status = poll_fn(|cx| {
            // All three are polled each time, because each stores a waker.
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
