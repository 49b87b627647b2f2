//! The only query of the application: `ms=100`.

use std::time::Duration;

use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};

/// The longest that a handler can be asked to hold its thread.
const MAX_MS: u64 = 10_000;

/// The parameter `ms`; without it, `DEFAULT`.
pub(crate) struct Millis<const DEFAULT: u64>(u64);

impl<const DEFAULT: u64> Millis<DEFAULT> {
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl<const DEFAULT: u64, S: Send + Sync> FromRequestParts<S> for Millis<DEFAULT> {
    type Rejection = BadQuery;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, BadQuery> {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri)
            .map_err(|rejection| BadQuery(rejection.body_text()))?;
        match pairs.as_slice() {
            [] => Ok(Millis(DEFAULT)),
            [(name, value)] if name == "ms" => millis(value).map(Millis),
            _ => {
                let names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
                Err(BadQuery(format!("the parameters are {names:?}: only `ms` is allowed, and only once")))
            }
        }
    }
}

fn millis(value: &str) -> Result<u64, BadQuery> {
    let digits_only = value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse() {
        Ok(number) if digits_only && number <= MAX_MS => Ok(number),
        _ => Err(BadQuery(format!("ms is {value:?}: it must be a whole number from 0 to {MAX_MS}"))),
    }
}

/// The answer to an invalid query: status 400 and the valid ones.
pub(crate) struct BadQuery(String);

impl IntoResponse for BadQuery {
    fn into_response(self) -> Response {
        (StatusCode::BAD_REQUEST, self.0 + "\n").into_response()
    }
}
