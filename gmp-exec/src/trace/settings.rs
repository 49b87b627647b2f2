//! `GMP_TRACE=FILE[,size=4MiB][,on-take=50ms][,on-panic][,on-sigquit][,roll=1GiB]`: records a
//! program without a change to it.

use std::fs::{self, File};
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::*;
use std::time::Duration;

use super::files::{say, with_suffix};
use super::recorder::{LEAST_SIZE, MOST_SIZE, USUAL_SIZE};
use crate::escaped::Escaped;
use crate::sys::environment;

const VARIABLE: &str = "GMP_TRACE";

/// So many bytes of files are enough for several files.
const LEAST_ROLL: u64 = 4 << 20;
const MOST_ROLL: u64 = 1 << 40;

/// Runtimes of one process that are recorded. Each has files of its own, and a program that builds
/// runtimes all the time would fill the disk.
const MOST_RUNTIMES: usize = 100;
static RUNTIMES: AtomicUsize = AtomicUsize::new(0);

const ALLOWED: &str = "allowed are FILE first, then size=SIZE, on-take=DURATION, on-panic, on-sigquit and roll=SIZE";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(super) file: PathBuf,
    /// Bytes per thread.
    pub(super) size: usize,
    /// Write when a poll has held its thread for so long.
    pub(crate) on_take: Option<Duration>,
    pub(super) on_panic: bool,
    pub(crate) on_sigquit: bool,
    /// Write everything, into files that have so many bytes together.
    pub(super) roll: Option<u64>,
}

impl Settings {
    /// Those of the next runtime. `None`: the variable is not set, or empty, or there have been too many
    /// runtimes.
    ///
    /// # Errors
    ///
    /// Fails if a setting is unknown, and if the file can't be written.
    pub(crate) fn from_env() -> io::Result<Option<Settings>> {
        let Some(mut settings) = environment::parsed(VARIABLE, parse)?.flatten() else { return Ok(None) };
        let runtime = RUNTIMES.fetch_add(1, Relaxed) + 1;
        if runtime > MOST_RUNTIMES {
            if runtime == MOST_RUNTIMES + 1 {
                say(&format!("{VARIABLE}: {MOST_RUNTIMES} runtimes are recorded; no more are"));
            }
            return Ok(None);
        }
        settings.file = of_runtime(settings.file, runtime);
        settings.try_to_write()?;
        Ok(Some(settings))
    }

    /// At the end of the run, it would be too late to say that the file can't be written.
    fn try_to_write(&self) -> io::Result<()> {
        let first = if self.roll.is_some() { with_suffix(&self.file, "-000001") } else { self.file.clone() };
        try_to_write(&first).map_err(|error| {
            let text = format!("{VARIABLE}: can't write {}: {error}", Escaped(&first.display().to_string()));
            io::Error::new(error.kind(), text)
        })
    }

    /// Whether the file is written at the end of the runtime, because nothing else is asked for.
    pub(super) fn is_for_end(&self) -> bool {
        self.on_take.is_none() && !self.on_panic && !self.on_sigquit
    }
}

/// `a.pftrace`, `a-runtime2.pftrace`, `a-runtime3.pftrace`, ...
fn of_runtime(file: PathBuf, number: usize) -> PathBuf {
    if number == 1 { file } else { with_suffix(&file, &format!("-runtime{number}")) }
}

/// A file that is there stays as it is.
fn try_to_write(file: &Path) -> io::Result<()> {
    match fs::metadata(file) {
        Ok(there) if there.is_file() || there.is_dir() => File::options().append(true).open(file).map(drop),
        // Opening a pipe waits for a reader.
        Ok(_) => Ok(()),
        Err(_) => {
            File::create(file)?;
            let _ = fs::remove_file(file);
            Ok(())
        }
    }
}

fn parse(text: &str) -> Result<Option<Settings>, String> {
    let mut items = text.split(',').map(str::trim);
    let file = items.next().unwrap_or_default();
    let items = items.filter(|item| !item.is_empty());
    if file.is_empty() {
        return if text.is_empty() { Ok(None) } else { Err(format!("{VARIABLE}: no file; {ALLOWED}")) };
    }
    let mut settings =
        Settings { file: file.into(), size: USUAL_SIZE, on_take: None, on_panic: false, on_sigquit: false, roll: None };
    for item in items {
        let (name, value) = item.split_once('=').map_or((item, None), |(name, value)| (name, Some(value)));
        match (name, value) {
            ("size", Some(value)) => settings.size = size(name, value, LEAST_SIZE as u64..=MOST_SIZE as u64)? as usize,
            ("roll", Some(value)) => settings.roll = Some(size(name, value, LEAST_ROLL..=MOST_ROLL)?),
            ("on-take", Some(value)) => settings.on_take = Some(duration(value)?),
            ("on-panic", None) => settings.on_panic = true,
            ("on-sigquit", None) => settings.on_sigquit = true,
            _ => return Err(format!("{VARIABLE}: unknown setting `{item}`; {ALLOWED}")),
        }
    }
    if settings.roll.is_some() && !settings.is_for_end() {
        let others = "on-take, on-panic or on-sigquit";
        return Err(format!("{VARIABLE}: roll writes everything, and can't be combined with {others}"));
    }
    Ok(Some(settings))
}

fn size(name: &str, text: &str, allowed: RangeInclusive<u64>) -> Result<u64, String> {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1)];
    let size = units.into_iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        number.checked_mul(factor)
    });
    size.filter(|size| allowed.contains(size)).ok_or_else(|| {
        let [least, most] = [allowed.start(), allowed.end()].map(|size| in_units(*size));
        format!("{VARIABLE}: {name}={text} is not a size; allowed are {least} to {most}, in bytes, KiB, MiB or GiB")
    })
}

fn in_units(size: u64) -> String {
    match size {
        size if size >= 1 << 30 => format!("{}GiB", size >> 30),
        size if size >= 1 << 20 => format!("{}MiB", size >> 20),
        size => format!("{}KiB", size >> 10),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let units = [("us", 1), ("ms", 1_000), ("s", 1_000_000)];
    let microseconds = units.into_iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        number.checked_mul(factor)
    });
    microseconds.filter(|time| (1..=3_600_000_000).contains(time)).map(Duration::from_micros).ok_or_else(|| {
        format!("{VARIABLE}: on-take={text} is not a duration; allowed are 1us to 3600s, in us, ms or s")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_follow_the_file_in_any_order() {
        assert_eq!(parse("").unwrap(), None);
        let plain = parse("a/b.pftrace").unwrap().unwrap();
        assert_eq!((plain.file.to_str(), plain.size), (Some("a/b.pftrace"), 4 << 20));
        assert!(plain.is_for_end());
        let all = parse("t, on-sigquit, size=64KiB, on-take=50ms, on-panic,").unwrap().unwrap();
        let expected = Settings {
            file: "t".into(),
            size: 64 << 10,
            on_take: Some(Duration::from_millis(50)),
            on_panic: true,
            on_sigquit: true,
            roll: None,
        };
        assert_eq!(all, expected);
        assert!(!all.is_for_end());
        assert_eq!(parse("t,size=4096").unwrap().unwrap().size, 4096);
        assert_eq!(parse("t,on-take=2s").unwrap().unwrap().on_take, Some(Duration::from_secs(2)));
        assert_eq!(parse("t,roll=2GiB").unwrap().unwrap().roll, Some(2 << 30));
    }

    #[test]
    fn bad_settings_are_named_with_what_is_allowed() {
        for (text, expected) in [
            (",size=1MiB", "no file; allowed are FILE first"),
            ("t,on-tkae=50ms", "unknown setting `on-tkae=50ms`; allowed are FILE first, then size=SIZE"),
            ("t,on-panic=1", "unknown setting `on-panic=1`"),
            ("t,size", "unknown setting `size`"),
            ("t,size=1KiB", "size=1KiB is not a size; allowed are 4KiB to 1GiB"),
            ("t,size=18446744073709551615GiB", "is not a size"),
            ("t,roll", "unknown setting `roll`"),
            ("t,roll=1MiB", "roll=1MiB is not a size; allowed are 4MiB to 1024GiB"),
            ("t,roll=4MiB,on-panic", "can't be combined with on-take, on-panic or on-sigquit"),
            ("t,size=4mib", "size=4mib is not a size"),
            ("t,on-take=50", "on-take=50 is not a duration; allowed are 1us to 3600s"),
            ("t,on-take=0ms", "on-take=0ms is not a duration"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with("GMP_TRACE: ") && error.contains(expected), "{text}: {error}");
        }
    }
}
