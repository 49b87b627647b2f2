//! Results that are kept in a JSON file, a row for each name.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::drop_in;

#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Rows<R> {
    pub(crate) rows: BTreeMap<String, R>,
}

pub(crate) trait Recorded: Serialize + DeserializeOwned {
    /// The name of the file, in the drop-in's folder.
    const FILE: &str;
}

impl<R> Default for Rows<R> {
    fn default() -> Self {
        Rows { rows: BTreeMap::new() }
    }
}

impl<R: Recorded> Rows<R> {
    pub(crate) fn load() -> Result<Self, String> {
        match fs::read_to_string(drop_in().join(R::FILE)) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| format!("{}: {error}", R::FILE)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Rows::default()),
            Err(error) => Err(format!("{}: {error}", R::FILE)),
        }
    }

    pub(crate) fn save(&self) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::write(drop_in().join(R::FILE), text + "\n").map_err(|error| format!("{}: {error}", R::FILE))
    }
}
