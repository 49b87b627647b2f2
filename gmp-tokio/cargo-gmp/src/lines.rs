//! Line numbers in release builds, for the reports of gmp.
//!
//! Cargo's release profile has none, and then a report names a function where it could name a line;
//! often the function that blocks is part of another one. So `run`, `build` and `install` ask for
//! `debug = "line-tables-only"` for the packages of the workspace, unless the user has decided about
//! `debug` or `strip`. Programs get larger by that, because cargo no longer strips std's debugging
//! information. Dependencies stay without lines, which would be most of the file: the reports name
//! their functions. Builds of the profile `dev` have lines anyway.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;

use anyhow::Result;
use toml_edit::DocumentMut;

use crate::arguments::{Arguments, value_of};
use crate::configuration;
use crate::project::Project;

/// The values of cargo's option `--config` for this build.
pub(crate) fn settings(subcommand: &OsStr, arguments: &Arguments, project: &Project) -> Result<Vec<String>> {
    let is_asked_for = ["run", "r", "build", "b", "install"].iter().any(|name| *name == subcommand);
    let Some(profile) = chosen(subcommand, &arguments.all).filter(|_| is_asked_for) else { return Ok(Vec::new()) };
    let mut files = configuration::files(&project.current_directory()?)?;
    files.extend(
        fs::read_to_string(project.root_manifest())?.parse().map(|manifest| (project.root_manifest(), manifest)),
    );
    let files: Vec<DocumentMut> = files.into_iter().map(|(_, file)| file).collect();
    let is_free = is_undecided(&profile, &files, |variable| env::var_os(variable).is_some());
    let of_workspace = is_free.then(|| format!("profile.{profile}.debug=\"line-tables-only\""));
    let of_others =
        (is_free && !tells_packages_apart(&files)).then(|| format!("profile.{profile}.package.\"*\".debug=false"));
    Ok(of_workspace.into_iter().chain(of_others).collect())
}

/// Whether a profile says anything of single packages, perhaps of their lines.
fn tells_packages_apart(files: &[DocumentMut]) -> bool {
    let profiles = files.iter().filter_map(|file| file.get("profile")?.as_table_like());
    profiles.flat_map(|profiles| profiles.iter()).any(|(_, profile)| profile.get("package").is_some())
}

/// The profile that the user has chosen, or that of an installation.
fn chosen(subcommand: &OsStr, arguments: &[OsString]) -> Option<String> {
    let mut cargos = arguments.iter().take_while(|argument| *argument != "--");
    let mut profile = (subcommand == "install").then(|| "release".to_owned());
    while let Some(argument) = cargos.next() {
        if argument == "--release" || argument == "-r" {
            profile = Some("release".to_owned());
        } else if argument == "--debug" {
            profile = None;
        } else if let Some(name) = value_of("--profile", argument, || cargos.clone().next()) {
            profile = name.into_string().ok();
        }
    }
    profile
}

/// Whether the profile is `release` or has been made of that, and nothing decides what lines it has.
fn is_undecided(profile: &str, files: &[DocumentMut], is_set: impl Fn(&str) -> bool) -> bool {
    let mut profile = profile.to_owned();
    // The limit ends profiles that inherit from each other, which cargo refuses.
    for _ in 0..8 {
        let variables = ["DEBUG", "STRIP"].map(|key| format!("CARGO_PROFILE_{}_{key}", upper(&profile)));
        let tables = || files.iter().filter_map(|file| file.get("profile")?.get(&profile));
        let is_decided = tables().any(|table| ["debug", "strip"].iter().any(|key| table.get(key).is_some()));
        if is_decided || variables.iter().any(|variable| is_set(variable)) {
            return false;
        }
        if profile == "release" {
            return true;
        }
        let Some(parent) = tables().find_map(|table| Some(table.get("inherits")?.as_str()?.to_owned())) else {
            return false;
        };
        profile = parent;
    }
    false
}

fn upper(profile: &str) -> String {
    profile.to_uppercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_the_one_that_cargo_takes() {
        let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let chosen = |line: &str| super::chosen("build".as_ref(), &words(line));
        let installed = |line: &str| super::chosen("install".as_ref(), &words(line));
        assert_eq!(chosen("--release"), Some("release".to_owned()));
        assert_eq!(chosen("-r -p app"), Some("release".to_owned()));
        assert_eq!(chosen("--profile fast-start"), Some("fast-start".to_owned()));
        assert_eq!(chosen("--profile=dev"), Some("dev".to_owned()));
        assert_eq!(chosen("-p app -- --release"), None);
        assert_eq!(installed("--path app"), Some("release".to_owned()));
        assert_eq!(installed("--path app --debug"), None);
    }

    #[test]
    fn a_profile_that_tells_packages_apart_is_found() {
        let tells = |text: &str| tells_packages_apart(&[text.parse().unwrap()]);
        assert!(tells("[profile.release.package.\"*\"]\ndebug = 1") && tells("profile.dev.package.a.opt-level = 3"));
        assert!(!tells("") && !tells("[profile.release]\nlto = true\n[package]\nname = \"a\""));
    }

    #[test]
    fn what_the_user_has_decided_is_left_alone() {
        let is_free = |profile: &str, text: &str, variable: &str| {
            is_undecided(profile, &[text.parse().unwrap()], |name| name == variable)
        };
        let inherits = "[profile.fast-start]\ninherits = 'release'\n";
        assert!(is_free("release", "", "") && is_free("release", "[profile.release]\nlto = true", ""));
        assert!(is_free("fast-start", inherits, "CARGO_PROFILE_DEV_DEBUG"));
        for (profile, text, variable) in [
            ("dev", "", ""),
            ("release", "[profile.release]\ndebug = false", ""),
            ("release", "profile.release.strip = true", ""),
            ("release", "", "CARGO_PROFILE_RELEASE_DEBUG"),
            ("fast-start", "", ""),
            ("fast-start", inherits, "CARGO_PROFILE_FAST_START_DEBUG"),
            ("fast-start", "[profile.release]\ndebug = 1\n[profile.fast-start]\ninherits = 'release'", ""),
            ("a", "[profile.a]\ninherits = 'a'", ""),
        ] {
            assert!(!is_free(profile, text, variable), "{profile} {text} {variable}");
        }
    }
}
