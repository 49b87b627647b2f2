//! Third-party crates on gmp, one small real program each.
//!
//! The programs are the tests (`tests/it`), one file a crate; README.md says what each exercises and which adapter it needs.
//! There is no code here.
#![forbid(unsafe_code)]
