//! Latencies, what the process has used up to now, and the one line of JSON that the runner reads.
use std::time::{Duration, Instant};
use std::{fs, mem};

pub struct Statistics {
    latencies: Vec<u32>, // in 100 ns
    bytes: u64,          // of bodies, received or sent
    began: Instant,
    began_cpu: f64,
    began_rss_kb: i64,
}

impl Statistics {
    pub fn begin(capacity: usize) -> Self {
        let latencies = Vec::with_capacity(capacity);
        Statistics { latencies, bytes: 0, began_rss_kb: rss_kb(), began_cpu: cpu_seconds(), began: Instant::now() }
    }

    pub fn add(&mut self, latency: Duration, bytes: u64) {
        self.latencies.push((latency.as_nanos() / 100).try_into().unwrap_or(u32::MAX));
        self.bytes += bytes;
    }

    pub fn report(&mut self) {
        let (wall, cpu) = (self.began.elapsed().as_secs_f64(), cpu_seconds() - self.began_cpu);
        let (count, bytes) = (self.latencies.len(), self.bytes as f64);
        let n = count as f64;
        self.latencies.sort_unstable();
        print!(
            "{{\"client\":\"hyperbench\",\"n\":{count},\"rps\":{:.1},\"cpu_us_req\":{:.3},\"p50_us\":{:.1},\
             \"p99_us\":{:.1},\"p999_us\":{:.1},\"rss_kb\":{},\"rss_start_kb\":{},\"wall_s\":{wall:.4},\"bytes\":{}",
            n / wall,
            cpu * 1e6 / n,
            self.percentile(0.5),
            self.percentile(0.99),
            self.percentile(0.999),
            peak_rss_kb(),
            self.began_rss_kb,
            self.bytes
        );
        if bytes / n >= (1 << 20) as f64 {
            print!(",\"mb_s\":{:.1},\"cpu_s_gb\":{:.4}", bytes / wall / 1e6, cpu / (bytes / 1e9));
        }
        println!("}}");
    }

    fn percentile(&self, share: f64) -> f64 {
        self.latencies[(self.latencies.len() as f64 * share) as usize] as f64 / 10.0
    }
}

/// What is held at rest, without what malloc keeps for later.
pub struct Rest {
    rss_kb: i64,
    sockets: i64,
}

impl Rest {
    pub fn now() -> Self {
        unsafe { libc::malloc_trim(0) };
        Rest { rss_kb: rss_kb(), sockets: open_sockets() }
    }

    fn bytes_each(&self, after: &Rest) -> i64 {
        (after.rss_kb - self.rss_kb) * 1024 / (after.sockets - self.sockets).max(1)
    }
}

/// `second`: after another request on each connection.
pub fn report_rest(before: &Rest, first: &Rest, second: &Rest) {
    println!(
        "{{\"client\":\"hyperbench\",\"open\":{},\"rss_per_connection\":{},\"open_2\":{},\"rss_per_connection_2\":{},\
         \"rss_start_kb\":{},\"rss_kb\":{}}}",
        first.sockets - before.sockets,
        before.bytes_each(first),
        second.sockets - before.sockets,
        before.bytes_each(second),
        before.rss_kb,
        peak_rss_kb()
    );
}

/// User and system time of the process.
fn cpu_seconds() -> f64 {
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn kilobytes(path: &str, key: &str) -> i64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(-1)
}

fn peak_rss_kb() -> i64 {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// VmRSS in status is approximate on newer kernels.
fn rss_kb() -> i64 {
    kilobytes("/proc/self/smaps_rollup", "Rss:")
}

fn open_sockets() -> i64 {
    let files = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    files
        .filter_map(|file| fs::read_link(file.path()).ok())
        .filter(|to| to.to_string_lossy().starts_with("socket:"))
        .count() as i64
}
