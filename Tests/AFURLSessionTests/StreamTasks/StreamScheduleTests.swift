@testable import AFURLSession
@testable import AFURLTypes

@Suite("Streams: what comes next")
struct StreamScheduleTests {
    private typealias Schedule = StreamSchedule<Int, Int>

    private func next(_ schedule: Schedule) -> String {
        var parts: [String] = []
        switch schedule.nextIncoming {
        case .read(let number)?: parts.append("r\(number)")
        case .close?: parts.append("rc")
        case nil: break
        }
        switch schedule.nextOutgoing {
        case .write(let number)?: parts.append("w\(number)")
        case .close?: parts.append("wc")
        case nil: break
        }
        switch schedule.nextChange {
        case .secured?: parts.append("secured")
        case .captured?: parts.append("captured")
        case nil: break
        }
        return parts.joined(separator: " ")
    }

    @Test func `reads and writes go on side by side, and changes wait for all before them`() {
        var schedule = Schedule()
        #expect(next(schedule) == "")
        schedule.add(incoming: .read(1))
        schedule.add(outgoing: .write(1))
        schedule.add(change: .secured)
        schedule.add(outgoing: .write(2))
        schedule.add(outgoing: .close)
        schedule.add(change: .captured)
        schedule.add(incoming: .read(2))

        #expect(next(schedule) == "r1 w1")
        schedule.outgoingDone()
        #expect(next(schedule) == "r1")
        schedule.incomingDone()
        #expect(next(schedule) == "secured")
        schedule.changeDone()
        #expect(next(schedule) == "w2")
        schedule.outgoingDone()
        #expect(next(schedule) == "wc")
        schedule.outgoingDone()
        #expect(next(schedule) == "captured")
        schedule.changeDone()
        #expect(next(schedule) == "r2")
    }

    @Test func `what is taken out is gone from all that comes later`() {
        var schedule = Schedule()
        for number in 1...3 {
            schedule.add(incoming: .read(number))
            schedule.add(outgoing: .write(number))
            schedule.add(change: .secured)
        }
        #expect(schedule.everything.reads == [1, 2, 3] && schedule.everything.writes == [1, 2, 3])

        #expect(schedule.takePresentReads() == [1])
        #expect(schedule.takeWrites() == [1, 2, 3])
        #expect(next(schedule) == "secured")
        schedule.changeDone()
        #expect(next(schedule) == "r2")
        #expect(schedule.takeReads() == [2, 3])
        schedule.changeDone()
        #expect(next(schedule) == "secured")
    }

    /// Against one list in which everything stands as it was asked for.
    @Test(arguments: 0..<50)
    func `any order of asking and doing agrees with a plain list`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var schedule = Schedule()
        var model: [String] = []
        for number in 0..<400 {
            switch random.pick(0...5) {
            case 0:
                schedule.add(incoming: .read(number))
                model.append("r\(number)")
            case 1:
                schedule.add(outgoing: .write(number))
                model.append("w\(number)")
            case 2 where random.chance(30):
                schedule.add(change: .captured)
                model.append("captured")
            default:
                let head = model.prefix { $0 != "captured" }
                let expected = [head.first { $0.hasPrefix("r") }, head.first { $0.hasPrefix("w") }].compactMap { $0 }
                guard !expected.isEmpty else {
                    #expect(next(schedule) == (model.first ?? ""))
                    if model.first != nil {
                        schedule.changeDone()
                        model.removeFirst()
                    }
                    continue
                }
                #expect(next(schedule) == expected.joined(separator: " "))
                let done = random.pick(expected)
                if done.hasPrefix("r") { schedule.incomingDone() } else { schedule.outgoingDone() }
                model.removeAll { $0 == done }
            }
        }
    }
}
