//! Which CPUs share a last-level cache (Linux: `/sys/devices/system/cpu/cpu*/cache`).
//!
//! A task that moves between two CPUs takes its data along. Through a shared cache that takes some
//! ten nanoseconds a line, from one cache to another ten times as many. On many processors all CPUs
//! of a socket share a cache; AMD's have one for each four to eight cores.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use crate::sys::cpu::current_cpu;

/// The last-level caches of a computer that has several, and CPUs that share one.
#[derive(Debug)]
pub(crate) struct Caches {
    /// The number of each CPU's cache.
    of_cpu: Vec<u16>,
    current_cpu: fn() -> Option<usize>,
}

impl Caches {
    /// Those of this computer; `None`: all CPUs share one, each has its own, or the system does not
    /// say.
    ///
    /// Reads a few small files for each cache, once in the life of the process. CPUs that come
    /// online later count as CPUs of one cache.
    pub(crate) fn of_computer() -> Option<&'static Caches> {
        static CACHES: OnceLock<Option<Caches>> = OnceLock::new();
        CACHES.get_or_init(|| Caches::below(Path::new("/"), current_cpu)).as_ref()
    }

    /// The same with another directory in place of `/`.
    pub(crate) fn below(root: &Path, current_cpu: fn() -> Option<usize>) -> Option<Caches> {
        let mut of_cpu = Vec::new();
        let (mut count, mut is_shared) = (0, false);
        for (cpu, directory) in cpus(&root.join("sys/devices/system/cpu"))? {
            if of_cpu.get(cpu).is_some_and(|&number| number != UNKNOWN) {
                continue;
            }
            // A CPU that is offline has no caches.
            let Some(sharing) = sharing_last_level(&directory) else { continue };
            is_shared |= sharing.len() > 1;
            for cpu in sharing {
                of_cpu.resize(of_cpu.len().max(cpu + 1), UNKNOWN);
                of_cpu[cpu] = count;
            }
            count += 1;
        }
        (count > 1 && is_shared).then_some(Caches { of_cpu, current_cpu })
    }

    /// The number of the cache that the calling thread is next to now. CPUs of which nothing is
    /// known count as CPUs of one cache.
    pub(crate) fn nearest(&self) -> u16 {
        (self.current_cpu)().and_then(|cpu| self.of_cpu.get(cpu).copied()).unwrap_or(UNKNOWN)
    }
}

const UNKNOWN: u16 = u16::MAX;

/// More CPUs than any computer has; fewer than `UNKNOWN`.
const MOST_CPUS: usize = 1 << 15;

/// The CPUs with their directories, by number.
fn cpus(directory: &Path) -> Option<Vec<(usize, std::path::PathBuf)>> {
    let entries = fs::read_dir(directory).ok()?.flatten();
    let mut cpus: Vec<_> = entries
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.strip_prefix("cpu")?.parse().ok()?;
            Some((number, entry.path()))
        })
        .collect();
    cpus.sort();
    Some(cpus)
}

/// The CPUs that share the cache of the highest level that this CPU has.
fn sharing_last_level(cpu: &Path) -> Option<Vec<usize>> {
    let caches = fs::read_dir(cpu.join("cache")).ok()?.flatten().map(|entry| entry.path());
    let with_level = caches.filter_map(|cache| {
        let level: u32 = fs::read_to_string(cache.join("level")).ok()?.trim().parse().ok()?;
        Some((level, cache))
    });
    let (_, last) = with_level.max()?;
    cpu_list(fs::read_to_string(last.join("shared_cpu_list")).ok()?.trim())
}

/// A list as `0-3,8`.
fn cpu_list(list: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last >= MOST_CPUS {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::sys::fake_root::FakeRoot;

    /// Adds a CPU with its caches: levels, and the CPUs that share each.
    fn with_cpu(computer: FakeRoot, number: usize, caches: &[(&str, &str)]) -> FakeRoot {
        let directory = format!("sys/devices/system/cpu/cpu{number}");
        let with_cpu = computer.file(&format!("{directory}/uevent"), "");
        caches.iter().enumerate().fold(with_cpu, |computer, (index, (level, sharing))| {
            let cache = format!("{directory}/cache/index{index}");
            let with_level = computer.file(&format!("{cache}/level"), format!("{level}\n"));
            with_level.file(&format!("{cache}/shared_cpu_list"), format!("{sharing}\n"))
        })
    }

    /// CPUs with these caches each, and what else is beside them.
    fn computer(cpus: &[&[(&str, &str)]]) -> FakeRoot {
        let others =
            FakeRoot::new().file("sys/devices/system/cpu/online", "").file("sys/devices/system/cpu/cpufreq/x", "");
        cpus.iter().enumerate().fold(others, |computer, (number, caches)| with_cpu(computer, number, caches))
    }

    fn caches(computer: &FakeRoot) -> Option<Vec<u16>> {
        Caches::below(computer.path(), || Some(0)).map(|caches| caches.of_cpu)
    }

    /// Two threads for each core, and two caches of level 3.
    #[test]
    fn the_highest_level_decides() {
        let mut computer = computer(&[]);
        for cpu in 0..16 {
            let own = format!("{},{}", cpu % 8, cpu % 8 + 8);
            let shared = if cpu % 8 < 4 { "0-3,8-11" } else { "4-7,12-15" };
            computer = with_cpu(computer, cpu, &[("1", &own), ("3", shared), ("2", &own)]);
        }
        assert_eq!(caches(&computer).unwrap(), [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1]);
    }

    /// As on small computers with clusters of cores that share a cache of level 2.
    #[test]
    fn caches_of_different_levels_are_told_apart() {
        let computer = computer(&[&[("1", "0"), ("2", "0-1")], &[("1", "1"), ("2", "0-1")], &[("1", "2")]]);
        assert_eq!(caches(&computer).unwrap(), [0, 0, 1]);
    }

    #[test]
    fn one_cache_for_all_is_not_worth_a_look() {
        assert_eq!(caches(&computer(&[&[("3", "0-1")], &[("3", "0-1")]])), None);
    }

    /// As virtual machines show it: no processor would be near another.
    #[test]
    fn a_cache_for_each_cpu_is_not_worth_a_look_either() {
        assert_eq!(caches(&computer(&[&[("3", "0")], &[("3", "1")]])), None);
    }

    #[test]
    fn a_cpu_that_is_offline_is_unknown() {
        let computer = computer(&[&[("3", "0,2")], &[], &[("3", "0,2")], &[("3", "3")]]);
        assert_eq!(caches(&computer).unwrap(), [0, UNKNOWN, 0, 1]);
    }

    #[test]
    fn a_system_that_says_nothing_readable_has_no_known_caches() {
        assert_eq!(caches(&FakeRoot::new()), None);
        for sharing in ["", "0-", "many", "3-x", "0-99999999"] {
            assert_eq!(caches(&computer(&[&[("3", sharing)], &[("3", sharing)]])), None, "{sharing:?}");
        }
    }

    #[test]
    fn the_nearest_cache_is_that_of_the_current_cpu() {
        let computer = computer(&[&[("3", "0")], &[("3", "1-2")]]);
        let nearest = |cpu| Caches::below(computer.path(), cpu).unwrap().nearest();
        let cpus: [fn() -> Option<usize>; 5] = [|| Some(0), || Some(1), || Some(2), || Some(64), || None];
        assert_eq!(cpus.map(nearest), [0, 1, 1, UNKNOWN, UNKNOWN]);
    }
}
