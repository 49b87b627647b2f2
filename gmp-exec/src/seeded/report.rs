//! The line of `GMP_SEED_REPORT`.

use std::fs::OpenOptions;
use std::io::Write;

use super::ending::End;
use super::state::State;

/// # Errors
///
/// The file can't be written. The text says so.
pub(super) fn write(state: &State, end: End) -> Result<(), String> {
    let Some(path) = &state.settings.report else { return Ok(()) };
    let file = OpenOptions::new().append(true).create(true).open(path);
    let written = file.and_then(|mut file| file.write_all(line(state, end).as_bytes()));
    written.map_err(|error| format!("gmp: GMP_SEED_REPORT={path:?}: {error}\n"))
}

fn line(state: &State, end: End) -> String {
    let outside: Vec<String> = state.outside.iter().map(|call| format!("\"{call}\"")).collect();
    format!(
        "{{\"seed\":\"{:x}\",\"end\":\"{}\",\"decisions\":{},\"hash\":\"{:016x}\",\"virtual_ns\":{},\"outside\":[{}]}}\n",
        state.settings.seed,
        end.name(),
        state.decisions.count,
        state.decisions.hash,
        state.now,
        outside.join(","),
    )
}
