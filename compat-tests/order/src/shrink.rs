//! Reduces a program that shows a difference.

use crate::program::{Branch, Program, StepKind};

/// Removes all parts of `program` that are not needed for `shows` to hold.
pub fn shrink(mut program: Program, shows: impl Fn(&Program) -> bool) -> Program {
    'smaller: loop {
        for candidate in candidates(&program) {
            if shows(&candidate) {
                program = candidate;
                continue 'smaller;
            }
        }
        return program;
    }
}

/// Smaller programs, the smallest first.
fn candidates(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for index in 0..program.before.len() {
        let mut smaller = program.clone();
        smaller.before.remove(index);
        all.push(smaller);
    }
    if program.roots.len() > 1 {
        for index in 0..program.roots.len() {
            let mut smaller = program.clone();
            smaller.roots.remove(index);
            all.push(smaller);
        }
    }
    if program.intervals != [61, 31] {
        all.push(Program { intervals: [61, 31], ..program.clone() });
    }
    if program.is_local {
        all.push(Program { is_local: false, ..program.clone() });
    }
    for change in [remove, unwrap_first, fewer] {
        let mut nth = 0;
        loop {
            let mut smaller = program.clone();
            let mut left = nth;
            let mut branches = smaller.branches_mut();
            if !branches.any(|branch| change_nth(branch, &mut left, change)) {
                break;
            }
            drop(branches);
            if smaller != *program {
                all.push(smaller);
            }
            nth += 1;
        }
    }
    all
}

/// Applies `change` to the step that is reached after `left` others. Returns whether there was one.
fn change_nth(branch: &mut Branch, left: &mut usize, change: fn(&mut Branch, usize)) -> bool {
    for index in 0..branch.len() {
        if *left == 0 {
            change(branch, index);
            return true;
        }
        *left -= 1;
        let inner = branch[index].kind.branches_mut();
        for branch in inner {
            if change_nth(branch, left, change) {
                return true;
            }
        }
    }
    false
}

fn remove(branch: &mut Branch, index: usize) {
    branch.remove(index);
}

/// Replaces a step by the steps inside of it.
fn unwrap_first(branch: &mut Branch, index: usize) {
    let inner: Vec<Branch> = branch[index].kind.branches_mut().into_iter().map(|inner| inner.clone()).collect();
    if let Some(inner) = inner.into_iter().next() {
        branch.splice(index..=index, inner);
    }
}

fn fewer(branch: &mut Branch, index: usize) {
    match &mut branch[index].kind {
        StepKind::SpawnMany { count, .. } if *count > 1 => *count -= 1 + *count / 8,
        StepKind::Consume(units) if *units > 0 => *units -= 1 + *units / 8,
        StepKind::Sleep(ms) | StepKind::Advance(ms) if *ms > 0 => *ms /= 2,
        _ => {}
    }
}
