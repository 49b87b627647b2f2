//! `#[gmp_exec::test(seeds = ..)]`. The first tests are what the others start once more, with a variable
//! by which they fail or write.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use gmp_exec::time;

use crate::planted::tasks;

/// The tests of this file that fail do so only in a process with this variable.
const FAILS: &str = "SEEDED_ATTRIBUTE_FAILS";
/// The name of a file that gets a letter for each run of a test.
const COUNTS: &str = "SEEDED_ATTRIBUTE_COUNTS";

#[gmp_exec::test(seeds = 40)]
async fn takes_an_order_for_granted() {
    if env::var_os(FAILS).is_some() {
        tasks::run_in_order_of_spawns().await;
    }
}

#[gmp_exec::test(flavor = "multi_thread", worker_threads = 2, seeds = 5, leaks = "deny")]
async fn with_other_options() -> Result<ExitCode, String> {
    if let Some(path) = env::var_os(COUNTS) {
        let file = File::options().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(b"x")).map_err(|error| error.to_string())?;
    }
    gmp_exec::spawn(async {}).await.map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}

#[gmp_exec::test(start_paused = true, seeds = 3)]
async fn with_a_paused_clock() {
    time::sleep(Duration::from_secs(3_600)).await;
}

/// Time is virtual, also if this process waits for the runs.
#[gmp_exec::test(seeds = 2)]
async fn sleeps_for_a_day() {
    time::sleep(Duration::from_secs(80_000)).await;
}

struct Told {
    status: Option<i32>,
    text: String,
}

/// Starts that test of this file.
fn start(test: &str, settings: &[(&str, &str)], folder: &PathBuf) -> Told {
    let output = Command::new(env::current_exe().unwrap())
        .args([&format!("attribute::{test}"), "--exact", "--nocapture"])
        .env_remove("GMP_SEED")
        .env("RUST_BACKTRACE", "0")
        .envs(settings.iter().copied())
        .current_dir(folder)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    Told { status: output.status.code(), text }
}

fn folder(name: &str) -> PathBuf {
    let folder = env::temp_dir().join(format!("gmp-attribute-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

const TEST: &str = "attribute::takes_an_order_for_granted";

#[test]
fn a_failing_seed_is_told_and_fails_again() {
    let folder = folder("fails");
    let told = start("takes_an_order_for_granted", &[(FAILS, "1")], &folder);
    assert_eq!(told.status, Some(101), "{}", told.text);
    let (_, rest) = told.text.split_once(&format!("{TEST} at seed ")).expect(&told.text);
    let (seed, rest) = rest.split_once(" (").unwrap();
    assert!(rest.split_once(')').unwrap().0.ends_with(" of 40"), "{}", told.text);
    let again = format!("GMP_SEED={seed} setarch -R cargo test -- {TEST} --exact --nocapture --include-ignored\n");
    assert!(told.text.contains(&format!("  again:  {again}")), "{}", told.text);
    assert!(told.text.contains(&format!("gmp: {TEST} under seed {seed}\n")), "{}", told.text);

    let told = start("takes_an_order_for_granted", &[(FAILS, "1"), ("GMP_SEED", seed)], &folder);
    assert_eq!((told.status, told.text.contains("at seed")), (Some(101), false), "{}", told.text);
    assert_eq!(start("takes_an_order_for_granted", &[], &folder).status, Some(0));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn kept_seeds_come_first() {
    let folder = folder("kept");
    let seed =
        |told: &Told| told.text.split_once(" at seed ").expect(&told.text).1.split_once(':').unwrap().0.to_owned();
    let first = seed(&start("takes_an_order_for_granted", &[(FAILS, "1")], &folder));
    let other = (0x5f00..0x6000).find_map(|number| {
        let number = format!("{number:x}");
        let told = start("takes_an_order_for_granted", &[(FAILS, "1"), ("GMP_SEED", &number)], &folder);
        (told.status == Some(101)).then_some(number)
    });
    let other = other.expect("a seed of 256 fails");
    fs::write(folder.join("gmp-seeds.txt"), format!("gmp-exec::seeded::{TEST} {other}\n")).unwrap();
    let kept = seed(&start("takes_an_order_for_granted", &[(FAILS, "1")], &folder));
    assert_ne!(first, kept);
    assert_eq!(kept, format!("{other} (a kept seed)"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_test_runs_once_for_each_seed_and_once_under_a_seed() {
    let folder = folder("counts");
    let file = folder.join("runs");
    let counts = (COUNTS, file.to_str().unwrap());
    let runs = |settings: &[(&str, &str)]| {
        let told = start("with_other_options", settings, &folder);
        assert_eq!(told.status, Some(0), "{}", told.text);
        fs::read(&file).unwrap().len()
    };
    assert_eq!(runs(&[counts]), 5);
    assert_eq!(runs(&[counts, ("GMP_SEED", "7")]), 6);
    fs::remove_dir_all(folder).unwrap();
}
