//! Three nodes elect a leader, as Raft does, in terms that count up. A node that does not hear from a leader
//! for a while begins a new term, and asks the others for their votes.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

const PORT: u16 = 7_000;
const ANSWERS_WITHIN: Duration = Duration::from_millis(50);
const BETWEEN_HEARTBEATS: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum Question {
    /// Whether the sender may lead in this term.
    Vote,
    /// Whether the sender still leads in this term.
    Heartbeat,
}

#[derive(Debug, Default)]
struct Node {
    /// The highest that the node has heard of, or voted in.
    term: Mutex<u64>,
    hears_from_leader: Notify,
}

/// Runs a node whose peers have these addresses. `leads` is called with each term in which it leads.
pub async fn run(own: Ipv4Addr, peers: [Ipv4Addr; 2], leads: impl Fn(u64)) {
    let node = Arc::new(Node::default());
    let listener = TcpListener::bind((own, PORT)).await.expect("no other node has this address");
    tokio::spawn(answer_all(listener, node.clone()));
    loop {
        let patience = Duration::from_millis(fastrand::u64(150..300));
        if timeout(patience, node.hears_from_leader.notified()).await.is_ok() {
            continue;
        }
        let term = node.next_term();
        if is_elected(peers, term).await {
            leads(term);
            lead(&node, peers, term).await;
        }
    }
}

/// Whether most nodes vote for this one, which votes for itself.
async fn is_elected(peers: [Ipv4Addr; 2], term: u64) -> bool {
    let answers = ask_all(peers, Question::Vote, term).await;
    let votes = 1 + answers.iter().filter(|answer| **answer == Some(true)).count();
    let nodes = 1 + answers.iter().flatten().count();
    votes * 2 > nodes
}

/// Until a peer knows of a later term.
async fn lead(node: &Node, peers: [Ipv4Addr; 2], term: u64) {
    while node.term() == term && !ask_all(peers, Question::Heartbeat, term).await.contains(&Some(false)) {
        sleep(BETWEEN_HEARTBEATS).await;
    }
}

async fn ask_all([one, other]: [Ipv4Addr; 2], question: Question, term: u64) -> [Option<bool>; 2] {
    tokio::join!(ask(one, question, term), ask(other, question, term)).into()
}

/// The answer, if there is one in time.
async fn ask(peer: Ipv4Addr, question: Question, term: u64) -> Option<bool> {
    let asking = async {
        let mut stream = TcpStream::connect((peer, PORT)).await?;
        stream.write_u8(question as u8).await?;
        stream.write_u64(term).await?;
        stream.read_u8().await
    };
    Some(timeout(ANSWERS_WITHIN, asking).await.ok()?.ok()? == 1)
}

async fn answer_all(listener: TcpListener, node: Arc<Node>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(answer(stream, node.clone()));
    }
}

async fn answer(mut stream: TcpStream, node: Arc<Node>) -> std::io::Result<()> {
    let is_vote = stream.read_u8().await? == Question::Vote as u8;
    let term = stream.read_u64().await?;
    let says_yes = node.hear(is_vote, term);
    stream.write_u8(says_yes.into()).await
}

impl Node {
    fn term(&self) -> u64 {
        *self.term.lock().unwrap()
    }

    fn next_term(&self) -> u64 {
        let mut term = self.term.lock().unwrap();
        *term += 1;
        *term
    }

    /// A node votes once in a term, and follows the leader of its term or of a later one.
    fn hear(&self, is_vote: bool, term: u64) -> bool {
        let mut own = self.term.lock().unwrap();
        let says_yes = if is_vote { term > *own } else { term >= *own };
        *own = term.max(*own);
        if says_yes {
            self.hears_from_leader.notify_one();
        }
        says_yes
    }
}
