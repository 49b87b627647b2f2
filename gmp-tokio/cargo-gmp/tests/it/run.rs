//! Builds and runs programs. They share one target directory, so that gmp is compiled once for all
//! of them.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::support::{Project, fails, program, shared, shared_target as target, succeeds, text};

#[test]
fn a_program_runs_on_gmp_with_its_arguments_and_its_exit_code() {
    let project = program(
        "exits",
        r#"fn main() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let slept = runtime.block_on(async {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                tokio::spawn(async { 40 }).await.unwrap()
            });
            let arguments: Vec<_> = std::env::args().skip(1).collect();
            println!("{} {arguments:?}", std::any::type_name_of_val(&runtime));
            std::process::exit(slept + 2);
        }"#,
    );
    let before = (project.read("Cargo.toml"), project.read("Cargo.lock"));
    let output = shared(project.gmp("run --quiet -- --locked a")).output().unwrap();
    assert_eq!(output.status.code(), Some(42), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.starts_with("gmp_exec::") && said.contains(r#"["--locked", "a"]"#), "{said}");
    assert_eq!((project.read("Cargo.toml"), project.read("Cargo.lock")), before);
    assert!(target().join("gmp/debug/exits").is_file() && !target().join("debug/exits").exists());
}

#[test]
fn what_is_tokios_own_code_has_the_executors_budget_timer_and_blocking_check() {
    let project = program(
        "edited",
        r#"use tokio::sync::mpsc;
        use std::task::Poll;
        use std::time::Duration;

        fn main() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(async {
                let (sender, mut receiver) = mpsc::channel::<u32>(1_000);
                (0..200).for_each(|i| sender.try_send(i).unwrap());
                let first_poll = tokio::spawn(async move {
                    let mut received = 0;
                    std::future::poll_fn(|cx| {
                        while receiver.poll_recv(cx).is_ready() {
                            received += 1;
                        }
                        Poll::Ready(received)
                    })
                    .await
                });
                assert_eq!(first_poll.await.unwrap(), 128);

                let (sender, _receiver) = mpsc::channel::<u32>(1);
                sender.send(1).await.unwrap();
                let full = sender.send_timeout(2, Duration::from_millis(5)).await.unwrap_err();
                assert!(matches!(full, mpsc::error::SendTimeoutError::Timeout(2)), "{full:?}");

                let blocked = tokio::spawn(async move { sender.blocking_send(3) }).await.unwrap_err();
                let message = *blocked.into_panic().downcast::<String>().unwrap();
                assert!(message.starts_with("Cannot block the current thread from within a runtime"), "{message}");
            });
            let (sender, mut receiver) = mpsc::channel::<u32>(1);
            sender.blocking_send(4).unwrap();
            assert_eq!(receiver.blocking_recv(), Some(4));
        }"#,
    );
    succeeds(&mut shared(project.gmp("run --quiet")));
}

#[test]
fn a_program_that_does_not_compile_fails_as_with_cargo() {
    let project = program("wrong", "fn main() { tokio::no_such_function() }");
    let output = shared(project.gmp("check")).output().unwrap();
    assert_eq!(output.status.code(), Some(101));
    assert!(text(&output.stderr).contains("no_such_function"), "{}", text(&output.stderr));
}

#[test]
fn ctrl_c_and_kill_reach_the_program_and_leave_the_project_as_it_was() {
    let project =
        program("waits", "fn main() { println!(\"ready\"); std::thread::sleep(std::time::Duration::from_secs(600)); }");
    let before = (project.read("Cargo.toml"), project.read("Cargo.lock"));
    for signal in [Signal::INT, Signal::KILL] {
        let mut command = interruptible(&shared(project.gmp("run --quiet")));
        let mut child = command.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
        // The pipe ends when the program ends, whichever process started the program.
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(said.next().unwrap().unwrap(), "ready");
        kill_process_group(Pid::from_child(&child), signal).unwrap();
        assert!(said.next().is_none());
        assert!(!child.wait().unwrap().success());
        assert_eq!((project.read("Cargo.toml"), project.read("Cargo.lock")), before);
    }
}

/// The same command, with the default disposition of SIGINT, as a terminal's shell leaves it. A
/// shell that runs the tests in the background may have them ignore SIGINT, and every child
/// inherits that. No safe code restores the default, so `env` does. It has to be the `env` of GNU
/// coreutils 8.31 (2019) or newer.
fn interruptible(command: &Command) -> Command {
    let knows = Command::new("env").args(["--default-signal=INT", "true"]).output().unwrap();
    assert!(knows.status.success(), "this test needs `env` of GNU coreutils 8.31 or newer: {}", text(&knows.stderr));
    let mut env = Command::new("env");
    env.arg("--default-signal=INT").arg(command.get_program()).args(command.get_args());
    command.get_envs().for_each(|(name, value)| match value {
        Some(value) => drop(env.env(name, value)),
        None => drop(env.env_remove(name)),
    });
    command.get_current_dir().map(|directory| env.current_dir(directory));
    env
}

#[test]
fn two_at_the_same_time_both_succeed() {
    let project = program("twice", "fn main() {}");
    let before = project.read("Cargo.lock");
    let start = || shared(project.gmp("check")).stderr(Stdio::piped()).spawn().unwrap();
    let both = [start(), start()];
    for output in both.map(|child| child.wait_with_output().unwrap()) {
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert_eq!(project.read("Cargo.lock"), before);
}

#[test]
fn neither_kind_of_build_makes_the_other_compile_anew() {
    let project = program("alternates", "fn main() {}");
    let commands = || [shared(project.cargo("check --offline")), shared(project.gmp("check"))];
    for mut command in commands() {
        succeeds(&mut command);
    }
    for mut command in commands() {
        let said = text(&command.output().unwrap().stderr);
        assert!(!said.contains("Compiling") && !said.contains("Checking"), "{said}");
    }
}

#[test]
fn a_target_directory_of_the_users_choice_is_used_as_it_is() {
    let project = program("placed", "fn main() {}");
    let chosen = project.path("chosen");
    let mut build = project.gmp(&format!("build --target-dir {}", chosen.display()));
    // The intermediate files are shared with the other tests all the same.
    succeeds(build.env("CARGO_BUILD_BUILD_DIR", target()));
    assert!(chosen.join("debug/placed").is_file());
    assert!(!project.path("target/gmp/debug").exists());
}

#[test]
fn a_program_is_installed_from_its_folder_on_gmp() {
    let project =
        program("installed", "fn main() { print!(\"{}\", std::any::type_name::<tokio::runtime::Runtime>()) }");
    let before = (project.read("Cargo.toml"), project.read("Cargo.lock"));
    let root = project.path("root");
    succeeds(&mut shared(project.gmp(&format!("install --path . --debug --root {}", root.display()))));
    assert_eq!(succeeds(&mut Command::new(root.join("bin/installed"))), "gmp_exec::runtime::runtime::Runtime");
    assert_eq!((project.read("Cargo.toml"), project.read("Cargo.lock")), before);
}

/// A stand-in for console-subscriber, which doesn't compile without the cfg either.
#[test]
fn the_console_needs_one_option() {
    let project = program("consoled", r#"fn main() { println!("{}", console_subscriber::init()); }"#);
    let refused = fails(project.gmp("run --console").env_remove("RUSTFLAGS"), 101);
    assert!(refused.contains("`--console` needs console-subscriber in the program"), "{refused}");

    let subscriber = "[package]\nname = \"console-subscriber\"\nversion = \"0.5.0\"\nedition = \"2021\"\n";
    project.write("subscriber/Cargo.toml", subscriber);
    let init = r#"#[cfg(all(console_without_tokio_unstable, of_the_user))]
        pub fn init() -> &'static str { "the console is told" }"#;
    project.write("subscriber/src/lib.rs", init);
    let dependency = "[dependencies]\nconsole-subscriber = { path = \"subscriber\" }\n";
    project.write("Cargo.toml", &project.read("Cargo.toml").replace("[dependencies]\n", dependency));
    project.write(".cargo/config.toml", "[build]\nrustflags = [\"--cfg\", \"of_the_user\"]\n");
    project.lock();
    let mut run = shared(project.gmp("run --console --quiet"));
    assert_eq!(succeeds(run.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS")), "the console is told\n");
}

#[test]
fn cargos_own_commands_have_help_outside_of_a_project() {
    let folder = Project::with_tokio("\"1\"");
    std::fs::remove_file(folder.path("Cargo.toml")).unwrap();
    for (line, own) in [
        ("run --help", "\n      --trace <FILE> "),
        ("run --seed 1 -h", "\n      --seed <SEED> "),
        ("test --help", "\n      --seeds <N> "),
        ("t --seeds 2 -p app -h", "\n      --json <FILE> "),
        ("build -h", ""),
    ] {
        let said = succeeds(&mut folder.gmp(line));
        assert!(said.contains("--manifest-path") && said.contains(own), "{line}: {said}");
    }
}

/// As in `cargo gmp help | true`.
#[test]
fn help_that_nobody_reads_is_no_error() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Project::with_tokio("\"1\"").gmp("help").stdout(writer).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
}
