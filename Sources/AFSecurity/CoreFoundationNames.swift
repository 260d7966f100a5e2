public import Foundation

// The names of CoreFoundation that occur where the Security framework is used. Here they are
// Foundation's own types, so that `data as CFData` and plain `data` both compile.

/// `Data`.
public typealias CFData = Data
/// `String`.
public typealias CFString = String
/// `Date`.
public typealias CFDate = Date
/// An array of anything.
public typealias CFArray = [Any]
/// A dictionary of anything.
public typealias CFDictionary = [String: Any]
/// Anything.
public typealias CFTypeRef = Any
/// `NSError`.
public typealias CFError = NSError
/// `Int`.
public typealias CFIndex = Int

/// `UInt`.
public typealias CFOptionFlags = UInt

/// Never made: pass nil.
public enum CFAllocator: Sendable {}

/// The only allocator.
public let kCFAllocatorDefault: CFAllocator? = nil
