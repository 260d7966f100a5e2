/// What a test cannot do without is not there.
package struct Missing: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}

/// As `#require` does, where no test is compiled.
package func need<Value>(_ value: Value?, line: UInt = #line, file: String = #fileID) throws -> Value {
    guard let value else { throw Missing(description: "\(file):\(line): \(Value.self) is missing") }
    return value
}

package func need(_ holds: Bool, line: UInt = #line, file: String = #fileID) throws {
    guard holds else { throw Missing(description: "\(file):\(line): what must hold does not") }
}
