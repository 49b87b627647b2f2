//! `#[gmp_exec::main]` and `#[gmp_exec::test]`: the expanded functions run as written.

use std::num::ParseIntError;
use std::time::Duration;

use gmp_exec::runtime::{Handle, RuntimeFlavor};
use gmp_exec::time::{self, Instant};

/// Stands for `gmp_exec` in a program where it goes by another name.
mod renamed {
    pub(crate) use gmp_exec::*;
}

#[gmp_exec::test]
async fn a_test_runs_on_a_current_thread_runtime() {
    assert_eq!(Handle::current().runtime_flavor(), RuntimeFlavor::CurrentThread);
}

#[gmp_exec::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_test_runs_on_the_flavor_that_it_names() {
    let handle = Handle::current();
    assert_eq!(handle.runtime_flavor(), RuntimeFlavor::MultiThread);
    assert_eq!(handle.metrics().num_workers(), 3);
}

#[gmp_exec::test(start_paused = true)]
async fn a_paused_clock_goes_on_by_itself() {
    let (before, really_before) = (Instant::now(), std::time::Instant::now());
    time::sleep(Duration::from_secs(3600)).await;
    assert!(before.elapsed() >= Duration::from_secs(3600));
    assert!(really_before.elapsed() < Duration::from_secs(1800));
}

#[gmp_exec::test(crate = "renamed")]
async fn the_crate_may_have_another_name() {
    gmp_exec::spawn(async {}).await.unwrap();
}

#[gmp_exec::test]
async fn a_test_may_return_a_result() -> Result<(), ParseIntError> {
    let number: i32 = "-7".parse()?;
    assert_eq!(number, -7);
    Ok(())
}

#[gmp_exec::test]
#[should_panic(expected = "on purpose")]
async fn a_panic_in_the_body_fails_the_test() {
    panic!("on purpose");
}

#[gmp_exec::test]
async fn attributes_inside_of_the_body_are_the_functions() {
    #![allow(unused_variables, reason = "the attribute on the function is what is tested")]
    let unused = 1;
}

#[test]
fn main_runs_on_a_multi_thread_runtime() {
    #[gmp_exec::main]
    async fn flavor() -> RuntimeFlavor {
        Handle::current().runtime_flavor()
    }
    assert_eq!(flavor(), RuntimeFlavor::MultiThread);
}

#[test]
fn main_takes_options() {
    #[gmp_exec::main(flavor = "multi_thread", worker_threads = 2, crate = "crate::macros::renamed")]
    async fn workers() -> usize {
        Handle::current().metrics().num_workers()
    }
    assert_eq!(workers(), 2);

    #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    async fn slept() -> Duration {
        let before = Instant::now();
        time::sleep(Duration::from_secs(60)).await;
        before.elapsed()
    }
    assert!(slept() >= Duration::from_secs(60));
}

#[test]
fn functions_other_than_main_may_have_arguments_and_generics() {
    #[gmp_exec::main(flavor = "current_thread")]
    async fn longest<'a, T: AsRef<str> + 'a>(texts: &'a [T], at_least: usize) -> Option<&'a str> {
        texts.iter().map(AsRef::as_ref).find(|text| text.len() >= at_least)
    }
    assert_eq!(longest(&["a", "bcd"], 2), Some("bcd"));

    struct Account {
        balance: u32,
    }
    impl Account {
        #[gmp_exec::main(flavor = "current_thread")]
        async fn pay_in(&mut self, amount: u32) -> u32 {
            self.balance += amount;
            self.balance
        }
    }
    let mut account = Account { balance: 1 };
    assert_eq!(account.pay_in(2), 3);
    assert_eq!(account.balance, 3);
}

#[test]
fn return_types_that_have_no_name_are_fine() {
    #[gmp_exec::main(flavor = "current_thread")]
    async fn numbers() -> impl Iterator<Item = u8> {
        0..3
    }
    assert_eq!(numbers().sum::<u8>(), 3);

    #[gmp_exec::main(flavor = "current_thread")]
    async fn never() -> ! {
        panic!("never returns")
    }
    std::panic::catch_unwind(|| never()).unwrap_err();
}

#[test]
fn the_bodys_own_variables_and_returns_are_untouched() {
    let body = "outer";
    macro_rules! make {
        ($name:ident, $early:expr) => {
            #[gmp_exec::main(flavor = "current_thread")]
            async fn $name(body: &str) -> String {
                if $early {
                    return format!("{body} early");
                }
                let body = format!("{body} late");
                body
            }
        };
    }
    make!(early, true);
    make!(late, false);
    assert_eq!(early(body), "outer early");
    assert_eq!(late(body), "outer late");
}
