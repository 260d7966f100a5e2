@testable import AFURLSession

/// A download in parts: who loads what.
@Suite("Parts") enum PartsTests {}

extension PartsTests {
    struct Plan {
        private static let megabyte: Int64 = 1 << 20

        private func instant(_ seconds: Int64) -> LoopInstant { LoopInstant(nanoseconds: seconds * 1_000_000_000) }

        private func begin(_ count: Int, of plan: inout PartPlan, at second: Int64 = 0) -> [Range<Int64>] {
            (1...count).compactMap { plan.begin($0, at: instant(second)) }
        }

        @Test func `a file is divided into parts of equal length, which begin where a page does`() {
            var plan = PartPlan(total: 10_000_000, count: 3, smallest: Self.megabyte)
            #expect(begin(3, of: &plan) == [0..<3_330_048, 3_330_048..<6_664_192, 6_664_192..<10_000_000])
            #expect((1...3).allSatisfy { plan.awaited(by: $0) != nil })
            #expect(plan.missing == [0..<10_000_000] && plan.missingCount == 10_000_000)
        }

        @Test(
            arguments: [
                (1, 8, 1), (4095, 8, 1), (Plan.megabyte, 8, 1), (2 * Plan.megabyte, 8, 2),
                (3 * Plan.megabyte - 1, 8, 2),
                (9 * Plan.megabyte, 8, 8), (9 * Plan.megabyte, 1, 1), (9 * Plan.megabyte, 0, 1),
            ] as [(Int64, Int, Int)]
        )
        func `no part is smaller than the smallest, and there is one at least`(total: Int64, count: Int, parts: Int) {
            var plan = PartPlan(total: total, count: count, smallest: Self.megabyte)
            let ranges = begin(parts, of: &plan)
            #expect(ranges.count == parts)
            #expect(ranges.first?.lowerBound == 0 && ranges.last?.upperBound == total)
        }

        @Test func `the part that needs the longest time is split, and not the one with the most bytes`() {
            let (middle, total) = (30 * Self.megabyte, 40 * Self.megabyte)
            var plan = PartPlan(total: total, missing: [0..<middle, middle..<total], smallest: Self.megabyte)
            _ = begin(2, of: &plan)
            // After ten seconds the first has 15 of 30, the second 1 of 10.
            plan.arrived(Int(15 * Self.megabyte), of: 1)
            plan.arrived(Int(Self.megabyte), of: 2)
            let split = plan.begin(3, at: instant(10))
            #expect(split == (31 * Self.megabyte + 9 * Self.megabyte / 2)..<40 * Self.megabyte)
            #expect(plan.awaited(by: 2) == 31 * Self.megabyte..<(31 * Self.megabyte + 9 * Self.megabyte / 2))
            #expect(plan.awaited(by: 1) == 15 * Self.megabyte..<30 * Self.megabyte)
        }

        @Test func `a part that would leave too little is not split`() {
            var plan = PartPlan(total: 2 * Self.megabyte, count: 1, smallest: Self.megabyte)
            _ = begin(1, of: &plan)
            plan.arrived(1, of: 1)
            #expect(plan.begin(2, at: instant(1)) == nil)
        }

        @Test func `a part that has ended early leaves the rest to another`() {
            var plan = PartPlan(total: 4 * Self.megabyte, count: 2, smallest: Self.megabyte)
            _ = begin(2, of: &plan)
            plan.arrived(100, of: 1)
            plan.wrote(60, of: 1)
            plan.end(1)
            #expect(plan.missing == [60..<4 * Self.megabyte])
            #expect(plan.begin(3, at: instant(1)) == 60..<2 * Self.megabyte)
        }

        @Test func `a part goes on with what no other loads`() {
            var plan = PartPlan(total: 6 * Self.megabyte, count: 3, smallest: Self.megabyte)
            _ = begin(1, of: &plan)
            plan.arrived(Int(2 * Self.megabyte), of: 1)
            let first = plan.extend(1)
            #expect(first && plan.awaited(by: 1) == 2 * Self.megabyte..<4 * Self.megabyte)
            #expect(plan.begin(2, at: instant(1)) == 4 * Self.megabyte..<6 * Self.megabyte)
            plan.arrived(Int(2 * Self.megabyte), of: 1)
            let second = plan.extend(1)
            #expect(!second)
        }

        @Test func `a file whose length the server has not said ends where its body does`() {
            var plan = PartPlan(total: .max, count: 1, smallest: Self.megabyte)
            #expect(begin(1, of: &plan) == [0..<Int64.max])
            plan.arrived(70, of: 1)
            plan.wrote(70, of: 1)
            #expect(!plan.isComplete)
            plan.end(of: 1, makes: 70)
            plan.end(1)
            #expect(plan.isComplete && plan.total == 70 && plan.missing == [])
        }

        @Test(arguments: 0..<60 as Range<UInt64>)
        func `whatever the parts do, each byte is loaded by one of them at a time, and in the end all are there`(
            seed: UInt64
        ) {
            var random = SeededGenerator(seed: seed)
            let total = Int64.random(in: 1...80_000, using: &random)
            let count = Int.random(in: 1...6, using: &random)
            var plan = PartPlan(total: total, count: count, smallest: 4096)
            var written = Set<Int64>()
            var (running, last, second) = ([Int](), 0, Int64(0))
            while !plan.isComplete {
                second += 1
                switch Int.random(in: 0..<6, using: &random) {
                case 0 where running.count < count, 1 where running.isEmpty:
                    last += 1
                    if plan.begin(last, at: instant(second)) != nil { running.append(last) }
                case 1:
                    let place = running.indices.randomElement(using: &random) ?? 0
                    plan.end(running.remove(at: place))
                case 2: if let part = running.randomElement(using: &random) { _ = plan.extend(part) }
                default:
                    guard let part = running.randomElement(using: &random), let awaited = plan.awaited(by: part) else {
                        continue
                    }
                    guard !awaited.isEmpty else {
                        plan.end(part)
                        running.removeAll { $0 == part }
                        continue
                    }
                    let count = Int.random(in: 1...min(awaited.count, 20_000), using: &random)
                    plan.arrived(count, of: part)
                    plan.wrote(count, of: part)
                    let pages = stride(from: awaited.lowerBound, to: awaited.lowerBound + Int64(count), by: 1)
                    #expect(written.isDisjoint(with: pages))
                    written.formUnion(pages)
                }
                #expect(plan.missingCount == total - Int64(written.count))
            }
            #expect(written.count == Int(total))
        }
    }

    struct Record {
        private let record = PartsRecord(
            source: [1, 2, 3],
            validator: .entityTag("\"one\""),
            total: 5000,
            scope: [9],
            missing: [10..<20, 4000..<5000],
            boot: [7, 7]
        )

        private func slots(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
            [first, second].flatMap { $0 + [UInt8](repeating: 0, count: PartsRecord.slotSize - $0.count) }
        }

        @Test func `the record that was written last is read, with all that it says`() throws {
            var later = record
            later.missing = []
            later.boot = nil
            later.validator = .lastModified("Sun, 06 Nov 1994 08:49:37 GMT")
            let (one, two) = (try #require(record.encoded(number: 8)), try #require(later.encoded(number: 9)))
            let found = try #require(PartsRecord.latest(in: slots(one, two)))
            #expect(found.record == later && found.number == 9)
            let other = try #require(PartsRecord.latest(in: slots(two, one)))
            #expect(other.record == later && other.number == 9)
            let first = try #require(PartsRecord.latest(in: slots(one, [])))
            #expect(first.record == record && first.number == 8)
            #expect(PartsRecord.latest(in: slots([], [])) == nil)
        }

        @Test func `T-PAR-06 a record with one changed byte counts for nothing, and the other is read`() throws {
            let good = try #require(record.encoded(number: 3))
            for place in good.indices {
                var bad = try #require(record.encoded(number: 4))
                bad[place] ^= 0x41
                #expect(PartsRecord.latest(in: slots(good, bad))?.number == 3)
                #expect(PartsRecord.latest(in: slots([], Array(bad[..<place]))) == nil)
            }
        }

        @Test(arguments: [[5..<5], [0..<10, 5..<20], [0..<5001], [20..<30, 10..<15], [-1..<4]] as [[Range<Int64>]])
        func `T-PAR-06 missing bytes that cannot be are not read`(missing: [Range<Int64>]) throws {
            var wrong = record
            wrong.missing = missing
            #expect(PartsRecord.latest(in: slots(try #require(wrong.encoded(number: 1)), [])) == nil)
        }

        @Test func `a record that has no room is not written`() {
            var long = record
            long.missing = (0..<2000).map { $0 * 2..<$0 * 2 + 1 }
            #expect(long.encoded(number: 1) == nil)
        }
    }
}
