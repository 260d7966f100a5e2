import Foundation

/// Refuses property lists that Foundation could not read without running out of stack or memory.
enum PropertyListGuard {
    /// How many arrays and dictionaries may be within each other.
    static let deepestLevel = 128

    static func check(_ data: Data) throws {
        guard BinaryPropertyList.isOne(data) else { return }
        // Writers name strings and numbers repeatedly, hence more objects than bytes; containers they write anew.
        try BinaryPropertyList(data).check(deepest: deepestLevel, most: 4 * data.count)
    }

    static let malformed = error("The property list is malformed")
    static let tooDeep = error(
        "The property list has more than \(deepestLevel) arrays and dictionaries within each other"
    )
    static let tooLarge = error("The property list names the same objects so often that it would become too large")

    static func error(_ text: String) -> CocoaError {
        CocoaError(
            .propertyListReadCorrupt,
            userInfo: [NSLocalizedDescriptionKey: text, NSDebugDescriptionErrorKey: text]
        )
    }
}
