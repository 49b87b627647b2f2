//! The line of `GMP_SEED_REPORT`.

use std::fs::OpenOptions;
use std::io::Write;

use super::ending::End;
use super::state::State;

/// Nothing can be done about a file that can't be written.
pub(super) fn write(state: &State, end: End) {
    let Some(path) = &state.settings.report else { return };
    if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(path) {
        let _ = file.write_all(line(state, end).as_bytes());
    }
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
