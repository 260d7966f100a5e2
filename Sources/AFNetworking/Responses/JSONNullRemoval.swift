public import Foundation

/// A JSON object without nulls: without the keys of a dictionary, and the elements of an array, that are null.
///
/// Goes through everything within it. What becomes empty stays: `[null]` becomes `[]`.
///
/// - Parameters:
///   - object: Anything; what is neither array nor dictionary is returned as it is.
///   - readingOptions: With `mutableContainers` arrays and dictionaries are mutable.
public func jsonObjectByRemovingKeysWithNullValues(
    _ object: Any,
    _ readingOptions: JSONSerialization.ReadingOptions = []
) -> Any {
    let isMutable = readingOptions.contains(.mutableContainers)
    return ContainerMapping(removesNulls: true, makesContainersMutable: isMutable).mapped(object)
}
