//! The command line that every client understands.
use std::str::FromStr;

const USAGE: &str = "usage: URL TOTAL CONCURRENCY [--warm N] [--ca FILE] [--close [--resume]]\n       \
                     [--out FILE | --upload FILE | --upload-stream BYTES | --post BYTES | --idle]\n       \
                     [--collect] [--flood chunks]";

#[derive(Default)]
pub struct Arguments {
    pub url: String,
    pub total: usize,
    pub concurrency: usize,
    pub warm: usize,            // requests before the measured ones
    pub ca: Option<String>,     // the only certificates to trust
    pub out: Option<String>,    // where bodies go
    pub upload: Option<String>, // the file to send
    pub upload_stream: u64,     // bytes of a body of unknown length
    pub post: usize,            // bytes of a body that the program has in memory
    pub flood: Option<String>,  // what another connection is flooded with meanwhile
    pub close_each: bool,       // a new connection for every request
    pub resume: bool,           // with it: TLS sessions are resumed
    pub idle: bool,             // measure connections at rest
    pub collect: bool,          // the body is wanted as one value
}

impl Arguments {
    pub fn parse() -> Self {
        let mut words = std::env::args().skip(1);
        let mut next = || words.next().unwrap_or_else(|| refuse(USAGE));
        let (url, total, concurrency) = (next(), number(&next(), 1), number(&next(), 1));
        let mut arguments = Arguments { url, total, concurrency, ..Default::default() };
        while let Some(word) = words.next() {
            arguments.take(&word, &mut words);
        }
        arguments.check();
        arguments
    }

    fn take(&mut self, word: &str, words: &mut impl Iterator<Item = String>) {
        let mut value = || words.next().unwrap_or_else(|| refuse(&format!("the value is missing: {word}")));
        match word {
            "--close" => self.close_each = true,
            "--resume" => self.resume = true,
            "--idle" => self.idle = true,
            "--collect" => self.collect = true,
            "--warm" => self.warm = number(&value(), 0),
            "--ca" => self.ca = Some(value()),
            "--out" => self.out = Some(value()),
            "--upload" => self.upload = Some(value()),
            "--flood" => self.flood = Some(value()),
            "--post" => self.post = number(&value(), 1),
            "--upload-stream" => self.upload_stream = number(&value(), 1),
            _ => refuse(&format!("unknown option, or not one for hyper: {word}")),
        }
    }

    fn check(&self) {
        if self.flood.as_deref().map_or(false, |flood| flood != "chunks") {
            refuse("hyper has no WebSockets");
        }
        let modes = [self.out.is_some(), self.upload.is_some(), self.upload_stream > 0, self.post > 0, self.idle];
        if modes.iter().filter(|&&mode| mode).count() > 1 {
            refuse("one of --out, --upload, --upload-stream, --post and --idle at a time");
        }
        if self.out.is_some() && self.concurrency > 1 {
            refuse("one file: --out goes with CONCURRENCY 1");
        }
    }
}

fn number<N: FromStr + PartialOrd>(text: &str, least: N) -> N {
    match text.parse() {
        Ok(value) if value >= least => value,
        _ => refuse(&format!("not a fitting number: {text}")),
    }
}

/// For what this program cannot do, and for words it does not know.
fn refuse(what: &str) -> ! {
    eprintln!("hyperbench: {what}");
    std::process::exit(2)
}
