//! Two handlers lock two mutexes of tokio's in opposite order.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use tokio::sync::Mutex;
use tokio::time::sleep;

use crate::handlers::serve;

#[derive(Clone)]
struct Shop {
    orders: Arc<Mutex<u32>>,
    stock: Arc<Mutex<u32>>,
}

async fn order(shop: Shop) {
    let mut orders = shop.orders.lock().await;
    sleep(Duration::from_millis(100)).await;
    let mut stock = shop.stock.lock().await;
    (*orders, *stock) = (*orders + 1, *stock - 1);
}

async fn restock(shop: Shop) {
    let mut stock = shop.stock.lock().await;
    sleep(Duration::from_millis(100)).await;
    *stock += *shop.orders.lock().await;
}

pub async fn deadlock() {
    let orders = Arc::new(Mutex::new(0));
    let stock = Arc::new(Mutex::new(1_000_000));
    let shop = Shop { orders, stock };
    let other = shop.clone();
    let routes = Router::new()
        .route("/order", get(move || order(shop.clone())))
        .route("/restock", get(move || restock(other.clone())));
    serve(routes, &["order", "restock"]).await;
}
