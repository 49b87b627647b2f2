//! Reads a trace of Perfetto's format, with another encoder's decoder (prost). The numbers of
//! fields are written down here once more, from Perfetto's `.proto` files.

use std::collections::HashMap;

use prost::Message;

#[derive(Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packets: Vec<Packet>,
}

#[derive(Message)]
struct Packet {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned_data: Option<InternedData>,
    #[prost(uint32, tag = "13")]
    sequence_flags: u32,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Message)]
struct TrackEvent {
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, tag = "9")]
    kind: i32,
    #[prost(uint64, optional, tag = "10")]
    name_iid: Option<u64>,
    #[prost(uint64, tag = "11")]
    track_uuid: u64,
    #[prost(int64, optional, tag = "30")]
    counter_value: Option<i64>,
    #[prost(uint64, optional, tag = "34")]
    source_location_iid: Option<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    terminating_flow_ids: Vec<u64>,
}

#[derive(Message)]
struct DebugAnnotation {
    #[prost(uint64, tag = "1")]
    name_iid: u64,
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
    #[prost(string, optional, tag = "6")]
    string_value: Option<String>,
    #[prost(message, repeated, tag = "12")]
    array_values: Vec<ArrayValue>,
}

#[derive(Message)]
struct ArrayValue {
    #[prost(string, optional, tag = "6")]
    string_value: Option<String>,
}

#[derive(Message)]
struct InternedData {
    #[prost(message, repeated, tag = "1")]
    event_categories: Vec<Interned>,
    #[prost(message, repeated, tag = "2")]
    event_names: Vec<Interned>,
    #[prost(message, repeated, tag = "3")]
    debug_annotation_names: Vec<Interned>,
    #[prost(message, repeated, tag = "4")]
    source_locations: Vec<SourceLocation>,
}

#[derive(Message)]
struct Interned {
    #[prost(uint64, tag = "1")]
    iid: u64,
    #[prost(string, tag = "2")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SourceLocation {
    #[prost(uint64, tag = "1")]
    iid: u64,
    #[prost(string, tag = "2")]
    pub(super) file_name: String,
    #[prost(uint32, tag = "4")]
    pub(super) line_number: u32,
}

#[derive(Message)]
struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    uuid: u64,
    #[prost(string, tag = "2")]
    name: String,
}

/// What a test asks for.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub(super) slices: Vec<Slice>,
    pub(super) instants: Vec<Instant>,
    /// By track.
    pub(super) counters: HashMap<String, Vec<(u64, i64)>>,
    /// Where flows begin, and where they end: the times.
    pub(super) flow_begins: HashMap<u64, u64>,
    pub(super) flow_ends: HashMap<u64, u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub(super) track: String,
    pub(super) category: String,
    pub(super) name: String,
    pub(super) task: Option<u64>,
    pub(super) location: Option<SourceLocation>,
    /// Nanoseconds.
    pub(crate) begin: u64,
    /// `None`: the slice had not ended.
    pub(crate) end: Option<u64>,
    pub(super) left: Option<String>,
    /// The system call in which the thread was seen asleep, and the stack.
    pub(super) asleep_in: Option<String>,
    pub(super) stack: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Instant {
    pub(super) track: String,
    pub(super) name: String,
    pub(super) task: Option<u64>,
    pub(super) count: Option<u64>,
    pub(super) at: u64,
}

/// Fails if the trace breaks a rule of the format. Several files may follow each other.
pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    let trace = Trace::decode(bytes).expect("it is protobuf");
    let mut decoded = Decoded::default();
    let mut names = Names::default();
    let mut open = HashMap::<u64, Vec<usize>>::new();
    let mut latest = 0;
    for packet in trace.packets {
        assert_ne!(packet.trusted_packet_sequence_id, 0, "each packet belongs to a sequence");
        if let Some(track) = packet.track_descriptor {
            assert!(names.tracks.insert(track.uuid, track.name).is_none(), "a track is described once");
        }
        if let Some(interned) = packet.interned_data {
            assert_eq!(packet.sequence_flags & 1, 1, "what is interned begins with an empty state");
            names = Names::default();
            names.add(interned);
        }
        if let Some(event) = packet.track_event {
            assert_eq!(packet.sequence_flags, 2, "the event needs what was interned");
            let at = packet.timestamp.expect("an event has a time");
            assert!(at >= latest, "events are in order");
            latest = at;
            add(&mut decoded, &names, &mut open, at, event);
        }
    }
    decoded
}

#[derive(Default)]
struct Names {
    tracks: HashMap<u64, String>,
    events: HashMap<u64, String>,
    categories: HashMap<u64, String>,
    annotations: HashMap<u64, String>,
    locations: HashMap<u64, SourceLocation>,
}

impl Names {
    fn add(&mut self, interned: InternedData) {
        let entries = |list: Vec<Interned>| list.into_iter().map(|entry| (entry.iid, entry.name));
        self.categories.extend(entries(interned.event_categories));
        self.events.extend(entries(interned.event_names));
        self.annotations.extend(entries(interned.debug_annotation_names));
        self.locations.extend(interned.source_locations.into_iter().map(|place| (place.iid, place)));
    }
}

fn add(decoded: &mut Decoded, names: &Names, open: &mut HashMap<u64, Vec<usize>>, at: u64, event: TrackEvent) {
    let track = names.tracks[&event.track_uuid].clone();
    let annotation =
        |name: &str| event.debug_annotations.iter().find(|annotation| names.annotations[&annotation.name_iid] == name);
    let task = annotation("task").and_then(|annotation| annotation.uint_value);
    let name = event.name_iid.map(|iid| names.events[&iid].clone()).unwrap_or_default();
    match event.kind {
        1 => {
            let category = names.categories[&event.category_iids[0]].clone();
            let slices = open.entry(event.track_uuid).or_default();
            assert_eq!(category == "local poll", !slices.is_empty(), "{track}: one slice begins inside another");
            slices.push(decoded.slices.len());
            decoded.slices.push(Slice {
                track,
                category,
                name,
                task,
                location: event.source_location_iid.map(|iid| names.locations[&iid].clone()),
                begin: at,
                end: None,
                left: None,
                asleep_in: annotation("asleep in").and_then(|annotation| annotation.string_value.clone()),
                stack: annotation("stack").map_or_else(Vec::new, |annotation| {
                    annotation.array_values.iter().filter_map(|value| value.string_value.clone()).collect()
                }),
            });
        }
        2 => {
            let index = open.get_mut(&event.track_uuid).and_then(Vec::pop);
            let slice = &mut decoded.slices[index.expect("the end of a slice that has begun")];
            slice.end = Some(at);
            slice.left = annotation("left").and_then(|annotation| annotation.string_value.clone());
        }
        3 => {
            let count = annotation("count").and_then(|annotation| annotation.uint_value);
            decoded.instants.push(Instant { track, name, task, count, at });
        }
        4 => {
            let value = event.counter_value.expect("a counter has a value");
            decoded.counters.entry(track).or_default().push((at, value));
        }
        other => panic!("unknown type {other}"),
    }
    for flow in event.flow_ids {
        assert!(decoded.flow_begins.insert(flow, at).is_none(), "a flow begins once");
    }
    for flow in event.terminating_flow_ids {
        assert!(decoded.flow_ends.insert(flow, at).is_none(), "a flow ends once");
    }
}

impl Decoded {
    /// The polls that ran on processors.
    pub(crate) fn polls(&self) -> impl Iterator<Item = &Slice> {
        self.slices.iter().filter(|slice| slice.category == "poll" && slice.track.starts_with('P'))
    }

    pub(super) fn count(&self, name: &str) -> usize {
        self.instants.iter().filter(|instant| instant.name == name).count()
    }
}
