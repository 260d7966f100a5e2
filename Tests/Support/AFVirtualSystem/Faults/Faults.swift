package import AFTestSupport

/// Which faults strike in a world, and how often each of them did.
///
/// A point strikes only where it is armed, and then at random, from dice of its own: what one point does changes nothing
/// for another. Nothing is armed in a world unless the test arms it.
package final class Faults {
    private var dice: [SeededGenerator]
    private var rates: [Int]
    private var counts: [Int]
    private var random: SeededGenerator

    package init(random: SeededGenerator = SeededGenerator(seed: 0)) {
        self.random = random
        dice = []
        rates = [Int](repeating: 0, count: FaultPoint.allCases.count)
        counts = rates
    }

    /// Arms each of the points with this probability, in percent, and with a rate of its own.
    package func arm(_ points: some Sequence<FaultPoint>, share: Int) {
        prepareDice()
        for point in points where random.chance(share) {
            rates[point.rawValue] = max(1, point.rate * random.pick([25, 100, 100, 300]) / 100)
        }
    }

    /// Arms a point with a rate in a thousand.
    package func arm(_ point: FaultPoint, rate: Int) {
        prepareDice()
        rates[point.rawValue] = rate
    }

    package func disarm() {
        rates = rates.map { _ in 0 }
    }

    private func prepareDice() {
        if dice.isEmpty { dice = FaultPoint.allCases.indices.map { random.fork($0 + 1) } }
    }

    /// Whether it strikes now. Counts if so.
    package func strikes(_ point: FaultPoint) -> Bool {
        let number = point.rawValue
        guard rates[number] > 0, dice[number].pick(0...999) < rates[number] else { return false }
        counts[number] += 1
        return true
    }

    /// The same for a point that the caller's own dice may strike as well.
    package func strikes(_ point: FaultPoint, or isPlanned: Bool) -> Bool {
        guard isPlanned else { return strikes(point) }
        note(point)
        return true
    }

    /// Counts a fault that the caller has planned.
    package func note(_ point: FaultPoint) {
        counts[point.rawValue] += 1
    }

    /// A number for a point that has struck.
    package func draw(_ point: FaultPoint, _ range: ClosedRange<Int>) -> Int {
        prepareDice()
        return dice[point.rawValue].pick(range)
    }

    /// A time for a point that has struck, in nanoseconds.
    package func delay(_ point: FaultPoint, milliseconds range: ClosedRange<Int>) -> Int {
        draw(point, range) * 1_000_000 + draw(point, 0...999_999)
    }

    package func count(_ point: FaultPoint) -> Int { counts[point.rawValue] }

    /// How often each point has struck, in the order of `FaultPoint.allCases`.
    package var all: [Int] { counts }
}
