//! What `GMP_SEED_NET` and `cargo gmp test --net` ask for. cargo-gmp compiles this file, too, so nothing of
//! the engine is named here.

use std::net::IpAddr;
use std::num::NonZeroU64;

/// What `GMP_SEED_NET` asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wish {
    /// Otherwise all sockets are the kernel's.
    pub(crate) is_simulated: bool,
    /// Whether sockets may reach other computers.
    pub(crate) allows_real: bool,
    /// Names of hosts, each with one of the host's addresses.
    pub(super) hosts: Vec<(String, IpAddr)>,
    pub(super) weather: Weather,
}

/// Rates are in millionths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weather {
    /// Of each packet, from and to, in nanoseconds.
    pub(super) delay: (u64, u64),
    /// Of calls that read: they get fewer bytes than there are.
    pub(super) short: u32,
    /// Of calls that write and need not take all: they find less room than there is.
    pub(super) full: u32,
    /// Of packets with data: the connection is reset.
    pub(super) reset: u32,
    /// Of packets: lost, and sent again.
    pub(super) loss: u32,
    /// Of datagrams: they arrive twice.
    pub(super) dup: u32,
    /// Of datagrams: they may overtake others.
    pub(super) reorder: u32,
    /// How many bytes a socket sends in a second; `None`: any number.
    pub(super) speed: Option<NonZeroU64>,
}

const CALM: Weather = Weather { delay: (0, 0), short: 0, full: 0, reset: 0, loss: 0, dup: 0, reorder: 0, speed: None };
/// Without a wish.
const MILD: Weather = Weather { delay: (0, 1_000_000), short: 100_000, ..CALM };

/// # Errors
///
/// The text is no weather. The error says what is allowed.
pub(crate) fn parse(text: &str) -> Result<Wish, String> {
    let mut wish = Wish { is_simulated: true, allows_real: false, hosts: Vec::new(), weather: MILD };
    for item in text.split(',').filter(|item| !item.is_empty()) {
        parse_item(item, &mut wish).ok_or_else(|| {
            format!(
                "{item:?} is none of kernel, real, calm, delay=1..20ms, short=50%, full=5%, reset=0.1%, loss=1%, dup=1%, reorder=1%, rate=1MB/s, host=db@127.0.0.2"
            )
        })?;
    }
    Ok(wish)
}

fn parse_item(item: &str, wish: &mut Wish) -> Option<()> {
    let weather = &mut wish.weather;
    match item.split_once('=') {
        None if item == "kernel" => wish.is_simulated = false,
        None if item == "real" => wish.allows_real = true,
        None if item == "calm" => *weather = CALM,
        Some(("delay", text)) => weather.delay = parse_delay(text)?,
        Some(("short", text)) => weather.short = parse_rate(text)?,
        Some(("full", text)) => weather.full = parse_rate(text)?,
        Some(("reset", text)) => weather.reset = parse_rate(text)?,
        Some(("loss", text)) => weather.loss = parse_rate(text)?,
        Some(("dup", text)) => weather.dup = parse_rate(text)?,
        Some(("reorder", text)) => weather.reorder = parse_rate(text)?,
        Some(("rate", text)) => weather.speed = Some(parse_speed(text)?),
        Some(("host", text)) => {
            let (name, address) = text.split_once('@').filter(|(name, _)| !name.is_empty())?;
            wish.hosts.push((name.to_owned(), address.parse().ok()?));
        }
        _ => return None,
    }
    Some(())
}

/// `5ms`, `1..20ms`, `200us..1s`.
fn parse_delay(text: &str) -> Option<(u64, u64)> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let unit =
        |text: &str| [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)].into_iter().find(|u| text.ends_with(u.0));
    let (_, length) = unit(to)?;
    let nanoseconds = |text: &str| {
        let (name, length) = unit(text).unwrap_or(("", length));
        let number: f64 = text.strip_suffix(name)?.parse().ok()?;
        (0.0..=3_600e9).contains(&(number * length)).then_some((number * length) as u64)
    };
    Some((nanoseconds(from)?, nanoseconds(to)?)).filter(|(from, to)| from <= to)
}

/// `0.1%`, in millionths.
fn parse_rate(text: &str) -> Option<u32> {
    let percent: f64 = text.strip_suffix('%')?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some((percent * 10_000.0).round() as u32)
}

/// `1MB/s`, `56kB/s`, `300B/s`.
fn parse_speed(text: &str) -> Option<NonZeroU64> {
    let (number, unit) = [("GB/s", 1_000_000_000), ("MB/s", 1_000_000), ("kB/s", 1_000), ("B/s", 1)]
        .into_iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    NonZeroU64::new(number.parse::<u64>().ok()?.checked_mul(unit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_a_list() {
        let mild = Wish { is_simulated: true, allows_real: false, hosts: Vec::new(), weather: MILD };
        assert_eq!(parse("").unwrap(), mild);
        assert!(!parse("kernel").unwrap().is_simulated);
        let wish = parse("calm,real,delay=1..20ms,short=50%,full=5%,reset=0.1%,loss=1%,dup=2%,reorder=3%,rate=56kB/s")
            .unwrap();
        let weather = Weather {
            delay: (1_000_000, 20_000_000),
            short: 500_000,
            full: 50_000,
            reset: 1_000,
            loss: 10_000,
            dup: 20_000,
            reorder: 30_000,
            speed: NonZeroU64::new(56_000),
        };
        assert_eq!(wish, Wish { allows_real: true, weather, ..mild });
        assert_eq!(parse_delay("1..20ms"), Some((1_000_000, 20_000_000)));
        assert_eq!(parse_delay("200us..1s"), Some((200_000, 1_000_000_000)));
        assert_eq!(parse_delay("5ms"), Some((5_000_000, 5_000_000)));
    }

    #[test]
    fn bad_weather_is_refused_by_name() {
        for text in [
            "delay=1",
            "delay=2..1ms",
            "delay=-1ms",
            "short=5",
            "short=101%",
            "reset=x%",
            "rain",
            "loss",
            "host=a",
            "host=@::1",
            "rate=1",
            "rate=0B/s",
            "rate=1.5MB/s",
            "rate=18446744074GB/s",
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(text) && error.contains("delay=1..20ms"), "{error}");
        }
    }
}
