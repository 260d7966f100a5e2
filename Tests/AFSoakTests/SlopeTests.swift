import Testing

@testable import afnet_soak

@Suite("Lines through points")
struct SlopeTests {
    /// The same ones each time, between -1 and 1.
    private static func noise(_ index: Int) -> Double {
        let bits = UInt64(index + 1) &* 0x9E37_79B9_7F4A_7C15
        return Double((bits ^ bits >> 29) >> 11) / Double(1 << 52) - 1
    }

    private static func points(_ count: Int, slope: Double, noise amount: Double) -> [(x: Double, y: Double)] {
        (0..<count).map { index in
            let x = Double(index) * 100
            return (x, 5_000_000 + slope * x + noise(index) * amount)
        }
    }

    @Test func `what stays unclear is told, and wrong where all repetitions were made`() {
        let summary = SlopeRun.Summary(count: 9, wrong: ["a leak"], unclear: ["a cache", "a pool"])

        #expect(summary.line == "9 kinds, 1 of them wrong, 2 unclear: a cache, a pool")
        #expect(summary.problems(isFull: false) == ["a leak"])
        #expect(summary.problems(isFull: true) == ["a leak", "a cache, which is unclear", "a pool, which is unclear"])
        #expect(SlopeRun.Summary(count: 9).problems(isFull: true) == [])
    }

    @Test func `a line is found as it is`() throws {
        let slope = try #require(Slope(through: Self.points(20, slope: 3, noise: 0)))

        #expect(abs(slope.value - 3) < 1e-6 && slope.uncertainty < 1e-3)
    }

    @Test(arguments: [(5.0, 4.032), (10, 3.169), (30, 2.75), (1000, 2.581)])
    func `the uncertainty is that of Student's distribution`(freedoms: Double, quantile: Double) {
        #expect(abs(Slope.quantile(freedoms: freedoms) - quantile) < 0.03)
    }

    @Test(arguments: [8.0, 16, 1000])
    func `eight bytes each are found in the noise of some kilobytes`(leak: Double) throws {
        let slope = try #require(Slope(secondHalfOf: Self.points(80, slope: leak, noise: 4000)))

        #expect(slope.verdict(bar: 7) == .grows)
        #expect(slope.least < leak && leak < slope.most)
    }

    @Test func `noise alone is flat`() throws {
        let slope = try #require(Slope(secondHalfOf: Self.points(80, slope: 0, noise: 4000)))

        #expect(slope.verdict(bar: 8) == .flat)
    }

    @Test func `too much noise says nothing`() throws {
        let slope = try #require(Slope(secondHalfOf: Self.points(20, slope: 0, noise: 400_000)))

        #expect(slope.verdict(bar: 8) == .unclear)
    }

    @Test func `what is set up at first is not counted`() throws {
        let points = (0..<80).map { (x: Double($0), y: $0 < 38 ? Double($0) * 10_000 : 400_000) }

        #expect(try #require(Slope(secondHalfOf: points)).verdict(bar: 8) == .flat)
    }

    @Test func `a few points are no line`() {
        #expect(Slope(secondHalfOf: Self.points(6, slope: 1, noise: 0)) == nil)
        #expect(Slope(through: [(1, 1), (1, 2), (1, 3), (1, 4)]) == nil)
    }
}
