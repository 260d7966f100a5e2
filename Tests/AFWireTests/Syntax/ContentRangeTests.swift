import AFWire
import Testing

struct ContentRangeTests {
    @Test(
        arguments: [
            ("bytes 0-0/1", 0, 0, 1), ("bytes 100-199/200", 100, 199, 200), ("BYTES 5-9/*", 5, 9, nil),
            ("bytes 0-9223372036854775806/9223372036854775807", 0, Int64.max - 1, Int64.max),
            ("bytes 007-008/0010", 7, 8, 10),
        ] as [(String, Int64, Int64, Int64?)]
    )
    func `a range of bytes is read, T-FIL-12`(text: String, first: Int64, last: Int64, total: Int64?) {
        let range = ContentRange(text)

        #expect(range?.span == first...last)
        #expect(range?.total == total)
    }

    @Test(arguments: ["bytes */0", "bytes */200"])
    func `a range that nothing satisfies has a length only`(text: String) {
        #expect(ContentRange(text)?.span == nil)
        #expect(ContentRange(text)?.total != nil)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes=0-1/2", "bytes 0-1", "bytes 0-1/", "bytes 0-/2", "bytes -1/2", "bytes 1/2",
        "bytes 1-0/2", "bytes 199-100/200", "bytes 0-2/2", "bytes 100-199/150", "bytes 0-0/0", "items 0-1/2",
        "byte 0-1/2", "bytess 0-1/2", "bytes  0-1/2", " bytes 0-1/2", "bytes\t0-1/2", "bytes 0 -1/2", "bytes 0- 1/2",
        "bytes 0-1 /2", "bytes 0-1/ 2", "bytes 0-1/2 ", "bytes 0-1/2,3-4/5", "bytes 0-1,3-4/5", "bytes 0-1/2/3",
        "bytes 0-1-2/3", "bytes +0-1/2", "bytes 0-+1/2", "bytes 0-1/+2", "bytes -0-1/2", "bytes 0x0-1/2",
        "bytes 0-1/0x2", "bytes 0.0-1/2", "bytes 0-1/2.0", "bytes 0-9223372036854775808/*",
        "bytes 9223372036854775808-9223372036854775809/*", "bytes 0-1/9223372036854775808",
        "bytes 0-1/99999999999999999999999999", "bytes */*", "bytes *", "bytes */", "bytes */-1", "bytes **/2",
        "bytes *-*/2", "bytes 0-*/2", "bytes *-1/2", "bytes 0-1/**", "bytes 0-1/a", "bytes a-b/c", "bytes ٠-١/٢",
        "bytes 0-1\u{0}/2", "none", "*", "0-1/2", "/", "-/", "bytes /",
    ])
    func `anything else is no range, T-FIL-12`(text: String) {
        #expect(ContentRange(text) == nil)
    }
}
