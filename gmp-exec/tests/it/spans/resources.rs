//! Sleeps and intervals as resources.

use std::pin::pin;

use gmp_exec::time::{Duration, Instant, interval, sleep, timeout};

use super::{life, recorded};

/// The lines without those about tasks.
fn resources(lines: &[String]) -> Vec<String> {
    let is_task = |line: &&String| line.contains("runtime.spawn") || line.contains("tokio::task");
    lines.iter().filter(|line| !is_task(line)).cloned().collect()
}

#[test]
fn a_sleep_is_a_resource_with_an_operation() {
    let (recorder, ()) = recorded(async { sleep(Duration::from_millis(3)).await });
    let lines = resources(&recorder.lines());
    let span = recorder.span("runtime.resource concrete_type=\"Sleep\" kind=\"timer\" loc.file=");
    let operation = recorder.span("tokio::time::sleep runtime.resource.async_op source=\"Sleep::new_timeout\"");
    let poll = recorder.span("tokio::time::sleep runtime.resource.async_op.poll");
    let entered = ["new", "enter", "exit", "enter", "exit", "close"];
    for span in [&span, &operation, &poll] {
        assert_eq!(life(&recorder, span), entered, "{lines:#?}");
    }
    let begin = lines.iter().position(|line| *line == format!("enter {span}")).unwrap();
    assert_eq!(
        lines[begin..begin + 9],
        [
            format!("enter {span}"),
            format!("enter {operation}"),
            format!("enter {poll}"),
            "event runtime::resource::poll_op op_name=\"poll_elapsed\" is_ready=true".to_owned(),
            "event runtime::resource::state_update duration=3 duration.unit=\"ms\" duration.op=\"override\"".to_owned(),
            "event runtime::resource::poll_op op_name=\"poll_elapsed\" is_ready=false".to_owned(),
            format!("exit {poll}"),
            format!("exit {operation}"),
            format!("exit {span}"),
        ]
    );
}

#[test]
fn a_reset_begins_another_operation() {
    let (recorder, ()) = recorded(async {
        let mut sleep = pin!(sleep(Duration::from_secs(3600)));
        sleep.as_mut().reset(Instant::now());
        sleep.await;
    });
    recorder.span("source=\"Sleep::reset\"");
    assert_eq!(recorder.of("event runtime::resource::state_update").len(), 1);
}

#[test]
fn an_interval_is_one_resource_and_a_timeout_is_a_sleep() {
    let (recorder, ()) = recorded(async {
        let mut interval = interval(Duration::from_millis(1));
        interval.tick().await;
        interval.tick().await;
        timeout(Duration::from_secs(1), interval.tick()).await.unwrap();
    });
    let types: Vec<_> = recorder
        .of("new ")
        .iter()
        .filter_map(|line| Some(line.split("concrete_type=").nth(1)?[..8].to_owned()))
        .collect();
    assert_eq!(types, ["\"Interva", "\"Sleep\" "]);
    let ticks = recorder.of("event runtime::resource::poll_op op_name=\"poll_tick\" is_ready=true");
    assert_eq!(ticks.len(), 3);
}
