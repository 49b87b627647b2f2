//! A set-uid program ignores the variables `GMP_*`: whoever starts it chooses them, but it reads and
//! writes files with rights that this user does not have.
//!
//! The program is a copy of this binary that belongs to nobody. Only root can make one.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use gmp_exec::runtime::Builder;
use rustix::process::{geteuid, getuid};

use crate::support::catches;

const CASE: &str = "GMP_TEST_CASE";

/// With values of which each makes `build` fail.
const VARIABLES: &[(&str, &str)] = &[
    ("GMP_BLOCKED", "stacks"),
    ("GMP_DEADLOCK_AFTER", "never"),
    ("GMP_DEBUG", "gctrace=1"),
    ("GMP_LEAKS", "yes"),
    ("GMP_MAXPROCS", "four"),
    ("GMP_TIME_SLICES", "long"),
    #[cfg(feature = "insight")]
    ("GMP_TRACE", "file,rolled"),
];

const NOBODY: u32 = 65534;

#[test]
fn a_set_uid_program_ignores_every_variable() {
    let Some(program) = SetUid::new() else { return };
    for (variable, value) in VARIABLES {
        assert_eq!(program.build_with(0o755, variable, value), format!("refused {variable}"));
        assert_eq!(program.build_with(0o4755, variable, value), "built", "{variable}");
    }
}

#[test]
#[cfg(feature = "insight")]
fn a_set_gid_program_writes_no_trace() {
    let Some(program) = SetUid::new() else { return };
    let trace = program.folder.join("trace");
    assert_eq!(program.build_with(0o2755, "GMP_TRACE", trace.to_str().unwrap()), "built");
    assert!(!trace.exists());
    assert_eq!(program.build_with(0o755, "GMP_TRACE", trace.to_str().unwrap()), "built");
    assert!(trace.exists(), "a program without the bit does");
}

/// The asker would get what the program knows.
#[test]
fn a_set_uid_program_can_not_be_asked_for_its_tasks() {
    let Some(program) = SetUid::new() else { return };
    assert_eq!(program.build_with(0o755, "GMP_TEST_ASKED", "1"), "true");
    assert_eq!(program.build_with(0o4755, "GMP_TEST_ASKED", "1"), "false");
}

#[test]
fn in_a_child() {
    if env::var_os(CASE).is_none() {
        return;
    }
    if env::var_os("GMP_TEST_BIT").is_some() {
        println!("\nresult {}", geteuid() != getuid());
        return;
    }
    let result = Builder::new_multi_thread().build().map(drop);
    if env::var_os("GMP_TEST_ASKED").is_some() {
        println!("\nresult {}", catches("self", libc::SIGURG));
        return;
    }
    let refused = |error: std::io::Error| {
        let text = error.to_string();
        let variable = VARIABLES.iter().find(|(variable, _)| text.contains(variable));
        format!("refused {}", variable.map_or(&*text, |(variable, _)| variable))
    };
    println!("\nresult {}", result.map_or_else(refused, |()| "built".to_owned()));
}

/// A copy of this program, in a folder that is deleted at the end.
struct SetUid {
    folder: PathBuf,
    program: PathBuf,
}

impl SetUid {
    /// `None`: the bit can't be set, or has no effect here.
    fn new() -> Option<SetUid> {
        static COPIES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let copy = COPIES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("gmp-set-uid-{}-{copy}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let copy = SetUid { program: folder.join("program"), folder };
        fs::copy(env::current_exe().unwrap(), &copy.program).unwrap();
        chown(&copy.program, Some(NOBODY), Some(NOBODY)).ok()?;
        (copy.build_with(0o4755, "GMP_TEST_BIT", "1") == "true").then_some(copy)
    }

    fn build_with(&self, mode: u32, variable: &str, value: &str) -> String {
        fs::set_permissions(&self.program, fs::Permissions::from_mode(mode)).unwrap();
        let mut child = Command::new(&self.program);
        child.args(["--exact", "--nocapture", "set_uid::in_a_child"]);
        for (variable, _) in VARIABLES {
            child.env_remove(variable);
        }
        let output = child.env(CASE, "1").env(variable, value).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let result = text.lines().find_map(|line| line.strip_prefix("result "));
        result.unwrap_or_else(|| panic!("there is no result: {output:?}")).to_owned()
    }
}

impl Drop for SetUid {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
