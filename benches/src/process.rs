//! What a process costs: its threads and its CPU time, from Linux's `/proc`.

use std::{fs, time::Duration};

/// A look at a process.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Its threads now.
    pub threads: u64,
    /// The CPU time of all its threads, ended ones too, in steps of the kernel's tick (10 ms).
    pub cpu: Duration,
}

/// Looks at process `pid`, or at this one. `None` where there is no `/proc`, or the process has ended.
pub fn cost(pid: Option<u32>) -> Option<Cost> {
    let pid = pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets, which may itself hold spaces and brackets.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ticks = field(14)? + field(15)?;
    let millis = ticks * 1000 / rustix::param::clock_ticks_per_second();
    Some(Cost { threads: field(20)?, cpu: Duration::from_millis(millis) })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::{sync::mpsc, thread, time::Instant};

    #[test]
    fn a_new_thread_is_counted() {
        let before = cost(None).unwrap().threads;
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = thread::spawn(move || stopped.recv());
        assert!(cost(None).unwrap().threads > 1, "{before}");
        drop(stop);
        assert!(thread.join().unwrap().is_err());
    }

    #[test]
    fn computing_costs_cpu_time() {
        let before = cost(None).unwrap().cpu;
        let deadline = Instant::now() + Duration::from_secs(30);
        while cost(None).unwrap().cpu <= before {
            assert!(Instant::now() < deadline, "no CPU time counted");
        }
    }
}
