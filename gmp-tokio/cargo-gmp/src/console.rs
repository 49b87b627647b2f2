//! `cargo gmp run --console`: for programs that have console-subscriber.
//!
//! console-subscriber refuses to start unless a cfg tells it that the runtime emits the spans that
//! it needs. gmp emits them on a stable compiler, without `tokio_unstable`, and the subscriber's
//! dependency on tokio's feature `tracing` turns them on. So the cfg is all that is missing.
//!
//! Cargo takes the compiler's flags from one place only: `CARGO_ENCODED_RUSTFLAGS`, else
//! `RUSTFLAGS`, else `target.*.rustflags`, else `build.rustflags`. The cfg is added to the place
//! that counts, so that the user's own flags stay.

use std::{env, fs};

use anyhow::{Result, bail, ensure};

use crate::alias::Line;
use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::configuration::{self, Setting};
use crate::project::Project;

const CFG: &str = "console_without_tokio_unstable";

/// Takes `--console`, which is not cargo's, from among the options of `run`.
pub(crate) fn take(line: &mut Line) -> bool {
    if line.subcommand != "run" && line.subcommand != "r" {
        return false;
    }
    let options = line.rest.iter().take_while(|argument| *argument != "--");
    let found = options.enumerate().find(|(_, argument)| *argument == "--console").map(|(index, _)| index);
    found.map(|index| line.rest.remove(index)).is_some()
}

/// Makes cargo pass the cfg to the compiler. Returns the variable that must be set for it, if any.
///
/// # Errors
///
/// Fails without console-subscriber in the lock file, because the console would then show nothing,
/// and if it can't be known which of the user's flags count.
pub(crate) fn add(cargo: &Cargo, arguments: &mut Arguments) -> Result<Option<(&'static str, String)>> {
    let project = Project::find(cargo, arguments)?;
    check(&fs::read_to_string(project.lock_file()).unwrap_or_default())?;
    let here = project.current_directory()?;
    let variable = |name| env::var(name).ok();
    let place = place(
        variable("CARGO_ENCODED_RUSTFLAGS"),
        variable("RUSTFLAGS"),
        &configuration::flags_of_targets(&here)?,
        &configuration::flags_of_builds(&here)?,
    )?;
    match place {
        Place::Variable(name, flags) => Ok(Some((name, flags))),
        Place::Configuration(key) => {
            let setting = format!("{key}=[\"--cfg\", \"{CFG}\"]");
            arguments.before.extend(["--config".into(), setting.into()]);
            Ok(None)
        }
    }
}

fn check(lock_file: &str) -> Result<()> {
    ensure!(
        lock_file.contains("name = \"console-subscriber\""),
        "`--console` needs console-subscriber in the program: `cargo add console-subscriber`, and \
         `console_subscriber::init()` at the beginning of `main`"
    );
    Ok(())
}

/// Where the cfg goes.
#[derive(Debug, PartialEq)]
enum Place {
    /// The variable, with its new value.
    Variable(&'static str, String),
    /// A key whose lists cargo joins with those of the user.
    Configuration(&'static str),
}

fn place(encoded: Option<String>, plain: Option<String>, targets: &[Setting], builds: &[Setting]) -> Result<Place> {
    if let Some(flags) = encoded {
        let flags = [flags.as_str(), "--cfg", CFG].join("\x1f");
        return Ok(Place::Variable("CARGO_ENCODED_RUSTFLAGS", flags.trim_start_matches('\x1f').to_owned()));
    }
    if let Some(flags) = plain {
        return Ok(Place::Variable("RUSTFLAGS", format!("{flags} --cfg {CFG}").trim_start().to_owned()));
    }
    match (targets, builds) {
        ([], _) => Ok(Place::Configuration("build.rustflags")),
        (_, []) => Ok(Place::Configuration("target.'cfg(all())'.rustflags")),
        ([target, ..], [build, ..]) => bail!(
            "`--console` can't tell whether cargo uses the flags of {} or those of {}: set RUSTFLAGS to the right ones \
             and `--cfg {CFG}`, and leave out `--console`",
            target.place,
            build.place
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn the_option_is_taken_from_the_options_of_run_only() {
        let taken = |text: &str| {
            let mut line = Line::parse(text.split_whitespace().map(OsString::from)).unwrap();
            (take(&mut line), line.rest.len())
        };
        assert_eq!(taken("run --release --console -- --console"), (true, 3));
        assert_eq!(taken("r -- --console"), (false, 2));
        assert_eq!(taken("test --console"), (false, 1), "cargo will refuse it");
    }

    #[test]
    fn the_users_own_flags_stay() {
        let flags = |text: &str| Some(text.to_owned());
        let set = |place: &str| [Setting { text: "-g".to_owned(), place: place.to_owned() }];
        let encoded = place(flags("-g\x1f-v"), flags("-x"), &[], &[]).unwrap();
        assert_eq!(encoded, Place::Variable("CARGO_ENCODED_RUSTFLAGS", format!("-g\x1f-v\x1f--cfg\x1f{CFG}")));
        assert_eq!(
            place(flags(""), None, &[], &[]).unwrap(),
            Place::Variable("CARGO_ENCODED_RUSTFLAGS", format!("--cfg\x1f{CFG}"))
        );
        let plain = place(None, flags("-g"), &set("a"), &set("b")).unwrap();
        assert_eq!(plain, Place::Variable("RUSTFLAGS", format!("-g --cfg {CFG}")));
        assert_eq!(place(None, None, &[], &set("b")).unwrap(), Place::Configuration("build.rustflags"));
        assert_eq!(place(None, None, &set("a"), &[]).unwrap(), Place::Configuration("target.'cfg(all())'.rustflags"));
        let error = place(None, None, &set("one.toml"), &set("other.toml")).unwrap_err().to_string();
        assert!(error.contains("the flags of one.toml or those of other.toml"), "{error}");
    }

    #[test]
    fn without_the_subscriber_the_error_says_how_to_add_it() {
        let error = check("[[package]]\nname = \"tokio\"\n").unwrap_err().to_string();
        assert!(error.starts_with("`--console` needs console-subscriber in the program: `cargo add"), "{error}");
        check("[[package]]\nname = \"console-subscriber\"\n").unwrap();
    }
}
