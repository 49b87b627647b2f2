//! `cargo gmp tasks --every SECONDS PID`: of which tasks there are more and more, and which are polled
//! most, between two looks; which channels grow, and how many reads are dropped.

use std::collections::{BTreeMap, HashMap};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use tinyjson::JsonValue;

use crate::printed::printed;
use crate::tasks::Answer;

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

#[derive(Default)]
struct Look {
    /// Where each task was spawned, and its polls.
    tasks: HashMap<u64, (String, f64)>,
    /// What else is counted, by what it is and where.
    counts: BTreeMap<(&'static str, String), f64>,
}

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
        let mut look = Look::default();
        for line in answer.lines().filter_map(|line| line.parse::<JsonValue>().ok()) {
            look.tasks.extend(task(&line));
            if let Some((what, count)) = counted(&line) {
                *look.counts.entry(what).or_default() += count;
            }
        }
        look
    }

    fn since(&self, before: &Look, seconds: f64) -> String {
        let mut rows: HashMap<&str, Row> = HashMap::new();
        for (id, (place, polls)) in &self.tasks {
            let row = rows.entry(place).or_default();
            row.tasks += 1;
            row.more += 1.0;
            row.polls += polls - before.tasks.get(id).map_or(0.0, |(_, polls)| *polls);
        }
        before.tasks.values().for_each(|(place, _)| rows.entry(place).or_default().more -= 1.0);
        let mut rows: Vec<(&str, Row)> =
            rows.into_iter().filter(|(_, row)| row.more != 0.0 || row.polls > 0.0).collect();
        rows.sort_by(|(a, one), (b, other)| {
            let by = |row: &Row| (row.more.abs(), row.polls);
            by(other).partial_cmp(&by(one)).expect("numbers").then(a.cmp(b))
        });
        let plural = if self.tasks.len() == 1 { "" } else { "s" };
        let head = format!("{} task{plural}; per second over the last {seconds:.1} s:\n", self.tasks.len());
        let rows = rows.into_iter().take(MOST_ROWS).fold(head, |text, (place, Row { tasks, more, polls })| {
            let (more, polls) = (more / seconds, polls / seconds);
            text + &format!("  {more:+.1} tasks, {polls:.1} polls: {tasks} spawned at {place}\n")
        });
        self.counts.iter().take(MOST_ROWS).fold(rows, |text, (key, count)| {
            let more = (count - before.counts.get(key).unwrap_or(&0.0)) / seconds;
            text + &format!("  {more:+.1} {}: {count} in all, {}\n", key.0, key.1)
        })
    }
}

/// Channels, or dropped reads.
fn counted(json: &JsonValue) -> Option<((&'static str, String), f64)> {
    let fields = json.get::<HashMap<String, JsonValue>>()?;
    let number = |key: &str| fields.get(key)?.get::<f64>().copied();
    let text = |key: &str| fields.get(key)?.get::<String>();
    if let Some(messages) = number("messages") {
        return Some((("messages", format!("mpsc channels created at {}", text("created")?)), messages));
    }
    let place = format!("{} called at {}", text("read")?, text("called")?);
    Some((("dropped reads", place), number("dropped_reads")?))
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
5 tasks; per second over the last 2.0 s:
  +1.0 tasks, 2.0 polls: 3 spawned at b.rs:7
  -0.5 tasks, 0.0 polls: 0 spawned at axum-0.8.9/src/serve.rs:7
  +0.0 tasks, 10.0 polls: 1 spawned at a.rs:7
";
        assert_eq!(now.since(&before, 2.0), expected);
    }

    #[test]
    fn one_task_is_told_as_one() {
        assert!(look(&[(1, "a.rs", 5)]).since(&Look::default(), 2.0).starts_with("1 task; per second "));
    }

    #[test]
    fn what_is_cut_off_is_left_out() {
        assert_eq!(Look::of("{\"id\":1,\"file\":\"a.rs\",\"line\":7,\"polls\":1}\n{\"id\":2,\"fi").tasks.len(), 1);
    }

    #[test]
    fn channels_that_grow_and_reads_that_are_dropped_have_rows() {
        let look = |messages, dropped| {
            Look::of(&format!(
                "{{\"channels\":1,\"messages\":{messages},\"senders\":1,\"created\":\"a.rs:3\"}}\n\
                 {{\"dropped_reads\":{dropped},\"bytes\":9,\"read\":\"read_exact\",\"called\":\"b.rs:4\"}}\n"
            ))
        };
        let expected = "\
0 tasks; per second over the last 2.0 s:
  +1.5 dropped reads: 4 in all, read_exact called at b.rs:4
  +200.0 messages: 500 in all, mpsc channels created at a.rs:3
";
        assert_eq!(look(500, 4).since(&look(100, 1), 2.0), expected);
        assert!(look(500, 4).since(&Look::default(), 2.0).contains("+250.0 messages"));
    }
}
