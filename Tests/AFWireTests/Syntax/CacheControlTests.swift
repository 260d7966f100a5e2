import AFWire
import Testing

struct CacheControlTests {
    @Test func `directives are read without regard to case`() {
        let control = CacheControl("NO-STORE, No-Cache,private ,public, must-revalidate,\timmutable, must-understand")

        #expect(control.noStore && control.noCache && control.isPrivate && control.isPublic)
        #expect(control.mustRevalidate && control.immutable && control.mustUnderstand)
        #expect(!control.noTransform && !control.onlyIfCached && !control.proxyRevalidate)
    }

    @Test(
        arguments: [
            ("max-age=60", 60), ("max-age=\"60\"", 60), ("max-age = 60", 60), ("MAX-AGE=0", 0), ("max-age=007", 7),
            ("max-age", 0), ("max-age=", 0), ("max-age=-1", 0), ("max-age=+5", 0), ("max-age=1.5", 0),
            ("max-age=0x10", 0), ("max-age=nan", 0), ("max-age=\"\"", 0), ("max-age=60, max-age=5", 5),
            ("max-age=5, max-age=60", 5), ("max-age=60, max-age=x", 0), ("max-age=2147483648", 1 << 31),
            ("max-age=99999999999999999999999999", 1 << 31), ("a=\"max-age=9\", max-age=1", 1), ("x-max-age=5", nil),
            ("max-age=1 2", 1), ("", nil), ("=", nil), ("x=\"max-age=5", nil), ("max-age=６", 0),
        ] as [(String, Int64?)]
    )
    func `an age is digits, and the shortest of several counts`(text: String, seconds: Int64?) {
        #expect(CacheControl(text).maxAge == seconds)
    }

    @Test func `other ages are read alike`() {
        let control = CacheControl("s-maxage=1, stale-while-revalidate=2, stale-if-error=3, min-fresh=4, max-stale=5")

        #expect(control.sharedMaxAge == 1)
        #expect(control.staleWhileRevalidate == 2)
        #expect(control.staleIfError == 3)
        #expect(control.minFresh == 4)
        #expect(control.maxStale == 5)
    }

    @Test func `max-stale without a value accepts any age`() {
        #expect(CacheControl("max-stale").maxStale == .max)
        #expect(CacheControl("max-stale=x").maxStale == 0)
        #expect(CacheControl("max-stale, max-stale=9").maxStale == 9)
    }

    @Test func `field lists of no-cache and private count as the plain directive`() {
        let control = CacheControl("no-cache=\"set-cookie, x\", private=\"y\"")

        #expect(control.noCache && control.isPrivate)
    }

    @Test func `several lines add up`() {
        var control = CacheControl("max-age=60")

        "no-store, max-age=10".withUTF8Bytes { control.add($0) }

        #expect(control.noStore)
        #expect(control.maxAge == 10)
    }
}
