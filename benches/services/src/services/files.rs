//! A server of files.

use axum::Router;
use tower_http::services::ServeDir;

pub(super) fn router() -> Router {
    let folder = tempfile::tempdir().expect("a folder can be made").keep();
    std::fs::write(folder.join("page"), [b'x'; 16 << 10]).expect("a file can be written");
    Router::new().nest_service("/files", ServeDir::new(folder))
}
