//! How the network misbehaves: `GMP_SEED_NET`.

use crate::seeded::decisions::{Decisions, Kind};

/// What `GMP_SEED_NET` asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::seeded) struct Wish {
    /// Otherwise all sockets are the kernel's.
    pub(in crate::seeded) is_simulated: bool,
    /// Whether sockets may reach other computers.
    pub(in crate::seeded) allows_real: bool,
    pub(super) weather: Weather,
}

/// Rates are in millionths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weather {
    /// Of each packet, from and to, in nanoseconds.
    delay: (u64, u64),
    /// Of calls that read: they get fewer bytes than there are.
    short: u32,
    /// Of calls that write and need not take all: they find less room than there is.
    full: u32,
    /// Of packets with data: the connection is reset.
    reset: u32,
    /// Of packets: lost, and sent again.
    loss: u32,
    /// Of datagrams: they arrive twice.
    dup: u32,
    /// Of datagrams: they may overtake others.
    reorder: u32,
}

const CALM: Weather = Weather { delay: (0, 0), short: 0, full: 0, reset: 0, loss: 0, dup: 0, reorder: 0 };
/// Without a wish.
const MILD: Weather = Weather { delay: (0, 1_000_000), short: 100_000, ..CALM };

/// So many delays are tried between the least and the longest.
const DELAYS: usize = 16;
/// When a lost packet is sent again, and how often it is lost at most.
const AGAIN: u64 = 200_000_000;
const MOST_LOST: u32 = 5;

impl Weather {
    /// How long a packet takes.
    pub(super) fn delay(&self, decisions: &mut Decisions) -> u64 {
        let (least, longest) = self.delay;
        let way = if longest > least { decisions.decide(Kind::Net, DELAYS) as u64 } else { 0 };
        least + (longest - least) * way / (DELAYS as u64 - 1)
    }

    /// How much longer a packet takes because TCP sends it again.
    pub(super) fn again(&self, decisions: &mut Decisions) -> u64 {
        let lost = (0..MOST_LOST).take_while(|_| happens(decisions, self.loss)).count();
        if lost > 0 { AGAIN << (lost - 1) } else { 0 }
    }

    /// How often a datagram arrives.
    pub(super) fn copies(&self, decisions: &mut Decisions) -> usize {
        if happens(decisions, self.loss) { 0 } else { 1 + usize::from(happens(decisions, self.dup)) }
    }

    /// Whether a datagram may arrive before those that were sent before.
    pub(super) fn reorders(&self, decisions: &mut Decisions) -> bool {
        happens(decisions, self.reorder)
    }

    /// How many of so many bytes a call that reads leaves for the next one, but not all.
    pub(super) fn unread(&self, decisions: &mut Decisions, bytes: usize) -> usize {
        decisions.happens_in(Kind::Net, self.short, bytes.saturating_sub(1))
    }

    /// The same of a call that writes.
    pub(super) fn untaken(&self, decisions: &mut Decisions, bytes: usize) -> usize {
        decisions.happens_in(Kind::Net, self.full, bytes.saturating_sub(1))
    }

    pub(super) fn resets(&self, decisions: &mut Decisions) -> bool {
        happens(decisions, self.reset)
    }
}

fn happens(decisions: &mut Decisions, rate: u32) -> bool {
    decisions.happens_in(Kind::Net, rate, 1) == 1
}

/// # Errors
///
/// The text is no weather. The error says what is allowed.
pub(in crate::seeded) fn parse(text: Option<&str>) -> Result<Wish, String> {
    let mut wish = Wish { is_simulated: true, allows_real: false, weather: MILD };
    for item in text.unwrap_or_default().split(',').filter(|item| !item.is_empty()) {
        parse_item(item, &mut wish).ok_or_else(|| {
            format!(
                "GMP_SEED_NET: {item:?} is none of kernel, real, calm, delay=1..20ms, short=50%, full=5%, reset=0.1%, loss=1%, dup=1%, reorder=1%"
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_a_list() {
        assert_eq!(parse(None).unwrap(), Wish { is_simulated: true, allows_real: false, weather: MILD });
        assert!(!parse(Some("kernel")).unwrap().is_simulated);
        let wish =
            parse(Some("calm,real,delay=1..20ms,short=50%,full=5%,reset=0.1%,loss=1%,dup=2%,reorder=3%")).unwrap();
        let weather = Weather {
            delay: (1_000_000, 20_000_000),
            short: 500_000,
            full: 50_000,
            reset: 1_000,
            loss: 10_000,
            dup: 20_000,
            reorder: 30_000,
        };
        assert_eq!(wish, Wish { is_simulated: true, allows_real: true, weather });
        assert_eq!(parse_delay("1..20ms"), Some((1_000_000, 20_000_000)));
        assert_eq!(parse_delay("200us..1s"), Some((200_000, 1_000_000_000)));
        assert_eq!(parse_delay("5ms"), Some((5_000_000, 5_000_000)));
    }

    #[test]
    fn bad_weather_is_refused_by_name() {
        for text in ["delay=1", "delay=2..1ms", "delay=-1ms", "short=5", "short=101%", "reset=x%", "rain", "loss"] {
            let error = parse(Some(text)).unwrap_err();
            assert!(error.contains(text) && error.contains("delay=1..20ms"), "{error}");
        }
    }
}
