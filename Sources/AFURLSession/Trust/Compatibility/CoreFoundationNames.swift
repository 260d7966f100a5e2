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

// MARK: - Status

/// A number that says how a call ended.
public typealias OSStatus = Int32

/// The call did what was asked.
public let errSecSuccess: OSStatus = 0
/// An argument is not of the right kind.
public let errSecParam: OSStatus = -50
/// The certificate is for another host.
public let errSecHostNameMismatch: OSStatus = -67602
/// A certificate has expired.
public let errSecCertificateExpired: OSStatus = -67818
/// A certificate is not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// The policy required an answer whether a certificate was revoked, and there is none.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
/// The chain is not trusted.
public let errSecNotTrusted: OSStatus = -67843
