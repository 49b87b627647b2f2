//! The report as text: a row per place at which tasks were spawned. Tasks that were spawned at several
//! places have one row if they were only seen at the same lines of the program.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::frame::BlockedStack;
use super::report::BlockedEntry;
use crate::escaped::{Escaped, short};
use crate::several::{Several, add_new};

/// Shorter ones of which nothing is known are not written.
const TINY: Duration = Duration::from_millis(5);

/// Entries that are told as one.
pub(super) struct Row {
    /// Their sum.
    entry: BlockedEntry,
    /// Where their tasks were spawned, each place once.
    spawned: Vec<String>,
}

/// The row that has taken the most time first.
pub(super) fn rows(entries: &[BlockedEntry]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for entry in entries.iter().filter(|entry| !is_tiny(entry)) {
        match rows.iter_mut().find(|row| row.is_of(entry)) {
            Some(row) => row.add(entry),
            None => rows.push(Row::of(entry)),
        }
    }
    rows.sort_by_key(|row| Reverse(row.entry.total));
    rows
}

/// It was a moment, and nothing is known of it: a page that was loaded, or a crowded computer.
fn is_tiny(entry: &BlockedEntry) -> bool {
    entry.total < TINY && entry.under_way == 0 && entry.calls.is_empty() && entry.stacks.is_empty()
}

/// The lines of the program at which the tasks were seen. `None`: not only at such lines.
fn lines(entry: &BlockedEntry) -> Option<BTreeSet<String>> {
    let lines = entry.stacks.iter().map(|stack| stack.own().map(ToString::to_string));
    lines.collect::<Option<BTreeSet<String>>>().filter(|lines| !lines.is_empty())
}

fn spawned(entry: &BlockedEntry) -> String {
    format!("{}:{}", short(entry.location.file()), entry.location.line())
}

impl Row {
    pub(super) fn of(entry: &BlockedEntry) -> Row {
        Row { entry: entry.clone(), spawned: vec![spawned(entry)] }
    }

    fn is_of(&self, other: &BlockedEntry) -> bool {
        let kind = |entry: &BlockedEntry| (entry.cause, entry.is_root);
        kind(&self.entry) == kind(other) && lines(other).is_some_and(|lines_of| lines(&self.entry) == Some(lines_of))
    }

    fn add(&mut self, other: &BlockedEntry) {
        let sum = &mut self.entry;
        sum.count += other.count;
        sum.under_way += other.under_way;
        sum.total += other.total;
        sum.longest = sum.longest.max(other.longest);
        sum.name = sum.name.take().filter(|name| other.name.as_ref() == Some(name));
        sum.stacks.extend(other.stacks.iter().cloned());
        add_new(&mut self.spawned, spawned(other));
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BlockedEntry { cause, count, total, longest, under_way, .. } = &self.entry;
        write!(f, "{cause} {count}x, {} ms in all, longest {} ms", total.as_millis(), longest.as_millis())?;
        if *under_way > 0 {
            write!(f, ", {under_way} under way")?;
        }
        match &self.entry.name {
            _ if self.entry.is_root => f.write_str(": future of block_on")?,
            None => f.write_str(": task spawned")?,
            Some(name) => write!(f, ": task {name:?}, spawned")?,
        }
        write!(f, " at {}", Several(&self.spawned))?;
        self.write_calls(f)?;
        match (texts(&self.entry.stacks).as_slice(), &self.entry.no_stack) {
            ([], None) => Ok(()),
            ([], Some(reason)) => write!(f, ", no stack: {}", Escaped(reason)),
            ([(stack, _)], _) => write!(f, ", {stack}"),
            (stacks, _) => stacks.iter().try_for_each(|(stack, count)| write!(f, ", {count}x {stack}")),
        }
    }
}

impl Row {
    /// The system calls of which no stack is known.
    fn write_calls(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_stacks: Vec<i64> = self.entry.stacks.iter().filter_map(BlockedStack::number).collect();
        let calls = self.entry.calls.iter().filter(|call| !of_stacks.contains(&call.number));
        match calls.collect::<Vec<_>>().as_slice() {
            [] => Ok(()),
            [call] => write!(f, ", in {call}"),
            calls => calls.iter().enumerate().try_for_each(|(index, call)| {
                write!(f, "{} {call} {}x", if index == 0 { ", in" } else { "," }, call.count)
            }),
        }
    }
}

/// The stacks in words, with the system call in which each ends. Each text once, and the one that was
/// seen most often first.
fn texts(stacks: &[BlockedStack]) -> Vec<(String, u64)> {
    let mut texts: Vec<(String, u64)> = Vec::new();
    for stack in stacks {
        let call = stack.call.as_ref().map_or_else(String::new, |call| format!("in {call}, "));
        let text = format!("{call}{stack}");
        match texts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += stack.count,
            None => texts.push((text, stack.count)),
        }
    }
    texts.sort_by_key(|(_, count)| Reverse(*count));
    texts
}
