import Glibc

/// How fast something grows: a straight line through points, and how sure that is.
package struct Slope: Sendable {
    /// Of the line, for each unit of the first coordinate.
    package let value: Double
    /// The slope is within this of ``value``, with a probability of 99 %.
    package let uncertainty: Double

    package var least: Double { value - uncertainty }
    package var most: Double { value + uncertainty }

    /// Fits a line through the second half of the points: what is set up once is set up by then.
    ///
    /// Nil with fewer than four points in that half, or none of them apart from another.
    package init?(secondHalfOf points: [(x: Double, y: Double)]) {
        self.init(through: Array(points.suffix((points.count + 1) / 2)))
    }

    /// Fits a line by least squares. The uncertainty is that of Student's distribution.
    package init?(through points: [(x: Double, y: Double)]) {
        guard points.count >= 4 else { return nil }
        let count = Double(points.count)
        let (meanX, meanY) = (points.reduce(0) { $0 + $1.x } / count, points.reduce(0) { $0 + $1.y } / count)
        let spread = points.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
        guard spread > 0 else { return nil }
        let slope = points.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) } / spread
        let residue = points.reduce(0) { sum, point in
            let error = point.y - meanY - slope * (point.x - meanX)
            return sum + error * error
        }
        value = slope
        uncertainty = Slope.quantile(freedoms: count - 2) * (residue / (count - 2) / spread).squareRoot()
    }

    /// Of Student's distribution, for 99 % between it and its negative: the expansion of Cornish and Fisher.
    static func quantile(freedoms: Double) -> Double {
        let z = 2.575829
        let first = (pow(z, 3) + z) / 4
        let second = (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / 96
        let third = (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / 384
        return z + first / freedoms + second / pow(freedoms, 2) + third / pow(freedoms, 3)
    }

    /// What a slope says about a leak.
    package enum Verdict: String, Sendable {
        /// It is less than the bar, surely.
        case flat
        /// It is more than 0, surely, and the bar at least.
        case grows
        /// More has to be seen.
        case unclear
    }

    /// - Parameter bar: How much growth there may be for each unit.
    package func verdict(bar: Double) -> Verdict {
        if most < bar { return .flat }
        return least > 0 && value >= bar ? .grows : .unclear
    }
}
