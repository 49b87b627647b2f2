//! A process that has sent SIGURG and waits for the tasks, as `cargo gmp tasks PID` does: its thread's
//! name says which of its descriptors they are to be written into.
//!
//! Only processes of the same user can be read in `/proc`, so no other user gets the tasks. The
//! descriptor must be one of a pipe that the asker may write to. Anything else would be written with
//! this program's rights and not with the asker's.
//!
//! The pipe is opened a second time, because only then can it be made non-blocking for this program
//! and not for the asker as well. An asker that reads nothing for [`PATIENCE`] is given up.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The beginning of the asking thread's name. A descriptor follows, and `j` for JSON, `l` for
/// the lines at which tasks wait, `b` for the report of what has blocked, or `t` and a number of
/// seconds for a recording.
const NAME: &str = "gmp-tasks:";

/// While an asker reads nothing, others wait for their answers.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Asker {
    /// Non-blocking.
    pipe: File,
    pub(super) question: Question,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// What is now.
    Dump(Form),
    /// What happens in this time.
    Recording(Duration),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
    Blocked,
    /// Text, with the lines at which tasks wait.
    Lines,
}

/// The longest recording. The system keeps 15 bytes of a name, so that two digits fit.
const LONGEST: u64 = 60;

impl Asker {
    pub(super) fn find(process: i32) -> Option<Asker> {
        let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
        let (descriptor, question) = parse(&name)?;
        let flags = fs::read_to_string(format!("/proc/{process}/fdinfo/{descriptor}")).ok()?;
        if !is_for_writing(&flags) {
            return None;
        }
        let mut options = File::options();
        options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        let pipe = options.open(format!("/proc/{process}/fd/{descriptor}")).ok()?;
        let is_pipe = pipe.metadata().ok()?.file_type().is_fifo();
        is_pipe.then_some(Asker { pipe, question })
    }

    /// Waits for so long, or until the asker has gone: a pipe without a reader has an error.
    ///
    /// # Errors
    ///
    /// The asker has gone.
    pub(super) fn stays_for(&self, time: Duration) -> io::Result<()> {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let limit = Timespec { tv_sec: left.as_secs() as _, tv_nsec: left.subsec_nanos() as _ };
            match poll(&mut [PollFd::new(&self.pipe, PollFlags::empty())], Some(&limit)) {
                Ok(0) => return Ok(()),
                Ok(_) => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits until the pipe has room.
    fn wait(&self) -> io::Result<()> {
        let mut writable = [PollFd::new(&self.pipe, PollFlags::OUT)];
        let limit = Timespec { tv_sec: PATIENCE.as_secs() as _, tv_nsec: 0 };
        match poll(&mut writable, Some(&limit))? {
            0 => Err(io::ErrorKind::TimedOut.into()),
            _ => Ok(()),
        }
    }
}

impl Write for Asker {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        loop {
            match self.pipe.write(text) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait()?,
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn parse(name: &str) -> Option<(u32, Question)> {
    let rest = name.trim_end().strip_prefix(NAME)?;
    let (number, question) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    let question = match question {
        "" => Question::Dump(Form::Text),
        "j" => Question::Dump(Form::Json),
        "l" => Question::Dump(Form::Lines),
        "b" => Question::Dump(Form::Blocked),
        _ => Question::Recording(seconds(question.strip_prefix('t')?)?),
    };
    Some((number.parse().ok()?, question))
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.parse().ok().filter(|seconds| (1..=LONGEST).contains(seconds));
    seconds.map(Duration::from_secs)
}

/// The line `flags:` of proc_pid_fdinfo(5), in octal: the access mode and the flags of the open file.
fn is_for_writing(fdinfo: &str) -> bool {
    let flags = fdinfo.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| [libc::O_WRONLY, libc::O_RDWR].contains(&(flags & libc::O_ACCMODE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asker_is_known_by_the_name_of_its_thread() {
        assert_eq!(parse("gmp-tasks:17\n"), Some((17, Question::Dump(Form::Text))));
        assert_eq!(parse("gmp-tasks:3j\n"), Some((3, Question::Dump(Form::Json))));
        assert_eq!(parse("gmp-tasks:3l\n"), Some((3, Question::Dump(Form::Lines))));
        assert_eq!(parse("gmp-tasks:3b\n"), Some((3, Question::Dump(Form::Blocked))));
        assert_eq!(parse("gmp-tasks:12t60\n"), Some((12, Question::Recording(Duration::from_secs(60)))));
        for name in ["gmp-tasks:3t\n", "gmp-tasks:3t0\n", "gmp-tasks:3t61\n", "gmp-tasks:3tt\n", "gmp-tasks:3t-1\n"] {
            assert_eq!(parse(name), None, "{name}");
        }
        for name in ["bash\n", "gmp-tasks\n", "gmp-tasks:\n", "gmp-tasks:x\n", "gmp-tasks:-1\n", "cargo-gmp\n"] {
            assert_eq!(parse(name), None, "{name}");
        }
    }

    #[test]
    fn the_access_mode_of_a_descriptor_is_read() {
        let info = |flags| format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t15\n");
        assert!(is_for_writing(&info("01")) && is_for_writing(&info("0100002")));
        assert!(!is_for_writing(&info("0100000")) && !is_for_writing(&info("03")) && !is_for_writing("pos:\t0\n"));
        assert!(!is_for_writing(&info("0x")));
    }
}
