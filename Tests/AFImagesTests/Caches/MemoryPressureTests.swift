@testable import AFImages

@Suite struct MemoryPressureTests {
    @Test func `observers are called until they end`() {
        let pressure = MemoryPressure()
        let heard = Heard<String>()
        let first = pressure.observe { heard.add("first") }
        var second: MemoryPressure.Observation? = pressure.observe { heard.add("second") }

        pressure.announce()
        #expect(heard.all.sorted() == ["first", "second"])
        _ = second
        second = nil
        pressure.announce()
        first.cancel()
        pressure.announce()

        #expect(heard.all.count == 3 && heard.all.last == "first")
    }

    @Test func `an observer may end itself, and start another one`() {
        let pressure = MemoryPressure()
        let heard = Heard<String>()
        let observations = Heard<MemoryPressure.Observation>()
        observations.add(
            pressure.observe {
                heard.add("once")
                observations.all.first?.cancel()
                observations.add(pressure.observe { heard.add("next") })
            }
        )

        pressure.announce()
        pressure.announce()

        #expect(heard.all == ["once", "next"])
    }

    @Test func `the system's pressure can be observed, whatever the kernel reports`() {
        let observation = MemoryPressure.system.observe {}
        observation.cancel()
    }

    @Test func `a limit that was hit is told by a number that grows`() throws {
        let quiet = try #require(MemoryEvents("low 5\nhigh 0\nmax 1\noom 0\noom_kill 0\n".utf8))
        let protected = try #require(MemoryEvents("low 9\nhigh 0\nmax 1\noom 0\noom_kill 3\n".utf8))
        let limited = try #require(MemoryEvents("low 9\nhigh 0\nmax 2\noom 0\noom_kill 3\n".utf8))

        #expect(!protected.isWorse(than: quiet))
        #expect(limited.isWorse(than: protected))
        #expect(!quiet.isWorse(than: limited))
        #expect(limited.isWorse(than: try #require(MemoryEvents("oom 0\n".utf8))))
        for text in ["", "high", "high x\n", "low 1\n", "high 1 2\n"] { #expect(MemoryEvents(text.utf8) == nil) }
    }

    @Test func `the control group is that of the one hierarchy`() {
        #expect(MemoryEvents.group(Data("12:cpu:/a\n0::/user.slice/b.scope\n".utf8)) == "/user.slice/b.scope")
        #expect(MemoryEvents.group(Data("0::/\n".utf8)) == "/")
        for text in ["", "12:cpu:/a\n", "0::/../b\n", "0::b\n"] { #expect(MemoryEvents.group(Data(text.utf8)) == nil) }
    }
}
