//! The cycle counter of x86-64.
#![cfg_attr(target_arch = "x86_64", allow(unsafe_code, reason = "`_rdtsc` is an unsafe function"))]

/// Whether the counter goes on at one rate, on all cores alike, in all states of the processor. The
/// kernel says so.
#[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
pub(crate) fn are_invariant() -> bool {
    static ARE: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *ARE.get_or_init(|| std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| says_invariant(&text)))
}

#[cfg(not(all(target_arch = "x86_64", not(any(loom, shuttle, miri)))))]
pub(crate) fn are_invariant() -> bool {
    false
}

#[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
fn says_invariant(text: &str) -> bool {
    let flags = text.lines().find_map(|line| line.strip_prefix("flags")).unwrap_or_default();
    let has = |name| flags.split_whitespace().any(|flag| flag == name);
    has("constant_tsc") && has("nonstop_tsc")
}

/// The counter now; 0 on other computers.
#[inline]
pub(crate) fn read() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
    // SAFETY: all processors of this architecture have the instruction. A system that forbids it
    // ends the program; those that gmp runs on allow it.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, shuttle, miri)))))]
    0
}

#[cfg(all(test, target_arch = "x86_64", not(any(loom, shuttle, miri))))]
mod tests {
    use super::*;

    #[test]
    fn both_flags_are_asked_for() {
        assert!(says_invariant("processor\t: 0\nflags\t\t: fpu constant_tsc x nonstop_tsc\nbugs\t: a"));
        for text in ["", "flags\t\t: constant_tsc", "flags : nonstop_tsc", "bugs : constant_tsc nonstop_tsc"] {
            assert!(!says_invariant(text), "{text}");
        }
    }

    #[test]
    fn the_counter_goes_on() {
        let first = read();
        assert!(read() > first);
    }
}
