//! Processes of this program, started again, and processes that answer line by line: the effects of
//! a measurement are gone only after its process has ended.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Result, ensure};

/// This program with other arguments.
pub fn again(arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(arguments);
    Ok(command)
}

/// A process that writes lines, and ends when its standard input does: when this value is dropped.
#[derive(Debug)]
pub struct Piped {
    child: Child,
    from: BufReader<ChildStdout>,
    to: Option<ChildStdin>,
}

impl Piped {
    pub fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (from, to) = (child.stdout.take().expect("a pipe was asked for"), child.stdin.take());
        Ok(Piped { child, from: BufReader::new(from), to })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.from.read_line(&mut line)? > 0, "the process has ended");
        Ok(line.trim_end().to_owned())
    }

    /// Writes a line, at once: half a line must not wake the process.
    pub fn tell(&mut self, line: &str) -> Result<()> {
        Ok(self.to.as_mut().expect("only a drop closes it").write_all(format!("{line}\n").as_bytes())?)
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        drop(self.to.take());
        self.child.wait().inspect_err(|error| eprintln!("a process can't be waited for: {error}")).ok();
    }
}
