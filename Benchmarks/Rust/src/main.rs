//! hyper as programs use it: its client with a pool on tokio's default runtime, and rustls. There are as many tasks as
//! requests in flight, each loading one after the other.
mod arguments;
mod statistics;

use arguments::Arguments;
use hyper::body::HttpBody;
use hyper::client::{Client, HttpConnector};
use hyper::header::CONTENT_LENGTH;
use hyper::{Body, Request, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use rustls::client::NoClientSessionStorage;
use rustls::{ClientConfig, RootCertStore};
use statistics::{report_rest, Rest, Statistics};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio_util::io::ReaderStream;

const PIECE: usize = 65536; // of an upload

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Bench {
    arguments: Arguments,
    client: Client<HttpsConnector<HttpConnector>>,
    statistics: Mutex<Statistics>,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let (url, total, warm, idle) = (arguments.url.parse()?, arguments.total, arguments.warm, arguments.idle);
    let bench = Arc::new(Bench::new(arguments)?);
    if idle {
        return bench.rest(&url).await;
    }
    bench.begin_flood(&url).await?;
    bench.run(&url, warm).await?;
    bench.begin(total);
    bench.run(&url, total).await?;
    bench.statistics.lock().unwrap().report();
    Ok(())
}

// MARK: Client

fn connector(arguments: &Arguments) -> Result<HttpsConnector<HttpConnector>, Failure> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = &arguments.ca {
        roots.add_parsable_certificates(&rustls_pemfile::certs(&mut &std::fs::read(path)?[..])?);
    }
    let mut config = ClientConfig::builder().with_safe_defaults().with_root_certificates(roots).with_no_client_auth();
    if !arguments.resume {
        config.session_storage = Arc::new(NoClientSessionStorage {});
    }
    // This version of rustls verifies names only, and the URL has an address.
    let builder = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http();
    Ok(builder.with_server_name("localhost".into()).enable_http1().build())
}

impl Bench {
    fn new(arguments: Arguments) -> Result<Self, Failure> {
        let mut builder = Client::builder();
        if arguments.close_each {
            builder.pool_max_idle_per_host(0);
        }
        let client = builder.build(connector(&arguments)?);
        Ok(Bench { arguments, client, statistics: Mutex::new(Statistics::begin(0)) })
    }

    /// What the warm-up counted is forgotten.
    fn begin(&self, capacity: usize) {
        *self.statistics.lock().unwrap() = Statistics::begin(capacity);
    }

    /// Begins the flood, and returns when its server has answered.
    async fn begin_flood(&self, url: &Uri) -> Result<(), Failure> {
        if let Some(flood) = &self.arguments.flood {
            let mut place = url.clone().into_parts();
            place.path_and_query = Some(format!("/{flood}").parse()?);
            let mut body = self.client.get(Uri::from_parts(place)?).await?.into_body();
            tokio::spawn(async move { while let Some(Ok(_)) = body.data().await {} });
        }
        Ok(())
    }

    // MARK: Requests

    async fn request(&self, url: &Uri) -> Result<(Request<Body>, u64), Failure> {
        if let Some(path) = &self.arguments.upload {
            let file = File::open(path).await?;
            let length = file.metadata().await?.len();
            return Ok((Request::post(url).header(CONTENT_LENGTH, length).body(stream_of(file))?, length));
        }
        if self.arguments.post > 0 {
            let body = vec![b'x'; self.arguments.post];
            return Ok((Request::post(url).body(Body::from(body))?, self.arguments.post as u64));
        }
        let length = self.arguments.upload_stream;
        if length > 0 {
            return Ok((Request::post(url).body(stream_of(tokio::io::repeat(0).take(length)))?, length));
        }
        Ok((Request::get(url).body(Body::empty())?, 0))
    }

    /// Takes a response, and says how long its body was.
    async fn finish(&self, mut body: Body) -> Result<u64, Failure> {
        if self.arguments.collect {
            return Ok(hyper::body::to_bytes(body).await?.len() as u64);
        }
        let mut out = match &self.arguments.out {
            Some(path) => Some(File::create(path).await?),
            None => None,
        };
        let mut received = 0;
        while let Some(data) = body.data().await.transpose()? {
            received += data.len() as u64;
            if let Some(file) = &mut out {
                file.write_all(&data).await?;
            }
        }
        if let Some(file) = &mut out {
            file.flush().await?;
        }
        Ok(received)
    }

    async fn load(&self, url: &Uri) -> Result<(), Failure> {
        let began = Instant::now();
        let (request, sent) = self.request(url).await?;
        let response = self.client.request(request).await?;
        if response.status() != StatusCode::OK {
            return Err(format!("status {}", response.status()).into());
        }
        let received = self.finish(response.into_body()).await?;
        let bytes = if sent > 0 { sent } else { received };
        self.statistics.lock().unwrap().add(began.elapsed(), bytes);
        Ok(())
    }

    async fn load_while_any_is_left(&self, url: &Uri, left: &AtomicUsize) -> Result<(), Failure> {
        while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
            self.load(url).await?;
        }
        Ok(())
    }

    async fn run(self: &Arc<Self>, url: &Uri, requests: usize) -> Result<(), Failure> {
        let left = Arc::new(AtomicUsize::new(requests));
        let start = |_| {
            let (bench, url, left) = (self.clone(), url.clone(), left.clone());
            tokio::spawn(async move { bench.load_while_any_is_left(&url, &left).await })
        };
        let tasks: Vec<_> = (0..self.arguments.concurrency).map(start).collect();
        for task in tasks {
            task.await??;
        }
        Ok(())
    }

    // MARK: Connections at rest

    async fn rest_after(self: &Arc<Self>, url: &Uri, requests: usize) -> Result<Rest, Failure> {
        self.run(url, requests).await?;
        self.begin(0);
        Ok(Rest::now())
    }

    async fn rest(self: &Arc<Self>, url: &Uri) -> Result<(), Failure> {
        let mut quick = url.clone().into_parts();
        quick.path_and_query = Some("/small".parse()?);
        let before = self.rest_after(&Uri::from_parts(quick)?, 1).await?;
        let first = self.rest_after(url, self.arguments.concurrency).await?;
        let second = self.rest_after(url, self.arguments.concurrency).await?;
        report_rest(&before, &first, &second);
        Ok(())
    }
}

fn stream_of(source: impl AsyncRead + Send + 'static) -> Body {
    Body::wrap_stream(ReaderStream::with_capacity(source, PIECE))
}
