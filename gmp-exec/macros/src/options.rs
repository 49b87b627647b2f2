//! The options between an attribute's parentheses.

use std::num::NonZeroU64;

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Lit, Path, Result, Token, parse_quote};

use crate::flavor::{Attribute, Flavor};
use crate::leaks::Leaks;
use crate::limit::Limit;

const FLAVOR: &str = r#"`flavor = "multi_thread"` or `flavor = "current_thread"`"#;
const WORKER_THREADS: &str = "`worker_threads = N` with a whole number from 1";
const START_PAUSED: &str = "`start_paused = true` or `start_paused = false`";
const LEAKS: &str = r#"`leaks = "off"`, `leaks = "warn"` or `leaks = "deny"`"#;
const DEADLOCK_AFTER: &str = r#"`deadlock_after = "off"`, or seconds up to 86400 as in `deadlock_after = 5`"#;
const SEEDS: &str = "`seeds = N` with a whole number from 1";
const CRATE: &str = r#"`crate = "path::of::gmp_exec"`"#;

/// The options after all checks, with the defaults filled in.
pub(crate) struct Options {
    pub(crate) flavor: Flavor,
    pub(crate) worker_threads: Option<usize>,
    pub(crate) start_paused: Option<bool>,
    pub(crate) leaks: Option<Leaks>,
    pub(crate) deadlock_after: Option<Limit>,
    /// Of a test alone: it runs under so many seeds.
    pub(crate) seeds: Option<NonZeroU64>,
    pub(crate) crate_path: Path,
}

impl Options {
    pub(crate) fn parse(attribute: Attribute, tokens: TokenStream) -> Result<Options> {
        let settings = Punctuated::<Setting, Token![,]>::parse_terminated.parse2(tokens)?;
        let mut given = Given::default();
        let mut problems = Problems::default();
        for setting in &settings {
            problems.note(given.take(setting));
        }
        problems.into_result()?;
        given.complete(attribute)
    }
}

/// `name = value`
struct Setting {
    name: Ident,
    value: Expr,
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> Result<Setting> {
        let name = input.call(Ident::parse_any).map_err(|_| input.error(all_options()))?;
        if input.parse::<Option<Token![=]>>()?.is_none() || input.is_empty() || input.peek(Token![,]) {
            return Err(Error::new_spanned(&name, without_value(&name)));
        }
        Ok(Setting { name, value: input.parse()? })
    }
}

fn without_value(name: &Ident) -> String {
    let text = name.to_string();
    match text.as_str() {
        "flavor" => needs(name, FLAVOR),
        "worker_threads" => needs(name, WORKER_THREADS),
        "start_paused" => needs(name, START_PAUSED),
        "leaks" => needs(name, LEAKS),
        "deadlock_after" => needs(name, DEADLOCK_AFTER),
        "seeds" => needs(name, SEEDS),
        "crate" => needs(name, CRATE),
        text if Flavor::from_name(text).is_some() => {
            format!("the flavor is set with `flavor = \"{text}\"`")
        }
        _ => unknown(name),
    }
}

fn needs(name: &Ident, usage: &str) -> String {
    format!("`{name}` needs a value: {usage}")
}

fn unknown(name: &Ident) -> String {
    format!("there is no option `{name}`; {}", all_options())
}

fn all_options() -> String {
    format!(
        "the options are {FLAVOR}, {WORKER_THREADS}, {START_PAUSED}, {LEAKS}, {DEADLOCK_AFTER}, {SEEDS}, and {CRATE}"
    )
}

/// The options that are set, each with its tokens for error messages.
#[derive(Default)]
struct Given<'a> {
    flavor: Option<(&'a Setting, Flavor)>,
    worker_threads: Option<(&'a Setting, usize)>,
    start_paused: Option<(&'a Setting, bool)>,
    leaks: Option<(&'a Setting, Leaks)>,
    deadlock_after: Option<(&'a Setting, Limit)>,
    seeds: Option<(&'a Setting, NonZeroU64)>,
    crate_path: Option<(&'a Setting, Path)>,
}

impl<'a> Given<'a> {
    fn take(&mut self, setting: &'a Setting) -> Result<()> {
        match setting.name.to_string().as_str() {
            "flavor" => set(&mut self.flavor, setting, flavor, FLAVOR),
            "worker_threads" => set(&mut self.worker_threads, setting, worker_threads, WORKER_THREADS),
            "start_paused" => set(&mut self.start_paused, setting, start_paused, START_PAUSED),
            "leaks" => set(&mut self.leaks, setting, leaks, LEAKS),
            "deadlock_after" => set(&mut self.deadlock_after, setting, deadlock_after, DEADLOCK_AFTER),
            "seeds" => set(&mut self.seeds, setting, seeds, SEEDS),
            "crate" => set(&mut self.crate_path, setting, crate_path, CRATE),
            _ => Err(Error::new_spanned(&setting.name, unknown(&setting.name))),
        }
    }

    fn complete(self, attribute: Attribute) -> Result<Options> {
        let flavor = self.flavor.map_or(attribute.default_flavor(), |(_, flavor)| flavor);
        match flavor {
            Flavor::MultiThread => only_with("current_thread", attribute, self.start_paused.map(|(s, _)| s))?,
            Flavor::CurrentThread => only_with("multi_thread", attribute, self.worker_threads.map(|(s, _)| s))?,
        }
        if let (Some((setting, _)), Attribute::Main) = (self.seeds, attribute) {
            let message = "`seeds` is only for tests: write `#[gmp_exec::test(seeds = N)]`";
            return Err(Error::new_spanned(setting, message));
        }
        Ok(Options {
            flavor,
            worker_threads: self.worker_threads.map(|(_, value)| value),
            start_paused: self.start_paused.map(|(_, value)| value),
            leaks: self.leaks.map(|(_, value)| value),
            deadlock_after: self.deadlock_after.map(|(_, value)| value),
            seeds: self.seeds.map(|(_, value)| value),
            crate_path: self.crate_path.map_or_else(|| parse_quote!(::gmp_exec), |(_, path)| path),
        })
    }
}

fn set<'a, T>(
    option: &mut Option<(&'a Setting, T)>,
    setting: &'a Setting,
    read: fn(&Expr) -> Option<T>,
    usage: &str,
) -> Result<()> {
    let Setting { name, value } = setting;
    if option.is_some() {
        return Err(Error::new_spanned(setting, format!("`{name}` is set twice")));
    }
    let Some(value) = read(value) else {
        let message = format!("`{}` is no value for `{name}`: write {usage}", value.to_token_stream());
        return Err(Error::new_spanned(value, message));
    };
    *option = Some((setting, value));
    Ok(())
}

fn only_with(flavor: &str, attribute: Attribute, setting: Option<&Setting>) -> Result<()> {
    let Some(setting) = setting else {
        return Ok(());
    };
    let message = format!(
        "`{name}` is only for the flavor `{flavor}`: write `#[{attribute}(flavor = \"{flavor}\", {name} = {value})]`",
        name = setting.name,
        value = setting.value.to_token_stream(),
        attribute = attribute.name(),
    );
    Err(Error::new_spanned(setting, message))
}

impl ToTokens for Setting {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.name.to_tokens(tokens);
        self.value.to_tokens(tokens);
    }
}

fn flavor(value: &Expr) -> Option<Flavor> {
    match literal(value)? {
        Lit::Str(text) => Flavor::from_name(&text.value()),
        _ => None,
    }
}

fn worker_threads(value: &Expr) -> Option<usize> {
    match literal(value)? {
        Lit::Int(number) => number.base10_parse().ok().filter(|&number| number > 0),
        _ => None,
    }
}

fn start_paused(value: &Expr) -> Option<bool> {
    match literal(value)? {
        Lit::Bool(bool) => Some(bool.value()),
        _ => None,
    }
}

fn leaks(value: &Expr) -> Option<Leaks> {
    match literal(value)? {
        Lit::Str(text) => Leaks::from_name(&text.value()),
        _ => None,
    }
}

fn deadlock_after(value: &Expr) -> Option<Limit> {
    match literal(value)? {
        Lit::Int(number) if number.suffix().is_empty() => Limit::of_seconds(number.base10_parse().ok()?),
        Lit::Float(number) if number.suffix().is_empty() => Limit::of_seconds(number.base10_parse().ok()?),
        Lit::Str(text) => Limit::parse(&text.value()),
        _ => None,
    }
}

fn seeds(value: &Expr) -> Option<NonZeroU64> {
    match literal(value)? {
        Lit::Int(number) if number.suffix().is_empty() => number.base10_parse().ok(),
        _ => None,
    }
}

fn crate_path(value: &Expr) -> Option<Path> {
    match literal(value)? {
        Lit::Str(text) => text.parse_with(Path::parse_mod_style).ok(),
        _ => None,
    }
}

fn literal(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Lit(literal) => Some(&literal.lit),
        _ => None,
    }
}

/// Collects errors, so that the user sees all of them at once.
#[derive(Default)]
struct Problems(Option<Error>);

impl Problems {
    fn note(&mut self, result: Result<()>) {
        match (&mut self.0, result) {
            (_, Ok(())) => {}
            (None, Err(first)) => self.0 = Some(first),
            (Some(earlier), Err(next)) => earlier.combine(next),
        }
    }

    fn into_result(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
