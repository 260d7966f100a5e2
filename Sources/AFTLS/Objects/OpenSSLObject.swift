// Unchecked: OpenSSL counts the references of these objects atomically, and locks what it caches in them, and what is
// added to a store. Nothing else here changes one that it has handed to another thread.
/// A reference to an object of OpenSSL's.
package final class OpenSSLObject: @unchecked Sendable {
    /// The object, alive as long as this one.
    package let handle: OpaquePointer
    private let free: @convention(c) (OpaquePointer?) -> Void

    /// Takes over the caller's reference, and gives it to `free` at the end.
    package init(owning handle: OpaquePointer, free: @escaping @convention(c) (OpaquePointer?) -> Void) {
        self.handle = handle
        self.free = free
    }

    deinit {
        free(handle)
    }
}
