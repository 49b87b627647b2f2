//! The log of a run: its choices, and those that are not 0 in words.
//!
//! A decision is a line as `1 of 3 Task, decision 41`. Lines that begin with a space are events, and
//! say what followed: `  task 5`, `  spawned at src/lib.rs:20:5`, `  thread 2`.

use std::collections::HashMap;

use crate::escaped::escaped;

/// A choice in the file of a shrunk run: `1 Task`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) value: usize,
    pub(super) kind: String,
}

pub(super) fn choices(log: &str) -> Vec<Choice> {
    let decisions = log.lines().filter_map(Decision::of);
    decisions.map(|decision| Choice { value: decision.choice, kind: decision.kind.to_owned() }).collect()
}

/// A line for each choice that is not 0.
pub(super) fn story(log: &str) -> Vec<String> {
    let lines: Vec<_> = log.lines().collect();
    // The main thread has the turn first, which is no event.
    let mut now = Now { places: places(&lines), thread: "0", ..Now::default() };
    let mut story = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        match Decision::of(line) {
            Some(decision) if decision.choice > 0 => {
                let followed = lines.get(at + 1).map_or("", |next| next.trim_start());
                story.push(escaped(&format!("decision {}: {}", decision.number, now.words(&decision, followed))));
            }
            Some(_) => {}
            None => now.note(line.trim_start()),
        }
    }
    story
}

#[derive(Debug)]
struct Decision<'a> {
    choice: usize,
    count: &'a str,
    kind: &'a str,
    number: &'a str,
}

impl<'a> Decision<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (choice, rest) = line.split_once(" of ")?;
        let (count, rest) = rest.split_once(' ')?;
        let (kind, number) = rest.split_once(", decision ")?;
        Some(Decision { choice: choice.parse().ok()?, count, kind, number })
    }
}

/// Where the tasks were spawned, by their numbers.
fn places<'a>(lines: &[&'a str]) -> HashMap<&'a str, &'a str> {
    let pair = |pair: &[&'a str]| Some((pair[0].strip_prefix("  task ")?, pair[1].strip_prefix("  spawned at ")?));
    lines.windows(2).filter_map(pair).collect()
}

const ROOT: &str = "the future of `block_on`";

/// Which thread has the turn, and which task each thread has polled last: an empty one stands for
/// [`ROOT`].
#[derive(Debug, Default)]
struct Now<'a> {
    places: HashMap<&'a str, &'a str>,
    thread: &'a str,
    tasks: HashMap<&'a str, &'a str>,
}

impl<'a> Now<'a> {
    fn note(&mut self, event: &'a str) {
        match event.split_once(' ') {
            Some(("thread", thread)) => self.thread = thread,
            Some(("task", task)) => drop(self.tasks.insert(self.thread, task)),
            Some(("root", _)) => drop(self.tasks.insert(self.thread, "")),
            _ => {}
        }
    }

    fn words(&self, decision: &Decision, followed: &str) -> String {
        let Decision { choice, count, kind, .. } = *decision;
        match (kind, followed.split_once(' ')) {
            ("Task", Some(("task", task))) => format!("{} runs before {}", self.task(task), older(choice, "task")),
            ("Task", Some(("root-last", _))) => format!("tasks run before {ROOT}, which was woken"),
            ("Thread", Some(("thread", thread))) => {
                format!("thread {thread} goes on before {}", longer(choice))
            }
            ("Wake", Some(("wake", thread))) => format!("thread {thread} is woken before {}", longer(choice)),
            ("Yield", _) => format!("{} yields", self.here()),
            ("Switch", _) => format!("{} lets other threads go first", self.here()),
            ("Timer", _) => "timers that are due wake their tasks in another order".to_owned(),
            ("Late", _) => format!("more time passes than needs to (choice {choice} of {count})"),
            ("Program", _) => format!("`gmp_sim::choose` is {choice} of 0 to {}", count.parse().unwrap_or(1) - 1),
            ("Block", _) => format!("{} will be interrupted in a poll ({choice} of {count})", self.here()),
            ("Edge", _) => format!("{} will be interrupted when it allocates ({choice} of {count})", self.here()),
            _ => format!("{kind}, choice {choice} of {count}"),
        }
    }

    /// What runs at this point.
    fn here(&self) -> String {
        self.tasks.get(self.thread).map_or_else(|| format!("thread {}", self.thread), |task| self.task(task))
    }

    fn task(&self, task: &str) -> String {
        match self.places.get(task) {
            _ if task.is_empty() => ROOT.to_owned(),
            Some(place) => format!("task {task} ({place})"),
            None => format!("task {task}"),
        }
    }
}

fn older(count: usize, what: &str) -> String {
    format!("{count} older {what}{}", if count == 1 { "" } else { "s" })
}

fn longer(count: usize) -> String {
    format!("{count} that {} waited longer", if count == 1 { "has" } else { "have" })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
1 of 2 Switch, decision 1
1 of 2 Thread, decision 2
  thread 2
2 of 3 Task, decision 3
  task 5
  spawned at src/lib.rs:20:5
1 of 2 Yield, decision 4
  task 6
  spawned at src/lib.rs:21:5
1 of 2 Switch, decision 5
700 of 3000 Late, decision 6
4 of 5 Edge, decision 7
1 of 2 Task, decision 8
  root-last 3
  task 6
  root 3
1 of 2 Yield, decision 9
1 of 2 New, decision 10
";

    #[test]
    fn what_is_not_zero_is_told() {
        let values: Vec<_> = choices(LOG).iter().map(|choice| choice.value).collect();
        assert_eq!(values, [1, 1, 2, 1, 1, 700, 4, 1, 1, 1]);
        assert_eq!(choices(LOG)[2], Choice { value: 2, kind: "Task".to_owned() });
        let expected = [
            "decision 1: thread 0 lets other threads go first",
            "decision 2: thread 2 goes on before 1 that has waited longer",
            "decision 3: task 5 (src/lib.rs:20:5) runs before 2 older tasks",
            "decision 4: task 5 (src/lib.rs:20:5) yields",
            "decision 5: task 6 (src/lib.rs:21:5) lets other threads go first",
            "decision 6: more time passes than needs to (choice 700 of 3000)",
            "decision 7: task 6 (src/lib.rs:21:5) will be interrupted when it allocates (4 of 5)",
            "decision 8: tasks run before the future of `block_on`, which was woken",
            "decision 9: the future of `block_on` yields",
            "decision 10: New, choice 1 of 2",
        ];
        assert_eq!(story(LOG), expected);
    }
}
