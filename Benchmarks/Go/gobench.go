// Go's net/http as programs use it: one http.Client, and one goroutine for each request in flight, which makes one
// request after the other. It takes the arguments of arguments.h and prints the report of statistics.h.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type arguments struct {
	url                string
	body               []byte // of --post
	total, concurrency int64
	warm               *int64
	ca, out, upload    *string
	uploadStream       *int64 // bytes of a body of unknown length
	post               *int64 // bytes of a body that the program has in memory
	flood              *string // what another connection is flooded with meanwhile
	close, resume      *bool
	collect            *bool // the body is wanted as one value
	coded              *bool // the body may come compressed
}

// Unknown options end the program with status 2, which says that it cannot do this.
func parse(words []string) *arguments {
	options := flag.NewFlagSet("gobench", flag.ExitOnError)
	options.Usage = func() {}
	a := &arguments{
		warm:         options.Int64("warm", 0, ""),
		ca:           options.String("ca", "", ""),
		out:          options.String("out", "", ""),
		upload:       options.String("upload", "", ""),
		uploadStream: options.Int64("upload-stream", 0, ""),
		post:         options.Int64("post", 0, ""),
		collect:      options.Bool("collect", false, ""),
		coded:        options.Bool("coded", false, ""),
		flood:        options.String("flood", "", ""),
		close:        options.Bool("close", false, ""),
		resume:       options.Bool("resume", false, ""),
	}
	if len(words) < 3 {
		fmt.Fprintln(os.Stderr, "gobench: usage: URL TOTAL CONCURRENCY [--warm N] [--ca FILE] [--close [--resume]]\n"+
			"         [--out FILE | --upload FILE | --upload-stream BYTES | --post BYTES]\n"+
			"         [--collect] [--coded] [--flood chunks]")
		os.Exit(2)
	}
	a.url, a.total, a.concurrency = words[0], number(words[1]), number(words[2])
	options.Parse(words[3:])
	a.body = bytes.Repeat([]byte("x"), int(*a.post))
	if *a.flood != "" && *a.flood != "chunks" {
		fmt.Fprintln(os.Stderr, "gobench: the standard library has no WebSockets")
		os.Exit(2)
	}
	return a
}

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	fail(err)
	return value
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "gobench:", err)
		os.Exit(1)
	}
}

// MARK: Requests

func (a *arguments) client() *http.Client {
	trust := &tls.Config{CurvePreferences: []tls.CurveID{tls.X25519}} // else it makes a post-quantum key too
	if *a.ca != "" {
		pem, err := os.ReadFile(*a.ca)
		fail(err)
		trust.RootCAs = x509.NewCertPool()
		trust.RootCAs.AppendCertsFromPEM(pem)
	}
	if *a.resume {
		trust.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: int(a.concurrency),
		DisableKeepAlives:   *a.close,
		DisableCompression:  !*a.coded,
		TLSClientConfig:     trust,
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{}, // no HTTP/2
	}}
}

// So many zeroes: a body whose length shows at its end.
type zeroes struct{ left int64 }

func (z *zeroes) Read(to []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	to = to[:min(int64(len(to)), z.left)]
	clear(to)
	z.left -= int64(len(to))
	return len(to), nil
}

func (a *arguments) request() (*http.Request, error) {
	if *a.uploadStream > 0 {
		return http.NewRequest("POST", a.url, &zeroes{*a.uploadStream})
	}
	if *a.post > 0 {
		return http.NewRequest("POST", a.url, bytes.NewReader(a.body))
	}
	if *a.upload == "" {
		return http.NewRequest("GET", a.url, nil)
	}
	file, err := os.Open(*a.upload)
	fail(err)
	status, err := file.Stat()
	fail(err)
	request, err := http.NewRequest("POST", a.url, file)
	request.ContentLength = status.Size()
	return request, err
}

// The bytes of the body that was received, or sent.
func (a *arguments) load(client *http.Client) int64 {
	request, err := a.request()
	fail(err)
	response, err := client.Do(request)
	fail(err)
	defer response.Body.Close()
	if response.StatusCode != 200 {
		fail(fmt.Errorf("status %d", response.StatusCode))
	}
	received, err := a.take(response.Body)
	fail(err)
	return max(received, request.ContentLength, *a.uploadStream)
}

func (a *arguments) take(body io.Reader) (int64, error) {
	if *a.collect {
		all, err := io.ReadAll(body)
		return int64(len(all)), err
	}
	if *a.out == "" {
		return io.Copy(io.Discard, body)
	}
	file, err := os.Create(*a.out)
	fail(err)
	defer file.Close()
	return io.Copy(file, body)
}

// How long each request took, and the bytes of all bodies.
func (a *arguments) run(client *http.Client, total int64) ([]time.Duration, int64) {
	var claimed, taken atomic.Int64
	var all sync.WaitGroup
	times := make([]time.Duration, total)
	for range min(a.concurrency, total) {
		all.Add(1)
		go func() {
			defer all.Done()
			for place := claimed.Add(1) - 1; place < total; place = claimed.Add(1) - 1 {
				began := time.Now()
				taken.Add(a.load(client))
				times[place] = time.Since(began)
			}
		}()
	}
	all.Wait()
	return times, taken.Load()
}

// Begins the flood, and returns when its server has answered.
func (a *arguments) beginFlood(client *http.Client) {
	if *a.flood == "" {
		return
	}
	response, err := client.Get(a.url[:strings.LastIndex(a.url, "/")+1] + *a.flood)
	fail(err)
	go io.Copy(io.Discard, response.Body)
}

// MARK: The report

func cpuSeconds() float64 {
	var usage syscall.Rusage
	fail(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func kilobytes(path, key string) (value int) {
	text, _ := os.ReadFile(path)
	_, rest, _ := strings.Cut(string(text), key)
	fmt.Sscan(rest, &value)
	return value
}

func rounded(value float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(value*scale) / scale
}

func main() {
	a := parse(os.Args[1:])
	client := a.client()
	a.beginFlood(client)
	a.run(client, *a.warm)
	startRSS, startCPU, start := kilobytes("/proc/self/smaps_rollup", "\nRss:"), cpuSeconds(), time.Now()
	times, bytes := a.run(client, a.total)
	wall, cpu, n := time.Since(start).Seconds(), cpuSeconds()-startCPU, float64(a.total)
	slices.Sort(times)
	percentile := func(share float64) float64 { return rounded(float64(times[int(n*share)].Nanoseconds())/1e3, 1) }
	report := map[string]any{
		"client": "gobench", "n": a.total, "rps": rounded(n/wall, 1), "cpu_us_req": rounded(cpu*1e6/n, 3),
		"p50_us": percentile(0.5), "p99_us": percentile(0.99), "p999_us": percentile(0.999),
		"rss_kb": kilobytes("/proc/self/status", "\nVmHWM:"), "rss_start_kb": startRSS, "wall_s": rounded(wall, 4),
		"bytes": bytes,
	}
	if float64(bytes)/n >= 1<<20 {
		report["mb_s"], report["cpu_s_gb"] = rounded(float64(bytes)/wall/1e6, 1), rounded(cpu*1e9/float64(bytes), 4)
	}
	line, _ := json.Marshal(report)
	fmt.Println(string(line))
}
