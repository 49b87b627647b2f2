//! `cargo gmp tasks --every SECONDS PID`: of which tasks there are more and more, and which are polled
//! most, between two looks.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use tinyjson::JsonValue;

use crate::tasks::{Answer, printed};

/// Places of one look.
const MOST_ROWS: usize = 20;

/// Looks again and again, until the program ends or the output is closed.
///
/// # Errors
///
/// Fails if the program does not answer, as after its end.
pub(crate) fn print(interval: Duration, look: impl Fn() -> Result<Answer>) -> Result<()> {
    let (mut before, mut at) = (Look::of(&look()?.text), Instant::now());
    loop {
        thread::sleep(interval);
        let (now, seconds) = (Look::of(&look()?.text), at.elapsed().as_secs_f64());
        at = Instant::now();
        if !printed(&now.since(&before, seconds))? {
            return Ok(());
        }
        before = now;
    }
}

/// Where each task was spawned, and its polls.
struct Look(HashMap<u64, (String, f64)>);

/// What has changed of the tasks that were spawned at one place.
#[derive(Default)]
struct Row {
    tasks: usize,
    more: f64,
    polls: f64,
}

impl Look {
    /// Lines of JSON. Others are left out: the program may have ended while it wrote.
    fn of(answer: &str) -> Look {
        Look(answer.lines().filter_map(|line| task(&line.parse().ok()?)).collect())
    }

    fn since(&self, before: &Look, seconds: f64) -> String {
        let mut rows: HashMap<&str, Row> = HashMap::new();
        for (id, (place, polls)) in &self.0 {
            let row = rows.entry(place).or_default();
            row.tasks += 1;
            row.more += 1.0;
            row.polls += polls - before.0.get(id).map_or(0.0, |(_, polls)| *polls);
        }
        before.0.values().for_each(|(place, _)| rows.entry(place).or_default().more -= 1.0);
        let mut rows: Vec<(&str, Row)> =
            rows.into_iter().filter(|(_, row)| row.more != 0.0 || row.polls > 0.0).collect();
        rows.sort_by(|(a, one), (b, other)| {
            let by = |row: &Row| (row.more.abs(), row.polls);
            by(other).partial_cmp(&by(one)).expect("numbers").then(a.cmp(b))
        });
        let head = format!("{} tasks, in the last {seconds:.1} s a second:\n", self.0.len());
        rows.into_iter().take(MOST_ROWS).fold(head, |text, (place, Row { tasks, more, polls })| {
            let (more, polls) = (more / seconds, polls / seconds);
            text + &format!("  {more:+.1} tasks, {polls:.1} polls: {tasks} spawned at {place}\n")
        })
    }
}

fn task(json: &JsonValue) -> Option<(u64, (String, f64))> {
    let task = json.get::<HashMap<String, JsonValue>>()?;
    let number = |key: &str| task.get(key)?.get::<f64>().copied();
    let file = task.get("file")?.get::<String>()?;
    // Without the folder into which cargo has unpacked a crate.
    let file =
        file.split_once("/registry/src/").and_then(|(_, rest)| rest.split_once('/')).map_or(&**file, |(_, file)| file);
    Some((number("id")? as u64, (format!("{file}:{}", number("line")?), number("polls")?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(tasks: &[(u32, &str, u32)]) -> Look {
        let line = |(id, file, polls): &(u32, &str, u32)| {
            format!("{{\"id\":{id},\"file\":\"{file}\",\"line\":7,\"polls\":{polls}}}\n")
        };
        Look::of(&tasks.iter().map(line).collect::<String>())
    }

    #[test]
    fn what_grows_comes_first_and_then_what_is_polled_most() {
        let axum = "/home/a/.cargo/registry/src/index-1/axum-0.8.9/src/serve.rs";
        let before = look(&[(1, "a.rs", 5), (2, "b.rs", 10), (3, axum, 1), (4, "idle.rs", 1)]);
        let now = look(&[(1, "a.rs", 25), (2, "b.rs", 11), (5, "b.rs", 1), (6, "b.rs", 2), (4, "idle.rs", 1)]);
        let expected = "\
5 tasks, in the last 2.0 s a second:
  +1.0 tasks, 2.0 polls: 3 spawned at b.rs:7
  -0.5 tasks, 0.0 polls: 0 spawned at axum-0.8.9/src/serve.rs:7
  +0.0 tasks, 10.0 polls: 1 spawned at a.rs:7
";
        assert_eq!(now.since(&before, 2.0), expected);
    }

    #[test]
    fn what_is_cut_off_is_left_out() {
        assert_eq!(Look::of("{\"id\":1,\"file\":\"a.rs\",\"line\":7,\"polls\":1}\n{\"id\":2,\"fi").0.len(), 1);
    }
}
