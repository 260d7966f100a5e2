// How a value goes from one piece of code to another.

// Unchecked: one thread hands the value over to another, and does not use it any more.
/// A value that is used by one piece of code after the other.
struct HandedOver<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
