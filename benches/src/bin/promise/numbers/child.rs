//! A repetition in a process of its own: this program, started again.
//!
//! Two kinds of rows need one: rows that write to standard output, because the table is printed
//! there, and rows whose process is stopped, because a process that stops itself can't continue by
//! itself. The child writes its numbers as its last line.

use std::env;
use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use gmp_benches::rt::{Gmp, Rt};

use super::{Numbers, Process, ROWS, quota};
use crate::args::Options;
use crate::foreign::end_with_parent;

/// Measures a repetition of `row` on `side` in another process.
pub(crate) fn start(row: &Numbers, side: &str, options: &Options) -> io::Result<Vec<f64>> {
    let mut child = Running(Some(command(row, side, options)?.spawn()?));
    if row.process == Process::Stopped {
        quota::enforce(child.get())?;
    }
    let output = child.wait()?;
    let failed = || io::Error::other(format!("`{}` on {side} said no numbers: {output:?}", row.name));
    numbers(&output).ok_or_else(failed)
}

fn command(row: &Numbers, side: &str, options: &Options) -> io::Result<Command> {
    let (secs, procs) = (options.duration.as_secs().to_string(), options.procs.to_string());
    let mut command = Command::new(env::current_exe()?);
    command.args(["--child", side, "--only", row.name, "--secs", &secs, "--procs", &procs]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    Ok(command)
}

/// Parses the last line, which is an array.
fn numbers(output: &Output) -> Option<Vec<f64>> {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last()?).ok()
}

/// A child that is killed, stopped or not, when this value is dropped.
struct Running(Option<Child>);

impl Running {
    fn get(&mut self) -> &mut Child {
        self.0.as_mut().expect("only `wait` takes it")
    }

    fn wait(mut self) -> io::Result<Output> {
        self.0.take().expect("only this takes it").wait_with_output()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            if let Err(error) = child.kill().and_then(|()| child.wait()) {
                eprintln!("promise: the process that measures can't be ended: {error}");
            }
        }
    }
}

/// The pipe to a child's standard input.
pub(crate) fn stdin(child: &mut Child) -> &mut ChildStdin {
    child.stdin.as_mut().expect("a pipe was asked for")
}

/// The work of the child.
pub(crate) fn measure(side: &str, options: &Options) -> io::Result<()> {
    end_with_parent();
    let row = ROWS.iter().find(|row| options.only.as_deref() == Some(row.name));
    let measure = row.and_then(|row| if side == Gmp::NAME { Some(row.gmp) } else { row.tokio });
    let measure = measure.ok_or_else(|| io::Error::other(format!("{side} has no row {:?}", options.only)))?;
    let numbers = serde_json::to_string(&measure(options)?)?;
    writeln!(io::stdout(), "\n{numbers}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_the_last_line() {
        let said = |text: &str| {
            numbers(&Output { status: Default::default(), stdout: text.as_bytes().to_vec(), stderr: Vec::new() })
        };
        assert_eq!(said("x\nx\n\n[1.5,20.0]\n"), Some(vec![1.5, 20.0]));
        assert_eq!([said(""), said("[1.5]\nx\n")], [None, None]);
    }
}
