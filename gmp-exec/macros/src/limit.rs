//! After which time without any event a runtime panics. The values are those of the variable
//! `GMP_DEADLOCK_AFTER`.

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

/// Zero: there is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit(Duration);

/// A day.
const MOST_SECONDS: f64 = 86_400.0;

impl Limit {
    pub(crate) fn of_seconds(seconds: f64) -> Option<Limit> {
        (0.0..=MOST_SECONDS).contains(&seconds).then(|| Limit(Duration::from_secs_f64(seconds)))
    }

    pub(crate) fn parse(text: &str) -> Option<Limit> {
        match text.trim() {
            "off" => Limit::of_seconds(0.0),
            seconds => Limit::of_seconds(seconds.parse().ok()?),
        }
    }

    pub(crate) fn duration(self, span: Span) -> TokenStream {
        let (seconds, nanos) = (self.0.as_secs(), self.0.subsec_nanos());
        quote_spanned!(span=> ::core::time::Duration::new(#seconds, #nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_off_or_in_seconds() {
        let limit = |millis| Some(Limit(Duration::from_millis(millis)));
        assert_eq!((Limit::parse("5"), Limit::parse(" 0.25 ")), (limit(5_000), limit(250)));
        assert_eq!((Limit::parse("off"), Limit::parse("0")), (limit(0), limit(0)));
        assert_eq!((Limit::of_seconds(86_400.0), Limit::of_seconds(0.5)), (limit(86_400_000), limit(500)));
        for text in ["", "5s", "-1", "NaN", "inf", "1e9", "on"] {
            assert_eq!(Limit::parse(text), None, "{text}");
        }
    }
}
