import AFFaults

@testable import AFImages

/// Every order of events of several requests.
@Suite struct ImageDownloadMachineTests {
    private typealias Machine = ImageDownloadMachine<String, Int>

    /// The machine, and what each waiter has been told.
    private struct World {
        enum Requester: Hashable {
            case idle
            case waiting(Machine.Place)
            case answered
        }

        var machine: Machine
        let keys: [String]
        var requesters: [Requester]
        /// Those whose task runs, has not been resumed, or was cancelled and has not ended.
        var tasks: [Int: Bool] = [:]
        var answers: [Int]
        /// The broken rules.
        var faults: [String] = []

        init(_ keys: [String], maximum: Int, _ order: ImageDownloadPrioritization) {
            machine = Machine(prioritization: order, maximumActive: maximum)
            self.keys = keys
            requesters = keys.map { _ in .idle }
            answers = keys.map { _ in 0 }
        }

        mutating func ask(_ requester: Int) {
            let key = keys[requester]
            let place: Machine.Place
            if let joined = machine.join(key, waiter: requester) {
                place = joined
            } else {
                let number = machine.nextNumber()
                place = machine.begin(number, key: key, waiter: requester)
                tasks[number] = false
            }
            requesters[requester] = .waiting(place)
            startNext()
        }

        mutating func startNext() {
            while let number = machine.next() {
                if tasks[number] == false {
                    tasks[number] = true
                } else {
                    machine.startedElsewhere(number)
                }
            }
            check()
        }

        mutating func cancel(_ requester: Int) {
            guard case .waiting(let place) = requesters[requester] else { return }
            guard let cancellation = machine.cancel(place), cancellation.waiter == requester else {
                return faults.append("\(requester) could not be cancelled")
            }
            answer(requester)
            // A task that was never resumed ends at once.
            if cancellation.isLast, tasks[place.download] == false { complete(place.download) }
            if machine.cancel(place) != nil { faults.append("\(requester) was cancelled twice") }
            check()
        }

        mutating func complete(_ download: Int) {
            tasks[download] = nil
            for requester in machine.complete(download) {
                guard case .waiting(let place) = requesters[requester], place.download == download else {
                    faults.append("\(requester) was told of another download")
                    continue
                }
                answer(requester)
            }
            startNext()
        }

        private mutating func answer(_ requester: Int) {
            requesters[requester] = .answered
            answers[requester] += 1
        }

        private mutating func check() {
            if !machine.isConsistent { faults.append("inconsistent") }
            if machine.active > machine.maximumActive { faults.append("\(machine.active) run") }
            let isStalled = machine.active < machine.maximumActive && tasks.values.contains(false)
            if isStalled { faults.append("nothing runs although it could") }
        }

        var isOver: Bool { requesters.allSatisfy { $0 == .answered } && tasks.isEmpty }
    }

    /// Follows every order of events, and returns how many there are.
    private func courses(from world: World) -> Int {
        guard world.faults.isEmpty else {
            Issue.record("\(world.faults)")
            return 0
        }
        if world.isOver {
            #expect(world.machine.isEmpty)
            #expect(world.answers.allSatisfy { $0 == 1 })
            return 1
        }
        var count = 0
        for requester in world.requesters.indices {
            var next = world
            switch world.requesters[requester] {
            case .idle: next.ask(requester)
            case .waiting: next.cancel(requester)
            case .answered: continue
            }
            count += courses(from: next)
        }
        // Also those that have not been started: the program may cancel a task itself.
        for download in world.tasks.keys.sorted() {
            var next = world
            next.complete(download)
            count += courses(from: next)
        }
        return count
    }

    @Test(
        arguments: [["a", "a", "a"], ["a", "a", "b"], ["a", "b", "c"]],
        [ImageDownloadPrioritization.fifo, .lifo]
    )
    func `T-IMG-11 three requests are each answered once, whatever the order of requests, cancellations and answers`(
        keys: [String],
        order: ImageDownloadPrioritization
    ) {
        for maximum in 1...2 {
            #expect(courses(from: World(keys, maximum: maximum, order)) > 500)
        }
    }

    @Test(arguments: [ImageDownloadPrioritization.fifo, .lifo])
    func `T-IMG-14 a place is freed once on every path, over twenty thousand random steps`(
        order: ImageDownloadPrioritization
    ) {
        var random = SystemRandomNumberGenerator()
        let keys = (0..<20_000).map { _ in "\(Int.random(in: 0..<7, using: &random))" }
        var world = World(keys, maximum: 3, order)
        for requester in keys.indices {
            world.ask(requester)
            if Bool.random(using: &random) { world.cancel(Int.random(in: max(requester - 9, 0)...requester)) }
            // A task that the program cancels before it is its turn, and ends of tasks that run.
            if Bool.random(using: &random), let download = world.tasks.keys.randomElement(using: &random) {
                world.complete(download)
            }
            // Tasks that the program resumes itself.
            if requester.isMultiple(of: 5), let waiting = world.tasks.first(where: { !$0.value })?.key {
                world.tasks[waiting] = true
            }
            guard world.faults.isEmpty else { break }
        }
        while world.faults.isEmpty, let download = world.tasks.keys.first { world.complete(download) }

        #expect(world.faults == [])
        #expect(world.machine.isEmpty)
        #expect(world.answers.allSatisfy { $0 == 1 })
    }

    @Test func `no request joins an abandoned download, which counts as running until it has ended`() {
        var machine = Machine(prioritization: .fifo, maximumActive: 1)
        let first = machine.begin(machine.nextNumber(), key: "a", waiter: 1)
        #expect(machine.next() == first.download)
        #expect(machine.cancel(first)?.isLast == true)

        #expect(machine.join("a", waiter: 2) == nil)
        let second = machine.begin(machine.nextNumber(), key: "a", waiter: 2)
        #expect(machine.next() == nil)
        #expect(machine.complete(first.download) == [])
        #expect(machine.next() == second.download)
        #expect(machine.complete(second.download) == [2])
        #expect(machine.isEmpty)
    }

    @Test(arguments: [ImageDownloadPrioritization.fifo, .lifo])
    func `what a download costs that leaves the queue does not grow with those in it`(
        order: ImageDownloadPrioritization
    ) {
        let growth = CPUTime.growth(from: 500, to: 16_000) { count in
            var machine = Machine(prioritization: order, maximumActive: 0)
            let places = (0..<count).map { number in
                machine.begin(machine.nextNumber(), key: "\(number)", waiter: number)
            }
            for place in places.dropFirst(count / 2) { _ = machine.cancel(place) }
            machine.maximumActive = count
            for place in order == .fifo ? Array(places.prefix(count / 2)) : places.prefix(count / 2).reversed() {
                #expect(machine.next() == place.download)
            }
            #expect(machine.next() == nil)
        }
        #expect(growth < 8)
    }
}
