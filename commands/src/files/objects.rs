//! A store of files in a directory, or in a bucket of S3 or something that speaks like it.

use std::path::Path;
use std::sync::Arc;

use bursar_domain::kernel::FileId;
use futures_util::future::{BoxFuture, ready};
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{Error, ObjectStore, ObjectStoreExt as _};

use super::{FileStore, StoreDown};

/// Files as objects.
#[derive(Debug, Clone)]
pub struct ObjectFiles(Arc<dyn ObjectStore>);

/// Where a bucket is.
#[derive(Debug, Clone, Default)]
pub struct Bucket {
    /// Its name.
    pub name: String,
    /// Its region.
    pub region: String,
    /// The address of a server that speaks like S3; Amazon's own when absent.
    pub endpoint: Option<String>,
    /// Key id and secret; what the machine has (environment, instance role) when absent.
    pub credentials: Option<(String, String)>,
}

/// The store cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum UnusableStore {
    /// The directory cannot be made or written to.
    #[error("the directory: {0}")]
    Directory(std::io::Error),
    /// What is said about the bucket does not fit together.
    #[error("the store: {0}")]
    Store(#[from] Error),
}

impl ObjectFiles {
    /// Files below `directory`, which is made when it is not there and which only we can read.
    ///
    /// # Errors
    /// [`UnusableStore`].
    pub fn directory(directory: &Path) -> Result<Self, UnusableStore> {
        use std::os::unix::fs::DirBuilderExt as _;
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(UnusableStore::Directory)?;
        let store = LocalFileSystem::new_with_prefix(directory)?.with_fsync(true);
        Ok(Self(Arc::new(store)))
    }

    /// Files in a bucket.
    ///
    /// # Errors
    /// [`UnusableStore`].
    pub fn bucket(bucket: Bucket) -> Result<Self, UnusableStore> {
        let mut builder =
            AmazonS3Builder::from_env().with_bucket_name(bucket.name).with_region(bucket.region);
        if let Some(endpoint) = bucket.endpoint {
            builder = builder.with_allow_http(endpoint.starts_with("http:")).with_endpoint(endpoint);
        }
        if let Some((id, secret)) = bucket.credentials {
            builder = builder.with_access_key_id(id).with_secret_access_key(secret);
        }
        Ok(Self(Arc::new(builder.build()?)))
    }
}

impl FileStore for ObjectFiles {
    fn put(&self, id: FileId, bytes: Vec<u8>) -> BoxFuture<'_, Result<(), StoreDown>> {
        async move { self.0.put(&key(id), bytes.into()).await.map(drop).map_err(|e| down(&e)) }.boxed()
    }

    fn get(&self, id: FileId) -> BoxFuture<'_, Result<Option<Vec<u8>>, StoreDown>> {
        async move {
            let found = match self.0.get(&key(id)).await {
                Ok(found) => found.bytes().await,
                Err(error) => Err(error),
            };
            match found {
                Ok(bytes) => Ok(Some(bytes.into())),
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(down(&error)),
            }
        }
        .boxed()
    }

    fn delete(&self, id: FileId) -> BoxFuture<'_, Result<(), StoreDown>> {
        async move {
            match self.0.delete(&key(id)).await {
                Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(down(&error)),
            }
        }
        .boxed()
    }

    fn list(&self) -> BoxStream<'_, Result<FileId, StoreDown>> {
        let ids = self.0.list(None).filter_map(|found| {
            // Whatever else lies there is not ours.
            ready(match found {
                Ok(meta) => meta.location.filename().and_then(|name| name.parse().ok()).map(Ok),
                Err(error) => Some(Err(down(&error))),
            })
        });
        ids.boxed()
    }
}

/// 256 directories, by the last two digits of the name, which are random.
fn key(id: FileId) -> Key {
    let name = id.to_string();
    let shard = name.get(name.len().saturating_sub(2)..).unwrap_or_default().to_owned();
    Key::from_iter([shard, name])
}

fn down(error: &Error) -> StoreDown {
    tracing::error!(%error, "the file store failed");
    StoreDown
}
