#[gmp_exec::test(start_paused = true)]
async fn a_message_arrives_after_an_hour() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    gmp_exec::spawn(async {
        gmp_exec::time::sleep(std::time::Duration::from_secs(3600)).await;
        sender.send("hello").unwrap();
    });
    assert_eq!(receiver.await, Ok("hello"));
}
