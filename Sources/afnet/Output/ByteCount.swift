import Foundation

/// A number of bytes as people read it.
package enum ByteCount {
    package static func text(_ count: Int64) -> String {
        if count < 1000 { return "\(count) B" }
        var value = Double(count)
        for unit in ["kB", "MB", "GB"] {
            value /= 1000
            // What would be rounded up to 1000 belongs to the next unit.
            if value < 999.95 { return String(format: "%.1f \(unit)", value) }
        }
        return String(format: "%.1f TB", value / 1000)
    }
}
