//! The stacks in the report of tasks that hold their threads: each way to block must be reported
//! with the very line that blocks. A binary of its own: it needs a feature.
#![cfg(all(feature = "blocked-stacks", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod computing;
mod profiles;
mod support;
mod ways;
