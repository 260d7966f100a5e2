import Testing
import afnet

@Suite struct ArgumentsTests {
    @Test(arguments: [["http://h/"], ["get", "http://h/"], ["--", "http://h/"]])
    func `the word get is not needed`(words: [String]) throws {
        #expect(try Arguments(words).urls == ["http://h/"])
    }

    @Test func `letters stand for the long names and may be run together`() throws {
        let long = try Arguments([
            "--request", "PUT", "--header", "A: b", "--data", "x", "--output", "f", "--include", "--fail",
            "--max-time", "2.5", "--silent", "--show-error", "--verbose", "u",
        ])
        let short = try Arguments(["-sSvif", "-XPUT", "-H", "A: b", "-dx", "-of", "-m2.5", "u"])

        #expect(long == short)
        #expect(long.method == "PUT" && long.maximumTime == 2.5 && long.outputs == ["f"])
    }

    @Test func `the letter I shows the head as well, the long name does not`() throws {
        let long = try Arguments(["--head", "u"])
        let short = try Arguments(["-I", "u"])

        #expect(long.isHead && !long.includesHead)
        #expect(short.isHead && short.includesHead)
    }

    @Test func `several data options are the fields of one form`() throws {
        #expect(try Arguments(["-d", "a=1", "-d", "b=2", "u"]).body == .text("a=1&b=2"))
    }

    @Test func `a header option sets, empties or takes out a field`() throws {
        let fields = try Arguments(["-H", "A:  b: c", "-H", "Empty;", "-H", "Content-Type: ", "u"]).fields

        #expect(
            fields == [.set(name: "A", value: "b: c"), .set(name: "Empty", value: ""), .removed(name: "Content-Type")]
        )
    }

    @Test(arguments: [
        [], ["--nonsense", "u"], ["-q", "u"], ["u", "-o"], ["-m", "soon", "u"], ["-m", "-1", "u"], ["-m", "nan", "u"],
        ["--max-filesize", "1k", "u"], ["-o", "a", "-o", "b", "u"], ["-I", "-d", "x", "u"],
        ["-d", "x", "--data-file", "f", "u"],
    ])
    func `a bad command line is 2`(words: [String]) {
        #expect(throws: ArgumentError.self) { try Arguments(words) }
        #expect { try Arguments(words) } throws: { ($0 as? ArgumentError)?.code == .usage }
    }

    @Test(arguments: [
        ["-H", "no colon", "u"], ["-H", ": x", "u"], ["-H", "Host:", "u"], ["--unix-socket", "", "u"],
        ["--unix-socket", String(repeating: "x", count: 108), "u"],
    ])
    func `a bad value is 43`(words: [String]) {
        #expect { try Arguments(words) } throws: { ($0 as? ArgumentError)?.code == .badArgument }
    }
}
