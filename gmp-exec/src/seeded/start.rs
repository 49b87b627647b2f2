//! The start of a seeded run: before `main`, while the process has one thread.
#![allow(unsafe_code, reason = "places a function among those that run before `main`")]

use super::decisions::{Decisions, Next};
use super::interposed::is_in_library;
use super::network::Network;
use super::settings::{Settings, open_log, read, read_kinds, read_replay};
use super::state::{self, State};
use super::threads::Thread;
use super::{ending, network, threads, time_up};
use crate::sync::Arc;
use crate::sys::{environment, stderr};

// SAFETY: the section is for pointers to functions that the loader calls once. glibc has its own
// state, and the environment, ready by then, and std needs nothing else for what is called here.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn before_main() {
        match read() {
            Ok(None) => {}
            // rustc has the variable from `cargo gmp run --seed`, and is no run.
            _ if is_in_library() => {}
            Ok(Some(settings)) => begin(settings).unwrap_or_else(|error| refuse(&error)),
            Err(error) => refuse(&error),
        }
    }
    before_main
};

fn begin(settings: Settings) -> Result<(), String> {
    let decisions = Decisions::new(settings.seed, read_kinds()?, read_replay()?, open_log()?);
    let net = environment::var_os("GMP_SEED_NET").unwrap_or_default().to_string_lossy();
    let net = network::parse(&net).map_err(|error| format!("GMP_SEED_NET: {error}"))?;
    threads::watch_ends();
    ending::watch();
    time_up::watch();
    let first = Thread::running();
    time_up::note_holder(first.tid);
    state::begin(State {
        settings: Arc::new(settings),
        decisions,
        threads: vec![first],
        live: vec![0],
        pauses: 0,
        kept: 0,
        allocation: Next::default(),
        block: Next::default(),
        moment: Next::default(),
        now: 0,
        last_polled: 0,
        network: Network::new(net),
        outside: Vec::new(),
        has_peers: false,
        has_had_children: false,
    });
    Ok(())
}

/// A run without the seed that was asked for would say nothing about it.
fn refuse(error: &str) {
    stderr::try_write(&format!("gmp: {error}\n"));
    std::process::exit(101);
}
