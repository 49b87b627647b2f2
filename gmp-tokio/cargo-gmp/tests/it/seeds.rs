//! Tests of `cargo gmp test --seeds`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::support::{
    Project, TOKIO, fails, manifest, program, repository, shared, shared_target, succeeds, text, with_tools, write_tool,
};

const TESTS: &str = r#"
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc};

mod faults {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn two_locks_in_two_orders() {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let (a2, b2) = (a.clone(), b.clone());
        let one = tokio::spawn(async move { let _a = a.lock().await; let _b = b.lock().await; });
        let other = tokio::spawn(async move { let _b = b2.lock().await; let _a = a2.lock().await; });
        (one.await.unwrap(), other.await.unwrap());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_update_is_lost() {
        let value = Arc::new(Mutex::new(0));
        let add = |value: Arc<Mutex<u32>>| async move {
            let before = *value.lock().await;
            tokio::task::yield_now().await;
            *value.lock().await = before + 1;
        };
        let both = [value.clone(), value.clone()].map(|value| tokio::spawn(add(value)));
        for task in both { task.await.unwrap(); }
        assert_eq!(*value.lock().await, 2, "an update is lost");
    }

    #[tokio::test]
    async fn an_order_is_taken_for_granted() {
        let (sender, mut receiver) = mpsc::channel(4);
        for i in 0..2 { let sender = sender.clone(); tokio::spawn(async move { sender.send(i).await.unwrap() }); }
        assert_eq!((receiver.recv().await, receiver.recv().await), (Some(0), Some(1)));
    }
}

mod ordered {
    #[tokio::test]
    async fn an_order_of_spawns() {
        let first = std::sync::Arc::new(std::sync::OnceLock::new());
        let tasks = [0, 1].map(|i| { let first = first.clone(); tokio::spawn(async move { _ = first.set(i); }) });
        for task in tasks { task.await.unwrap(); }
        assert_eq!(first.get(), Some(&0));
    }
}

mod inside {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    async fn adds_one(value: &AtomicU32) {
        let before = value.load(SeqCst);
        // Basic blocks, and no allocation.
        for round in 0..20 { if std::hint::black_box(round) > 20 { return; } }
        value.store(before + 1, SeqCst);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_update_of_one_poll() {
        static VALUE: AtomicU32 = AtomicU32::new(0);
        let tasks = [tokio::spawn(adds_one(&VALUE)), tokio::spawn(adds_one(&VALUE))];
        for task in tasks { task.await.unwrap(); }
        assert_eq!(VALUE.load(SeqCst), 2);
    }
}

mod good {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn two_locks_in_one_order() {
        let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let tasks: Vec<_> = (0..4).map(|_| {
            let (a, b) = (a.clone(), b.clone());
            tokio::spawn(async move { *a.lock().await += 1; let mut b = b.lock().await; tokio::task::yield_now().await; *b += 1; })
        }).collect();
        for task in tasks { task.await.unwrap(); }
        assert_eq!((*a.lock().await, *b.lock().await), (4, 4));
    }

    #[tokio::test]
    async fn a_timeout_of_an_hour() {
        tokio::time::timeout(Duration::from_secs(3600), std::future::pending::<()>()).await.unwrap_err();
    }

    #[test]
    fn no_runtime() {}

    #[test]
    #[should_panic]
    fn a_panic_that_is_meant() { panic!("meant"); }

    #[test]
    #[ignore]
    fn it_is_ignored() { panic!("not ignored"); }
}

mod odd {
    fn spins() { loop { std::hint::spin_loop(); } }

    #[test]
    fn it_spins() { spins(); }

    #[tokio::test]
    async fn it_spins_in_a_task() { tokio::spawn(async { spins() }).await.unwrap(); }

    #[test]
    fn it_has_weather() { assert_eq!(std::env::var("GMP_SEED_NET").unwrap(), "calm,real"); }

    #[test]
    fn it_leaves_a_file() { std::fs::File::create_new(std::env::temp_dir().join("left")).unwrap(); }

    #[tokio::test]
    async fn it_spins_the_second_time() {
        if std::fs::exists("spins").unwrap() { spins(); }
        std::fs::write("spins", "").unwrap();
    }

    #[tokio::test]
    async fn it_counts_its_runs() {
        // Runs under other seeds write at the same time, so the file is never truncated.
        let mut file = std::fs::File::options().create(true).append(true).open("runs").unwrap();
        std::io::Write::write_all(&mut file, b"x").unwrap();
        let runs = file.metadata().unwrap().len();
        for _ in 0..3 * runs { tokio::spawn(async {}); }
        tokio::task::yield_now().await;
    }
}
"#;

fn project() -> Project {
    let project = program("seeded", "fn main() {}");
    project.write("tests/it.rs", TESTS);
    project
}

fn gmp(project: &Project, line: &str) -> Command {
    let mut command = shared(project.gmp(line));
    // Reading the names of functions takes longer than a run.
    command.env_remove("RUST_BACKTRACE");
    command
}

/// Standard output of a command with failing tests.
fn failing(project: &Project, line: &str) -> String {
    let output = gmp(project, line).output().unwrap();
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(101), "{said}\n{}", text(&output.stderr));
    said
}

/// The line that begins like this and is about the test.
fn line<'a>(said: &'a str, begin: &str, test: &str) -> &'a str {
    let mut lines = said.lines().filter(|line| line.starts_with(begin) && line.contains(test));
    lines.next().unwrap_or_else(|| panic!("{said}"))
}

/// The seed under which the test failed.
fn seed<'a>(said: &'a str, test: &str) -> &'a str {
    let rest =
        said.split_once(&format!("FAILED seeded::it::faults::{test} at seed ")).unwrap_or_else(|| panic!("{said}")).1;
    rest.split(' ').next().unwrap()
}

const FAULTS: [(&str, &str); 3] = [
    ("two_locks_in_two_orders", "deadlock: 2 tasks wait, no timer is set"),
    ("an_update_is_lost", "an update is lost"),
    ("an_order_is_taken_for_granted", "panic at tests/it.rs:"),
];

#[test]
fn tests_run_under_seeds() {
    let project = project();
    // A lock file that fits the drop-in fits its seeded runs, too.
    succeeds(&mut gmp(&project, "test --locked --seeds 1 good::no_runtime"));
    faults_are_found_and_kept_and_replayed(&project);
    a_reader_that_goes_loses_no_seed(&project);
    correct_tests_are_silent(&project);
    nextest_chooses_the_tests(&project);
    tokios_order_can_be_kept(&project);
    threads_can_be_interrupted_anywhere(&project);
    a_test_that_hangs_in_real_time_is_ended(&project);
    a_run_that_does_not_repeat_is_no_failure(&project);
    succeeds(&mut gmp(&project, "test --seeds 1 --net calm --real-net odd::it_has_weather"));
    succeeds(&mut gmp(&project, "test --seeds 4 --check odd::it_leaves_a_file"));
    the_variable_is_a_seed(&project);
}

fn the_variable_is_a_seed(project: &Project) {
    let output = gmp(project, "test good::no_runtime").env("GMP_SEED", "5f3a").output().unwrap();
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(said.ends_with("1 passed, 0 failed under seed 5f3a\n"), "{said}{errors}");
    assert!(errors.contains("note: GMP_SEED is set, which counts as `--seed 5f3a`\n"), "{errors}");
    let nextest = with_tools(project, "nextest run -E no_runtime").env("GMP_SEED", "5f3a").output().unwrap();
    let said = text(&nextest.stdout);
    assert!(said.ends_with("1 passed, 0 failed under seed 5f3a\n"), "{said}{}", text(&nextest.stderr));
    let error = fails(gmp(project, "test good::").env("GMP_SEED", "xyz"), 2);
    assert!(error.contains("`GMP_SEED=xyz`: allowed is a hexadecimal number"), "{error}");
}

fn faults_are_found_and_kept_and_replayed(project: &Project) {
    let said = failing(
        project,
        "test --seeds 200 --first-seed 1000 --no-fail-fast --net calm --json results.json faults:: -- --test-threads 1",
    );
    assert!(said.starts_with("3 tests under 200 seeds, from seed 1000 on\n"), "{said}");
    assert!(said.contains("\n0 passed, 3 failed\n") && !said.contains("NOT REPEATABLE"), "{said}");
    assert_eq!(said.matches("\n  shrunk: ").count(), 3, "{said}");
    assert!(said.contains("\n    decision ") && said.contains(" (tests/it.rs:"), "{said}");
    let (kept, results) = (project.read("gmp-seeds.txt"), project.read("results.json"));
    for (test, reason) in FAULTS {
        let seed = seed(&said, test);
        assert!(said.contains(reason), "{said}");
        assert!(kept.contains(&format!("\nseeded::it::faults::{test} {seed} net=calm\n")), "{kept}");
        let result = results.lines().find(|line| line.contains(test)).unwrap();
        assert!(
            result.contains(&format!("\"seed\":\"{seed}\"")) && result.contains("\"outcome\":\"failed\""),
            "{result}"
        );

        let again =
            format!("cargo gmp test --seed {seed} --net calm faults:: -- --exact faults::{test} --test-threads 1");
        assert!(said.contains(&format!("  again:  {again}\n")), "{said}");
        let shown = failing(project, again.strip_prefix("cargo gmp ").unwrap());
        assert!(
            shown.contains("running 1 test\n") && shown.ends_with(&format!("0 passed, 1 failed under seed {seed}\n"))
        );
        let output =
            fs::read_to_string(shared_target().join(format!("gmp/seeds/seeded::it::faults::{test}-{seed}.txt")))
                .unwrap();
        assert!(output.contains(reason.trim_start_matches("panic at ")), "{output}");

        let replay = line(&said, "          cargo gmp test --replay ", test);
        let shown = failing(project, replay.trim_start().strip_prefix("cargo gmp ").unwrap());
        assert!(shown.ends_with(&format!("0 passed, 1 failed under seed {seed}\n")), "{shown}");

        let next = failing(project, &format!("test --seeds 1 --net calm {test}"));
        assert!(next.contains(&format!("at seed {seed} (a kept seed, ")), "{next}");
    }
}

fn a_reader_that_goes_loses_no_seed(project: &Project) {
    project.write("gmp-seeds.txt", "");
    let mut command = gmp(project, "test --seeds 200 --first-seed 1000 --no-fail-fast faults::");
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // As `head -2`.
    let begin: Vec<_> = BufReader::new(running.stdout.take().unwrap()).lines().take(2).collect();
    let output = running.wait_with_output().unwrap();
    let errors = text(&output.stderr);
    assert_eq!((begin.len(), output.status.code()), (2, Some(101)), "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    assert!(project.read("gmp-seeds.txt").contains("\nseeded::it::faults::"), "{errors}");
}

fn correct_tests_are_silent(project: &Project) {
    let said = succeeds(&mut gmp(project, "test --seeds 100 good::"));
    assert!(said.starts_with("4 tests under 100 seeds, from seed "), "{said}");
    assert!(said.contains("\n4 passed under 100 seeds, 0 failed\n400 runs in "), "{said}");
    assert_eq!(said.lines().count(), 4, "{said}");
    let said = succeeds(&mut gmp(project, "test --seeds 10 --check good::"));
    assert!(said.contains("\n4 passed under 10 seeds, 0 failed\n40 runs in "), "{said}");
    // Two seconds are enough for a seed on any machine.
    let said = succeeds(&mut gmp(project, "test --for 2s good::no_runtime"));
    assert!(said.starts_with("1 test for 2 s, from seed ") && said.contains("\n1 passed under "), "{said}");
}

/// Lists tests as nextest does, and chooses those whose names have the last word.
const NEXTEST: &str = r#"
test "$1 $2 $3 $4 $5" = "nextest list --message-format json -E" || exit 96
program=$("$CARGO" test --no-run --test it --message-format json-render-diagnostics | sed -n 's/.*"executable":"\([^"]*\/it-[^"]*\)".*/\1/p')
runner=$(env | sed -n 's/^CARGO_TARGET_.*_RUNNER=//p')
names=$(CARGO_PKG_NAME=seeded $runner "$program" --list --format terse | sed -n 's/: test$//p')
cases=$(for name in $names; do
    case $name in *"$6"*) status=matches ;; *) status=mismatch ;; esac
    printf ',"%s":{"filter-match":{"status":"%s"}}' "$name" $status
done)
printf '{"rust-suites":{"seeded::it":{"binary-path":"%s","testcases":{%s}}}}' "$program" "${cases#,}""#;

fn nextest_chooses_the_tests(project: &Project) {
    write_tool(project, "nextest", NEXTEST);
    let nextest = |line: &str| {
        let mut command = with_tools(project, line);
        command.env_remove("RUST_BACKTRACE").output().unwrap()
    };
    let passes = nextest("nextest run --seeds 20 -E two_locks_in_one");
    let said = text(&passes.stdout);
    assert!(passes.status.success() && said.starts_with("1 test under 20 seeds, "), "{passes:?}");
    let fails = nextest("nextest run --seeds 200 --first-seed 1000 -E two_locks_in_two");
    let said = text(&fails.stdout);
    let (test, seed) = ("two_locks_in_two_orders", seed(&said, "two_locks_in_two_orders"));
    let again = format!("cargo gmp nextest run --seed {seed} -E two_locks_in_two -- --exact faults::{test}");
    assert!(fails.status.code() == Some(101) && said.contains(&format!("  again:  {again}\n")), "{said}");
    let again = nextest(again.strip_prefix("cargo gmp ").unwrap());
    assert!(text(&again.stdout).ends_with(&format!("0 passed, 1 failed under seed {seed}\n")), "{again:?}");
    let wrong = nextest("nextest run --seeds 2 --preempt -E a");
    assert!(wrong.status.code() == Some(2) && text(&wrong.stderr).contains("`--preempt` goes with"), "{wrong:?}");
    assert_eq!(nextest("nextest run --seeds 2 --bogus").status.code(), Some(96));
}

fn tokios_order_can_be_kept(project: &Project) {
    let said = failing(project, "test --seeds 200 ordered::");
    let seed = said.split_once("an_order_of_spawns at seed ").unwrap().1.split(' ').next().unwrap();
    succeeds(&mut gmp(project, "test --seeds 200 --keep-order ordered::"));
    succeeds(&mut gmp(project, &format!("test --seed {seed} --keep-order ordered::")));
    failing(project, &format!("test --seed {seed} ordered::"));
}

fn threads_can_be_interrupted_anywhere(project: &Project) {
    succeeds(&mut gmp(project, "test --seeds 100 inside::"));
    let said = failing(project, "test --seeds 300 --preempt inside::");
    let again = line(&said, "  again:  ", "an_update_of_one_poll").strip_prefix("  again:  cargo gmp ").unwrap();
    assert!(again.starts_with("test --seed ") && again.contains(" --preempt "), "{again}");
    failing(project, again);
    succeeds(&mut gmp(project, "test --seeds 20 --check --preempt good::"));
    let error = fails(&mut gmp(project, "test --seeds 1 --preempt --target-dir elsewhere"), 101);
    assert!(error.contains("`--preempt` has a folder of its own"), "{error}");
}

fn a_test_that_hangs_in_real_time_is_ended(project: &Project) {
    let said = failing(project, "test --seeds 5 --timeout 1 --no-fail-fast odd::it_spins -- --skip second");
    let spins = TESTS.lines().position(|line| line.contains("fn spins()")).unwrap() + 1;
    for (test, place) in [("it_spins", ""), ("it_spins_in_a_task", &*format!(", at tests/it.rs:{spins}, in task "))] {
        let line = line(&said, "FAILED ", &format!("odd::{test} at seed "));
        let hangs = " it hangs: ended after 1 s of real time (--timeout): thread 1 \"odd::it_spins";
        assert!(line.contains(hangs) && line.contains(" has the turn") && line.contains(place), "{said}");
        assert!(place.is_empty() || line.contains(", spawned at tests/it.rs:"), "{said}");
    }
    let said = succeeds(&mut gmp(project, "test --seeds 1 --check --timeout 1 odd::it_spins_the_second_time"));
    assert!(said.contains("\n1 passed under 1 seed, 0 failed\n"), "{said}");
}

fn a_run_that_does_not_repeat_is_no_failure(project: &Project) {
    let said = succeeds(&mut gmp(project, "test --seeds 3 odd::it_counts_its_runs"));
    assert!(said.contains("NOT REPEATABLE seeded::it::odd::it_counts_its_runs: two runs under seed "), "{said}");
    assert!(said.contains("\n  first \"") && said.contains("  what lets the outside in: open runs\n"), "{said}");
    assert!(said.contains("1 passed under 3 seeds, 0 failed, 1 not repeatable\n"), "{said}");
    assert!(said.ends_with("not repeatable:\n  seeded::it::odd::it_counts_its_runs: open runs\n"), "{said}");
}

/// A test that passes in the folder of its package alone.
const IN_ITS_FOLDER: &str = "#[tokio::test] async fn works() { assert!(std::path::Path::new(\"here\").exists()); }\n";

/// Fails under a seed, and passes without.
const FAILS: &str =
    "#[tokio::test] async fn works() { assert!(std::env::var_os(\"GMP_SEED\").is_none(), \"a seed\"); }\n";

/// A workspace of two packages, without one at its top.
fn workspace() -> Project {
    let project = Project::with_tokio("\"1\"");
    project.write("Cargo.toml", "[workspace]\nmembers = [\"one\", \"inner/two\"]\nresolver = \"3\"\n");
    for (folder, name) in [("one", "one-a"), ("inner/two", "two")] {
        let tokio = format!("tokio = {TOKIO}");
        let targets = "\n[features]\nmore = []\n\n[[test]]\nname = \"plain\"\nharness = false\n\n\
                       [[test]]\nname = \"asks\"\nrequired-features = [\"more\"]\n";
        project.write(&format!("{folder}/Cargo.toml"), &(manifest(name, &tokio) + targets));
        project.write(&format!("{folder}/here"), "");
        project.write(&format!("{folder}/src/lib.rs"), IN_ITS_FOLDER);
        project.write(&format!("{folder}/src/main.rs"), &format!("fn main() {{}}\n{IN_ITS_FOLDER}"));
        project.write(&format!("{folder}/tests/{}.rs", name.replace('-', "_")), IN_ITS_FOLDER);
        project.write(&format!("{folder}/tests/asks.rs"), IN_ITS_FOLDER);
        project.write(
            &format!("{folder}/tests/plain.rs"),
            "#[tokio::main] async fn main() { std::fs::read(\"here\").unwrap(); }\n",
        );
    }
    project.write("inner/two/tests/two.rs", FAILS);
    project.lock();
    project
}

#[test]
fn tests_of_a_workspace_are_told_apart() {
    let project = workspace();
    let said = succeeds(&mut gmp(&project, "test --seeds 2 -p one-a --json results.json"));
    assert!(said.starts_with("4 tests under 2 seeds, "), "{said}");
    let results = project.read("results.json");
    for program in ["one-a", "one-a::bin/one-a", "one-a::one_a", "one-a::plain"] {
        assert!(results.contains(&format!("\"program\":\"{program}\"")), "{results}");
    }

    let said = failing(&project, "test --seeds 1 --first-seed 1 --workspace --no-fail-fast --features one-a/more");
    assert!(
        said.starts_with("9 tests under 1 seed, ") && said.contains("\n8 passed under 1 seed, 1 failed\n"),
        "{said}"
    );
    assert!(said.contains("FAILED two::two::works at seed 1 (1 of 1, "), "{said}");
    assert!(project.read("gmp-seeds.txt").ends_with("\ntwo::two::works 1\n"));
    let again = "test --seed 1 --program two::two --workspace --features one-a/more -- --exact works";
    assert!(said.contains(&format!("  again:  cargo gmp {again}\n")), "{said}");
    assert!(failing(&project, again).ends_with("\n0 passed, 1 failed under seed 1\n"));
    let said = failing(&project, "test --seeds 1 --first-seed 5 --workspace --no-fail-fast");
    assert!(said.contains("\n7 passed under 1 seed, 1 failed\n8 runs in "), "no other test has the kept seed: {said}");

    let mut inside = gmp(&project, "test --seeds 1 --lib");
    inside.current_dir(project.path("inner/two"));
    assert!(succeeds(&mut inside).contains("\n1 passed under 1 seed, 0 failed\n"));
    assert!(!project.path("inner/two/gmp-seeds.txt").exists());
    let error = fails(&mut gmp(&project, "test --seeds 2 --lib -p two -- --bogus"), 101);
    assert!(error.contains("does not take these arguments: --bogus\n") && error.contains("'bogus'"), "{error}");
    let quiet = succeeds(&mut gmp(&project, "test --seeds 2 -q --lib -p two -- --format=terse"));
    assert!(quiet.contains("\n1 passed under 2 seeds, 0 failed\n"), "{quiet}");
    let none = gmp(&project, "test --seeds 2 --lib -p two nosuch").output().unwrap();
    assert!(
        none.status.success() && text(&none.stderr).contains("\nwarning: no test fits `--lib -p two nosuch`\n"),
        "{none:?}"
    );
    let built = gmp(&project, "test --seeds 2 --lib -p two --no-run").output().unwrap();
    assert!(built.status.success() && text(&built.stdout).is_empty(), "{built:?}");
    let error = fails(&mut gmp(&project, "test --seed 1 --program two::three"), 101);
    assert!(error.contains("error: `--program two::three`: tests are in one-a, one-a::bin/one-a, "), "{error}");
    let error = fails(&mut gmp(&project, "test --seed 1 --lib -p two nosuch"), 101);
    assert!(error.contains("error: no test fits `--lib -p two nosuch`\n"), "{error}");
}

#[test]
fn a_program_runs_under_a_seed() {
    let project = program(
        "chance",
        r#"fn main() {
            let map: std::collections::HashMap<_, _> = (0..50).map(|i| (i, ())).collect();
            println!("{:?}", map.keys().collect::<Vec<_>>());
            println!("{}", std::env::var("GMP_SEED_NET").unwrap_or_default());
            tokio::runtime::Runtime::new().unwrap().block_on(async { tokio::task::yield_now().await });
        }"#,
    );
    let run = |seed| succeeds(&mut shared(project.gmp(&format!("run --quiet --seed {seed}"))));
    assert_eq!(run("5f3a"), run("5f3a"));
    let mut by_variable = shared(project.gmp("run --quiet"));
    assert_eq!(run("5f3a"), succeeds(by_variable.env("GMP_SEED", "5f3a")));
    assert_ne!(run("5f3a"), run("5f3b"));
    let weather = "run --quiet --seed 5f3a --net short=50%";
    assert!(succeeds(&mut shared(project.gmp(weather))).ends_with("short=50%\n"));
    let error = fails(&mut project.gmp("run --seed xyz"), 2);
    assert!(error.contains("`--seed xyz`: allowed is a hexadecimal number"), "{error}");
}

/// rustc has functions of its own for memory, and gets a library with gmp's.
#[test]
fn a_macro_may_depend_on_tokio() {
    let project = program("expands", "fn main() { println!(\"{}\", grows::forty!()); }");
    let dependency = "grows = { path = \"grows\" }";
    project.write("Cargo.toml", &(project.read("Cargo.toml") + dependency));
    let dependencies = format!("tokio = {TOKIO}\n[lib]\nproc-macro = true");
    project.write("grows/Cargo.toml", &manifest("grows", &dependencies));
    project.write(
        "grows/src/lib.rs",
        r#"#[proc_macro]
        pub fn forty(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let grown: Vec<_> = runtime.block_on(async { (0..1000).filter(|i| i % 25 == 0).collect() });
            grown.len().to_string().parse().unwrap()
        }"#,
    );
    project.lock();
    for line in ["test --seeds 1", "run --quiet --seed 5"] {
        let said = succeeds(&mut gmp(&project, line));
        assert!(line.starts_with("test") || said == "40\n", "{said}");
    }
}

#[test]
fn seeds_make_no_other_build_compile_anew() {
    let project = program("apart", "fn main() {}\n#[test] fn passes() {}\n");
    let commands = || ["test --no-run", "test --seeds 1"].map(|line| shared(project.gmp(line)));
    for mut command in commands() {
        succeeds(&mut command);
    }
    for mut command in commands() {
        let said = text(&command.output().unwrap().stderr);
        assert!(!said.contains("Compiling"), "{said}");
    }
}

#[test]
fn what_makes_no_sense_is_said() {
    let project = Project::with_tokio("\"1\"");
    for (line, expected) in [
        ("test --seeds 0", "`--seeds 0`: allowed is a number, 1 or more"),
        ("test --seeds 5 --seed 1", "take one of them"),
        ("test --seeds 5 --doc", "doc tests do not run under seeds"),
        ("test --seeds 5 --net calm,rain", "`--net`: \"rain\" is none of kernel, real, calm, delay=1..20ms, "),
        ("test --seed 5 --check", "`--check` goes with `--seeds` or `--for`"),
        ("run --seed 5 --net loss", "`--net`: \"loss\" is none of kernel, "),
    ] {
        let error = fails(&mut project.gmp(line), 2);
        assert!(error.contains(expected), "{error}");
    }
    project.write(".cargo/config.toml", "[target.'cfg(unix)']\nrunner = \"env\"\n");
    let error = fails(&mut project.gmp("test --seeds 5"), 101);
    assert!(error.contains("programs can't be run under seeds: "), "{error}");
}

/// docs/seeded.md, "Find the race": the first run, with the seeds of the page.
#[test]
fn the_race_of_the_page_is_told_as_the_page_says() {
    let page = fs::read_to_string(repository().join("docs/seeded.md")).unwrap();
    let block = page.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let first = block.split_once("from seed ").unwrap().1.split(' ').next().unwrap();
    let project = Project::with_tokio("\"1\"");
    fs::remove_file(project.path("src/main.rs")).unwrap();
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        project.write(file, &fs::read_to_string(repository().join("examples/bank").join(file)).unwrap());
    }
    // gmp is compiled already with the features of the other programs.
    let features = r#"tokio = { version = "1", features = ["macros", "rt-multi-thread", "sync"] }"#;
    let manifest = project.read("Cargo.toml");
    assert!(manifest.contains(features), "{manifest}");
    project.write("Cargo.toml", &manifest.replace(features, &format!("tokio = {TOKIO}")));
    let said = failing(&project, &format!("test --seeds 1000 --first-seed {first}"));
    let said: Vec<_> = said.lines().map(without_measured).collect();
    let told = block.lines().skip(1).filter(|line| *line != "    ..." && !line.contains("target/gmp"));
    // How many runs there were depends on the computer.
    for line in told.take_while(|line| !line.is_empty()) {
        assert!(said.contains(&without_measured(line)), "{line}\nis not in\n{said:#?}");
    }
}

/// docs/seeded-network.md, "Find a split brain", and the program with the fault mended.
#[test]
fn the_split_brain_of_the_page_is_found_and_its_repair_is_silent() {
    let page = fs::read_to_string(repository().join("docs/seeded-network.md")).unwrap();
    let block = page.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let first = block.split_once("from seed ").unwrap().1.split(' ').next().unwrap();
    let project = Project::with_tokio("\"1\"");
    fs::remove_file(project.path("src/main.rs")).unwrap();
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs", "tests/election.rs"] {
        let text = fs::read_to_string(repository().join("examples/cluster").join(file)).unwrap();
        project.write(file, &text.replace("../..", repository().to_str().unwrap()));
    }
    let said = failing(&project, &format!("test --seeds 1000 --first-seed {first}"));
    let begin = "FAILED cluster::election::a_term_has_one_leader at seed ";
    assert!(block.contains(begin) && line(&said, begin, "").ends_with(": a term has two leaders"), "{said}");
    assert!(said.contains(": `gmp_sim::choose` is 1 of 0 to 1\n"), "{said}");
    let source = project.read("src/lib.rs");
    let mended = source.replace("1 + answers.iter().flatten().count()", "3");
    assert_ne!(mended, source);
    project.write("src/lib.rs", &mended);
    succeeds(&mut gmp(&project, &format!("test --seeds 30 --check --first-seed {first}")));
}

/// Without the time of the run, and the number of runs.
fn without_measured(line: &str) -> String {
    let cut = |from: &str, to: &str| {
        let (before, rest) = line.split_once(from)?;
        Some(format!("{before}{}", rest.split_once(to)?.1))
    };
    cut(" of 1000, ", " s)")
        .or_else(|| cut("choices, all others are the ordinary ones (", " runs)"))
        .unwrap_or_else(|| line.to_owned())
}
