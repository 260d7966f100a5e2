// The names AFNetworking has on Apple's platforms, so that ported code compiles.

// MARK: - Responses

/// ``ImageResponseSerializer`` under its old name.
public typealias AFImageResponseSerializer = ImageResponseSerializer
