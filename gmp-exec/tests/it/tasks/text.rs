//! The groups of tasks and the lines of JSON.

use std::future::pending;
use std::time::{Duration, Instant};

use gmp_exec::runtime::{TaskGroup, TaskState};

use crate::support::{Flag, Watchdog, multi, wait_until};

#[test]
fn tasks_are_grouped_by_their_place_and_what_they_do() {
    let runtime = multi(2).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let line = line!() + 1;
    let waiting: Vec<_> = (0..100).map(|_| runtime.spawn(pending::<()>())).collect();
    let end = Flag::new();
    let ends = end.clone();
    let holds = runtime.spawn(async move { ends.wait() });
    let groups = || runtime.handle().tasks().groups();
    let is_expected = |group: &TaskGroup| (group.count, group.state) == (100, TaskState::Waiting);
    wait_until(|| groups().groups.first().is_some_and(is_expected) && groups().groups.len() == 2);
    let groups = groups();
    let [first, second] = &groups.groups[..] else { panic!("{groups}") };
    assert_eq!((first.location.line(), first.polls, first.examples.len()), (line, (1, 1), 3));
    assert!(first.examples.iter().all(|id| waiting.iter().any(|task| task.id() == *id)) && first.oldest.is_some());
    assert_eq!((second.state, second.count, &second.examples[..]), (TaskState::Running, 1, &[holds.id()][..]));
    let text = groups.to_string();
    assert!(text.starts_with("101 tasks\n  100 waiting, spawned at ") && text.contains("\n  1 running, "), "{text}");
    end.set();
}

/// Two closures run, and three wait for them. Before, they were called tasks.
#[test]
fn closures_are_called_closures_and_the_pool_has_a_line() {
    let mut builder = multi(1);
    let runtime = builder.max_blocking_threads(2).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let end = Flag::new();
    let line = line!() + 3;
    let spawn = |flag: Flag| {
        let begun = Instant::now();
        drop(runtime.spawn_blocking(move || flag.wait()));
        begun
    };
    let begun: Vec<Instant> = (0..5).map(|_| spawn(end.clone())).collect();
    let groups = || runtime.handle().tasks().groups();
    let is_running = |group: &TaskGroup| (group.state, group.count) == (TaskState::Running, 2);
    wait_until(|| groups().groups.iter().any(is_running) && begun[2].elapsed() > Duration::from_millis(100));
    let (least, groups, most) = (begun[2].elapsed(), groups(), begun[2].elapsed());
    let text = groups.to_string();
    let place = format!("spawned at {}:{}", file!(), line);
    assert!(text.starts_with("0 tasks and 5 blocking closures\n"), "{text}");
    assert!(text.contains(&format!("  2 closures running, {place}: closures ")), "{text}");
    assert!(text.contains(&format!("  3 closures scheduled, {place}, queued for up to ")), "{text}");
    assert!(text.contains("  blocking closures: 2 of at most 2 run, on 2 threads; 3 wait, the first for "), "{text}");
    let queued = groups.groups.iter().find_map(|group| group.queued).unwrap();
    // Exact to a unit.
    let unit = Duration::from_millis(3);
    assert!(least <= queued + unit && queued <= most + unit, "{queued:?} is not from {least:?} to {most:?}");
    assert_eq!((groups.unseen, groups.unseen_on_workers), (0, 0));
    end.set();
}

#[test]
fn a_line_of_json_says_what_the_task_says() {
    let runtime = multi(1).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let task = runtime.spawn(pending::<()>());
    wait_until(|| runtime.handle().tasks().any(|info| info.state == TaskState::Waiting));
    let info = runtime.handle().tasks().next().unwrap();
    let age = info.age.unwrap().as_millis();
    let (file, line, column) = (file!(), info.location.line(), info.location.column());
    let expected = format!(
        r#"{{"id":{},"state":"waiting","file":"{file}","line":{line},"column":{column},"blocking":false,"polls":1,"age_ms":{age}}}"#,
        task.id()
    );
    assert_eq!(info.json().to_string(), expected);
}
