//! Tests of `cargo gmp compare`.

use std::net::TcpListener;

use crate::support::{fails, program, shared, text};

/// The two values of a row.
fn row<'a>(table: &'a str, name: &str) -> [&'a str; 2] {
    let values = table.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name}: {table}"));
    let values: Vec<_> = values.split("  ").map(str::trim).filter(|value| !value.is_empty()).collect();
    values.try_into().unwrap_or_else(|values| panic!("{values:?}: {table}"))
}

/// The values can't be known, but every row has one.
fn has_figures(table: &str) {
    for name in ["wall time", "CPU time", "peak memory", "most threads"] {
        let numbers = row(table, name).map(|value| value.split(' ').next().unwrap().parse::<f64>());
        assert!(numbers.iter().all(|number| number.as_ref().is_ok_and(|number| *number >= 0.0)), "{table}");
    }
}

#[test]
fn outputs_and_exit_codes_of_a_program_are_compared() {
    let project = program(
        "compared",
        r#"fn main() {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
            let name = std::any::type_name_of_val(&runtime).split("::").next().unwrap();
            let arguments: Vec<_> = std::env::args().skip(1).collect();
            println!("always the same {arguments:?}");
            if arguments.is_empty() {
                // Long enough for a reading of memory and threads.
                std::thread::sleep(std::time::Duration::from_millis(300));
                println!("on {name}");
                std::process::exit(if name == "tokio" { 3 } else { 4 });
            }
            eprintln!("this too");
        }"#,
    );
    let before = (project.read("Cargo.toml"), project.read("Cargo.lock"));
    let output = shared(project.gmp("compare --quiet")).output().unwrap();
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{table}{}", text(&output.stderr));
    assert_eq!(row(&table, "exit code"), ["3", "4"]);
    assert!(
        table.contains("the output differs:\n  line 2\n    tokio \"on tokio\"\n    gmp   \"on gmp_exec\"\n"),
        "{table}"
    );
    has_figures(&table);
    assert!(row(&table, "most threads").iter().all(|threads| threads.parse::<u32>().unwrap() > 1), "{table}");

    let output = shared(project.gmp("compare run --quiet -- --load")).output().unwrap();
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}{}", text(&output.stderr));
    assert_eq!(row(&table, "exit code"), ["0", "0"]);
    assert!(table.ends_with("the output is the same\nthe error output is the same\n"), "{table}");
    assert_eq!((project.read("Cargo.toml"), project.read("Cargo.lock")), before);
}

#[test]
fn tests_that_pass_on_one_only_are_named() {
    let project = program("tested", "fn main() {}");
    project.write(
        "tests/both.rs",
        r#"fn name() -> &'static str { std::any::type_name::<tokio::runtime::Runtime>() }

        #[test]
        fn passes_on_tokio() { assert!(name().starts_with("tokio::"), "on {}", name()); }

        #[test]
        fn passes_on_both() {
            assert!(!name().is_empty());
            // Long enough for a reading of memory: a program that has ended has none.
            std::thread::sleep(std::time::Duration::from_millis(300));
        }

        #[test]
        #[ignore = "slow"]
        fn is_ignored() {}
        "#,
    );
    project.write("tests/last.rs", "#[test]\nfn comes_after_a_failure() {}\n");
    let output = shared(project.gmp("compare test")).output().unwrap();
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{table}{}", text(&output.stderr));
    assert_eq!(row(&table, "tests passed"), ["3", "2"]);
    assert_eq!(row(&table, "tests failed"), ["0", "1"]);
    assert_eq!(row(&table, "tests ignored"), ["1", "1"]);
    assert!(table.ends_with("\ntests/both.rs: passes_on_tokio: ok on tokio, FAILED on gmp\n"), "{table}");
    has_figures(&table);

    let output = shared(project.gmp("compare test --test both -- passes_on_both")).output().unwrap();
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}");
    assert_eq!(row(&table, "tests passed"), ["1", "1"]);
}

#[test]
fn a_server_is_put_under_load_and_ended() {
    let project = program("serves", SERVER);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let line = format!("compare run --quiet --load http://127.0.0.1:{port}/ --rate 200 --secs 0.5");
    let output = shared(project.gmp(&line)).env("PORT", port.to_string()).output().unwrap();
    let table = text(&output.stdout);
    assert!(output.status.success(), "{table}{}", text(&output.stderr));
    assert_eq!(row(&table, "exit code"), ["130", "130"]);
    assert_eq!(row(&table, "requests answered"), ["100", "100"]);
    assert_eq!(row(&table, "requests failed"), ["0", "0"]);
    for name in ["p50", "p99", "max"] {
        assert!(row(&table, name).iter().all(|value| value.ends_with(" ms")), "{table}");
    }
    has_figures(&table);
    TcpListener::bind(("127.0.0.1", port)).expect("both servers are gone");
}

const SERVER: &str = r#"use std::io::{BufRead, BufReader, Write};

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let port = std::env::var("PORT").unwrap().parse().unwrap();
    let listener = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    for stream in listener.incoming() {
        let stream = stream.unwrap();
        runtime.spawn_blocking(move || {
            let mut answers = stream.try_clone().unwrap();
            for line in BufReader::new(stream).lines().map_while(Result::ok).filter(|line| line.is_empty()) {
                answers.write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok{line}").as_bytes()).unwrap();
            }
        });
    }
}
"#;

#[test]
fn what_can_not_be_compared_is_said() {
    let project = program("not-compared", "fn main() { no_such_function() }");
    let error = fails(&mut shared(project.gmp("compare")), 101);
    assert!(error.contains("error: on tokio: cargo ended before any program started"), "{error}");
    let error = fails(&mut shared(project.gmp("compare --load ftp://a/")), 101);
    assert!(error.contains("`ftp://a/` is not the address of a page"), "{error}");
    project.write(".cargo/config.toml", "[target.'cfg(unix)']\nrunner = \"env\"\n");
    let error = fails(&mut shared(project.gmp("compare")), 101);
    assert!(error.contains("programs can't be measured: ") && error.contains(" configures a runner"), "{error}");
}
