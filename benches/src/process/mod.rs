//! The cost of a process: its threads, CPU time and memory, from Linux's `/proc`.

mod switches;

use std::time::Duration;
use std::{fs, io};

use rustix::time::{ClockId, clock_gettime};

pub use self::switches::Switches;

/// A snapshot of a process.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// The number of its threads now.
    pub threads: u64,
    /// The CPU time of all its threads, ended ones too, in steps of the kernel's tick (10 ms).
    pub cpu: Duration,
}

/// Takes a snapshot of process `pid`, or of this one. `None` if there is no `/proc`, or the process
/// has ended.
pub fn cost(pid: Option<u32>) -> Option<Cost> {
    let stat = read(pid, "stat").ok()?;
    // The second field is the program's name in brackets, and the name itself may contain spaces
    // and brackets.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ticks = field(14)? + field(15)?;
    let millis = ticks * 1000 / rustix::param::clock_ticks_per_second();
    Some(Cost { threads: field(20)?, cpu: Duration::from_millis(millis) })
}

/// The CPU time that this process has used, in all its threads and in the kernel, to the
/// nanosecond.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("CPU time is not negative")
}

/// The bytes of memory that process `pid`, or this one, occupies.
///
/// The kernel counts page by page for `smaps_rollup`. Its counters in `stat` and `status` are
/// batched per core and may be wrong by more than a thousand connections need.
pub fn resident(pid: Option<u32>) -> io::Result<u64> {
    let rollup = read(pid, "smaps_rollup")?;
    let kib =
        rollup.lines().find_map(|line| line.strip_prefix("Rss:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| io::Error::other("`smaps_rollup` doesn't say how much is resident"))
}

/// The number of descriptors that process `pid`, or this one, has open.
pub fn descriptors(pid: Option<u32>) -> io::Result<usize> {
    let listing = list(pid, "fd")?;
    // The count for this process includes the directory that is being read.
    Ok(listing.count() - usize::from(pid.is_none()))
}

fn read(pid: Option<u32>, file: &str) -> io::Result<String> {
    of_process(pid, file, |path| fs::read_to_string(path))
}

fn list(pid: Option<u32>, directory: &str) -> io::Result<fs::ReadDir> {
    of_process(pid, directory, |path| fs::read_dir(path))
}

/// Reads `/proc` of a process. An error has the path.
fn of_process<T>(pid: Option<u32>, name: &str, read: impl Fn(&str) -> io::Result<T>) -> io::Result<T> {
    let pid = pid.map_or("self".to_owned(), |pid| pid.to_string());
    let path = format!("/proc/{pid}/{name}");
    read(&path).map_err(|error| io::Error::new(error.kind(), format!("cannot read {path}: {error}")))
}

/// Held by tests that measure this process's memory: each would also measure the memory of the
/// others.
#[cfg(test)]
pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::hint::black_box;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_new_thread_is_counted() {
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = thread::spawn(move || stopped.recv());
        assert!(cost(None).unwrap().threads > 1);
        drop(stop);
        assert!(thread.join().unwrap().is_err());
    }

    #[test]
    fn cpu_time_is_that_of_all_threads_on_both_clocks() {
        let (ticks, nanos) = (cost(None).unwrap().cpu, cpu_time());
        let deadline = Instant::now() + Duration::from_secs(30);
        let worker = thread::spawn(move || {
            while cost(None).unwrap().cpu <= ticks {
                assert!(Instant::now() < deadline, "no CPU time counted");
            }
        });
        worker.join().unwrap();
        assert!(cpu_time() >= nanos + Duration::from_millis(1));
    }

    #[test]
    fn memory_that_is_used_is_resident() {
        let _alone = alone();
        let before = resident(None).unwrap();
        // Without the black box, the optimiser would remove memory that is never read.
        let used = black_box(vec![1_u8; 64 << 20]);
        let after = resident(Some(std::process::id())).unwrap();
        assert!(after > before + (32 << 20), "{before} {after}");
        drop(used);
    }

    #[test]
    fn an_open_file_is_a_descriptor_and_a_process_that_does_not_exist_is_an_error_with_its_path() {
        let files: Vec<_> = (0..100).map(|_| fs::File::open("/proc/self/stat").unwrap()).collect();
        assert!([None, Some(std::process::id())].iter().all(|pid| descriptors(*pid).unwrap() > files.len()));
        let error = resident(Some(u32::MAX)).unwrap_err().to_string();
        assert!(error.contains("/proc/4294967295/smaps_rollup"), "{error}");
    }
}
