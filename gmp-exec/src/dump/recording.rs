//! A recording that `cargo gmp trace PID` asks for: all runtimes, for as long as the asker wants.
//!
//! Other askers are answered meanwhile, so the recording has a thread of its own. Its length is not known
//! before, so it goes to the asker in pieces: the length of the piece, in four bytes with the lowest first,
//! and so many bytes. An empty piece is the end of a runtime's recording.

use std::io::{self, BufWriter, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::asker::Asker;
use super::quit::{END, GREETING, runtimes};
use crate::observe::record_until_written;
use crate::sys::sigaction;

/// Processes that have asked, and have not been answered to the end. A process that has asked twice is
/// answered once.
static ASKERS: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// One recording at a time: the end of one would be the end of others. An asker that goes away ends its
/// own.
static RECORDING: Mutex<()> = Mutex::new(());

const NO_RECORDER: &str = "no recorder\n";

/// What becomes one piece.
const PIECE: usize = 64 << 10;

/// Starts the thread that answers. If the system has none to give, the asker is told nothing, and says
/// so.
pub(super) fn start(sender: i32, asker: Asker, time: Duration) {
    let Some(answering) = Answering::begin(sender) else { return };
    let body = move || {
        let _answering = answering;
        sigaction::block_in_this_thread(libc::SIGPIPE);
        // Nothing can be done about an asker that has gone.
        let _ = answer(asker, time);
    };
    let _ = thread::Builder::new().name("gmp-dump".to_owned()).spawn(body);
}

/// An asker is in the list until this is dropped.
struct Answering(i32);

impl Answering {
    /// `None`: the asker is being answered.
    fn begin(sender: i32) -> Option<Answering> {
        let mut askers = askers();
        let is_new = !askers.contains(&sender);
        is_new.then(|| {
            askers.push(sender);
            Answering(sender)
        })
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        askers().retain(|asker| *asker != self.0);
    }
}

fn askers() -> MutexGuard<'static, Vec<i32>> {
    ASKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(mut out: Asker, time: Duration) -> io::Result<()> {
    out.write_all(GREETING)?;
    let _one = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let runtimes = runtimes();
    let recorded: Vec<_> = runtimes.iter().map_while(record_until_written).collect();
    if recorded.len() < runtimes.len() {
        out.write_all(NO_RECORDER.as_bytes())?;
        return out.write_all(END);
    }
    out.stays_for(time)?;
    writeln!(out, "{} recordings", recorded.len())?;
    for write in recorded {
        let mut pieces = BufWriter::with_capacity(PIECE, Pieces(&mut out));
        write(&mut pieces)?;
        pieces.flush()?;
        drop(pieces);
        out.write_all(&0_u32.to_le_bytes())?;
    }
    out.write_all(END)
}

struct Pieces<'a>(&'a mut Asker);

impl Write for Pieces<'_> {
    /// No piece is empty: the buffer above passes on what it has.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = &bytes[..bytes.len().min(PIECE)];
        self.0.write_all(&(piece.len() as u32).to_le_bytes())?;
        self.0.write_all(piece)?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
