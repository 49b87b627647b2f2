//! Where the kernel loads programs: at random places, or at the same ones each time.
#![allow(unsafe_code, reason = "`personality` has no safe wrapper")]

use libc::c_ulong;

/// Asks, and changes nothing.
const ASK: c_ulong = 0xffff_ffff;

/// Programs that `f` starts on this thread are loaded to the same addresses each time, unless the
/// kernel refuses that, as it does in some containers.
pub(crate) fn fixed<R>(f: impl FnOnce() -> R) -> R {
    let before = personality(ASK);
    personality(before | libc::ADDR_NO_RANDOMIZE as c_ulong);
    let result = f();
    personality(before);
    result
}

/// The personality of this thread before the call.
fn personality(new: c_ulong) -> c_ulong {
    // SAFETY: the call touches no memory.
    unsafe { libc::personality(new) as u32 }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_started_inside_has_fixed_addresses() {
        let before = personality(ASK);
        let inside = fixed(|| personality(ASK));
        assert!(inside == before || inside == before | libc::ADDR_NO_RANDOMIZE as c_ulong, "{inside:x}");
        assert_eq!(personality(ASK), before);
    }
}
