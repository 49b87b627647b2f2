//! The number of descriptors that this process may have.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit of descriptors for this process, and for the processes that it starts, to the
/// hard limit.
pub fn allow_descriptors(needed: u64) -> io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Some(hard) = maximum.filter(|&hard| hard < needed) {
        let message = format!("{needed} descriptors are needed, but the hard limit (`ulimit -Hn`) is {hard}");
        return Err(io::Error::other(message));
    }
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_raised_to_the_hard_one_and_more_than_that_is_refused_with_both_numbers() {
        allow_descriptors(1).unwrap();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
        if let Some(hard) = maximum {
            let error = allow_descriptors(hard + 1).unwrap_err().to_string();
            assert!(error.contains(&(hard + 1).to_string()) && error.contains(&format!(" {hard}")), "{error}");
        }
    }
}
